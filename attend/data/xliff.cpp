// XLIFF 1.2 (<trans-unit> in a <file> that names the languages) and 2.x (<segment>; <xliff> names them).
#include <algorithm>
#include <array>
#include <utility>

#include "attend/data/language.h"
#include "attend/data/xml.h"

namespace attend {
namespace {

class XliffReader final : public XmlReader {
 public:
  XliffReader(TextStream text, Languages languages)
      : XmlReader(std::move(text), "xliff"), languages_(std::move(languages)) {}

 protected:
  void start(std::string_view element, const XmlAttributes& attributes) override {
    if (ignored_depth_ > 0 || element == "alt-trans" ||
        element == "match") {  // suggestions from other translation memories
      ++ignored_depth_;
    } else if (text_) {
      start_inline(element, attributes);
    } else if (element == "xliff") {
      source_language_ = attributes["srcLang"];
      target_language_ = attributes["trgLang"];
    } else if (element == "file" && !attributes["source-language"].empty()) {
      source_language_ = attributes["source-language"];
      target_language_ = attributes["target-language"];
    } else if (element == "unit") {
      translate_ = attributes["translate"] != "no";
    } else if (element == "trans-unit" || element == "segment") {
      if (element == "trans-unit") translate_ = attributes["translate"] != "no";
      record_ = {};
      record_.line = line();
      in_unit_ = true;
      translated_ = attributes["state"] != "initial";
    } else if (in_unit_ && element == "source") {
      text_ = &record_.source;
    } else if (in_unit_ && element == "target") {
      text_ = &record_.target;
      const std::string_view state = attributes["state"];
      if (state == "new" || state == "needs-translation") translated_ = false;
    }
  }

  void end(std::string_view element) override {
    if (ignored_depth_ > 0) {
      --ignored_depth_;
    } else if (text_ && (element == "source" || element == "target")) {
      text_ = nullptr;
      code_depth_ = 0;
    } else if (text_) {
      if (code_depth_ > 0) --code_depth_;
    } else if (in_unit_ && (element == "trans-unit" || element == "segment")) {
      in_unit_ = false;
      give_record();
    }
  }

  void characters(std::string_view text) override {
    if (text_ && code_depth_ == 0 && ignored_depth_ == 0) append(*text_, text);
  }

 private:
  /// Removes codes of the original document; <g>, <pc> and <mrk> contain text.
  void start_inline(std::string_view element, const XmlAttributes& attributes) {
    static constexpr std::array<std::string_view, 4> kCodes = {"bpt", "ept", "ph", "it"};
    for (const char* type : {"ctype", "type", "subType"})
      if (attributes[type] == "lb" || attributes[type] == "x-br" || attributes[type] == "xlf:lb") characters(" ");
    if (code_depth_ > 0 || std::ranges::find(kCodes, element) != kCodes.end()) ++code_depth_;
  }

  void give_record() {
    const auto other = [](const std::string& asked, const std::string& given) {
      return !asked.empty() && !given.empty() && !language_matches(asked, given);
    };
    if (other(languages_.source, source_language_) || other(languages_.target, target_language_))
      skip("in other languages", record_.line);
    else if (!translate_)
      skip("not to be translated", record_.line);
    else if (!translated_ || record_.target.empty())
      skip("untranslated", record_.line);
    else
      give(std::move(record_));
  }

  Languages languages_;
  std::string source_language_, target_language_;
  Record record_;
  std::string* text_ = nullptr;  // the text that is being read
  bool in_unit_ = false, translate_ = true, translated_ = true;
  int ignored_depth_ = 0, code_depth_ = 0;
};

}  // namespace

std::unique_ptr<CorpusReader> read_xliff(TextStream text, Languages languages) {
  return std::make_unique<XliffReader>(std::move(text), std::move(languages));
}

}  // namespace attend
