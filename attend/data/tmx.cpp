// Translation Memory eXchange 1.1 to 1.4: a <tu> has a <tuv> for each language, with the text in <seg>.
#include <algorithm>
#include <utility>
#include <vector>

#include "attend/data/language.h"
#include "attend/data/xml.h"

namespace attend {
namespace {

class TmxReader final : public XmlReader {
 public:
  TmxReader(TextStream text, Languages languages)
      : XmlReader(std::move(text), "tmx"), languages_(std::move(languages)) {}

 protected:
  void start(std::string_view element, const XmlAttributes& attributes) override {
    if (element == "seg") {
      in_segment_ = true;
    } else if (in_segment_) {
      // In a segment these elements contain codes of the original document; <hi> and unknown elements contain text.
      if (attributes["type"] == "lb") characters_outside_codes(" ");
      if (code_depth_ > 0 || is_code(element)) ++code_depth_;
    } else if (element == "tuv") {
      const std::string_view xml_lang = attributes["xml:lang"];  // 1.1 and 1.2 have "lang"
      start_variant(xml_lang.empty() ? attributes["lang"] : xml_lang);
    } else if (element == "tu") {
      variants_.clear();
      current_ = nullptr;
      line_ = line();
    } else if (element == "header") {
      const std::string_view declared = attributes["srclang"];
      if (languages_.source.empty() && declared != "*all*") languages_.source = declared;
    }
  }

  void end(std::string_view element) override {
    if (element == "seg") {
      in_segment_ = false;
      code_depth_ = 0;
    } else if (in_segment_) {
      if (code_depth_ > 0) --code_depth_;
    } else if (element == "tuv") {
      current_ = nullptr;
    } else if (element == "tu") {
      give_pairs();
    }
  }

  void characters(std::string_view text) override {
    if (in_segment_ && code_depth_ == 0) characters_outside_codes(text);
  }

  void finish() override {
    if (seen_.empty()) return;
    if (std::ranges::none_of(seen_, &Language::is_source)) no_text_in(languages_.source);
    if (std::ranges::none_of(seen_, &Language::is_target)) no_text_in(languages_.target);
  }

 private:
  struct Variant {
    bool is_source = false, is_target = false;
    std::string text;
  };

  static bool is_code(std::string_view element) {
    return element == "bpt" || element == "ept" || element == "it" || element == "ph" || element == "ut";
  }

  /// A language of the file, and whether it is the source or the target.
  struct Language {
    std::string code;
    bool is_source, is_target;
  };
  const Language& language_of(std::string_view code) {
    const auto found = std::ranges::find(seen_, code, &Language::code);
    if (found != seen_.end()) return *found;
    constexpr std::size_t kMostLanguages = 1000;
    if (seen_.size() >= kMostLanguages) give_up("has too many languages");
    const auto is = [&](const std::string& asked) { return !asked.empty() && language_matches(asked, code); };
    return seen_.emplace_back(Language{std::string(code), is(languages_.source), is(languages_.target)});
  }

  void start_variant(std::string_view code) {
    const Language& language = language_of(code);
    variants_.push_back({language.is_source, language.is_target, ""});
    current_ = language.is_source || language.is_target ? &variants_.back() : nullptr;
  }

  void characters_outside_codes(std::string_view text) {
    if (current_ && code_depth_ == 0) append(current_->text, text);
  }

  std::string seen_languages() const {
    std::string all;
    for (const Language& language : seen_) all += (all.empty() ? "" : ", ") + language.code;
    return all;
  }

  [[noreturn]] void no_text_in(const std::string& language) const {
    give_up("no text is in \"" + language + "\": the file has " + seen_languages());
  }

  void give_pairs() {
    current_ = nullptr;
    if (languages_.source.empty() || languages_.target.empty())
      give_up(std::string("no ") + (languages_.source.empty() ? "source" : "target") +
              " language was named: the first unit has " + seen_languages());
    constexpr std::size_t kMostVariants = 64;  // in one unit; each source is paired with each target
    if (variants_.size() > kMostVariants) return skip("too many variants", line_);
    bool any = false;
    for (const Variant& source : variants_)
      for (const Variant& target : variants_)
        if (source.is_source && target.is_target && &source != &target) {
          give({source.text, target.text, line_});
          any = true;
        }
    if (!any) skip("not in both languages", line_);
  }

  Languages languages_;
  std::vector<Language> seen_;
  std::vector<Variant> variants_;
  Variant* current_ = nullptr;
  bool in_segment_ = false;
  int code_depth_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace

std::unique_ptr<CorpusReader> read_tmx(TextStream text, Languages languages) {
  return std::make_unique<TmxReader>(std::move(text), std::move(languages));
}

}  // namespace attend
