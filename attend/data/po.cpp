// gettext .po files. Not read by gettext's library, which is under the GPL and ends the process on an error.
#include <algorithm>
#include <charconv>
#include <utility>

#include "attend/core/error.h"
#include "attend/data/catalogue.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

class PoReader final : public CatalogueReader {
 public:
  explicit PoReader(TextStream text) : text_(std::move(text)) {
    // The header declares the charset of the file, in ASCII.
    text_.set_charset(parse_catalogue_header(text_.peek()).charset);
  }

  bool message(Message& message) override {
    while (read_entry()) {
      const bool is_header = entry_.id.empty() && entry_.context.empty();
      const bool translated = !entry_.translations.empty() &&
                              std::ranges::none_of(entry_.translations, [](const auto& form) { return form.empty(); });
      if (is_header) {
        if (translated) header_ = parse_catalogue_header(entry_.translations[0]);
      } else if (fuzzy_) {
        skip("fuzzy", entry_.line);
      } else if (!translated) {
        skip("untranslated", entry_.line);
      } else {
        message = std::move(entry_);
        return true;
      }
    }
    return false;
  }
  const std::string& name() const override { return text_.name(); }
  std::int64_t position() const override { return text_.position(); }
  InvalidText invalid_text() const override { return text_.invalid(); }

 private:
  /// Reads the next entry into entry_ and fuzzy_. Returns false at the end.
  bool read_entry() {
    entry_ = {};
    fuzzy_ = false;
    std::string* field = nullptr;
    bool any = false;
    while (have_line_ || text_.line(line_)) {
      have_line_ = false;
      const std::string_view line = trimmed(line_);
      if (line.empty()) continue;
      if (line[0] == '"') {
        if (!field) give_up("a string belongs to no keyword");
        append_string(line, *field);
        continue;
      }
      // After a translation, a comment or a keyword begins the next entry.
      const bool continues = line.starts_with("msgstr") || line.starts_with("msgid_plural");
      if (any && !entry_.translations.empty() && !continues) {
        have_line_ = true;
        return true;
      }
      if (line[0] == '#') {
        if (line.starts_with("#,") && line.find("fuzzy") != std::string_view::npos) fuzzy_ = true;
        if (line.starts_with("#~") && trimmed(line.substr(2)).starts_with("msgid ")) skip("obsolete", text_.lines());
        if (line.starts_with("#~")) fuzzy_ = false;  // the flag belongs to an obsolete entry
        continue;
      }
      any = true;
      field = &field_of(line);
      append_string(line.substr(std::min(line.find_first_of(" \t\""), line.size())), *field);
    }
    return any;
  }

  static std::string_view trimmed(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin == std::string_view::npos ? "" : line.substr(begin);
  }

  std::string& field_of(std::string_view line) {
    constexpr std::size_t kMostForms = 32;
    const std::string_view keyword = line.substr(0, line.find_first_of(" \t\""));
    if (keyword == "msgctxt") return entry_.context;
    if (keyword == "msgid") {
      entry_.line = text_.lines();
      return entry_.id;
    }
    if (keyword == "msgid_plural") return entry_.plural;
    std::size_t form = 0;
    if (keyword.starts_with("msgstr[") && keyword.ends_with(']')) {
      const auto [end, error] = std::from_chars(keyword.data() + 7, keyword.data() + keyword.size() - 1, form);
      if (error != std::errc() || end != keyword.data() + keyword.size() - 1 || form >= kMostForms)
        give_up("no such plural form: " + std::string(keyword));
    } else if (keyword != "msgstr") {
      give_up("expected a comment, a string, msgctxt, msgid, msgid_plural or msgstr; got \"" +
              std::string(keyword.substr(0, 40)) + '"');
    }
    if (entry_.translations.size() <= form) entry_.translations.resize(form + 1);
    return entry_.translations[form];
  }

  /// Appends the value of a quoted string.
  void append_string(std::string_view line, std::string& text) {
    line = trimmed(line);
    if (line.empty() || line[0] != '"') give_up("expected a string in quotes");
    std::size_t at = 1;
    while (at < line.size() && line[at] != '"') {
      const std::size_t plain = line.find_first_of("\"\\", at);
      text += line.substr(at, plain == std::string_view::npos ? plain : plain - at);
      at = std::min(plain, line.size());
      if (at < line.size() && line[at] == '\\') at = append_escape(line, at + 1, text);
    }
    if (at >= line.size()) give_up("a string has no closing quote");
    if (text.size() > kLongestText) give_up("a string is too long");
  }

  /// Decodes an escape sequence as in C. Returns the position after it.
  std::size_t append_escape(std::string_view line, std::size_t at, std::string& text) {
    if (at >= line.size()) return at;
    const char c = line[at];
    static constexpr std::string_view kLetters = "ntrabfv", kMeanings = "\n\t\r\a\b\f\v";
    if (const std::size_t found = kLetters.find(c); found != std::string_view::npos) {
      text += kMeanings[found];
      return at + 1;
    }
    const bool octal = c >= '0' && c <= '7';
    if (!octal && c != 'x') {
      text += c;
      return at + 1;
    }
    const std::size_t begin = octal ? at : at + 1;
    unsigned value = 0;
    const char* last = line.data() + std::min(line.size(), begin + (octal ? 3 : 2));
    const auto [end, error] = std::from_chars(line.data() + begin, last, value, octal ? 8 : 16);
    if (error == std::errc() && value < 0x80)
      text += static_cast<char>(value);
    else
      append_utf8(kReplacement, text);  // part of a character in an unknown charset
    return static_cast<std::size_t>(end - line.data());
  }

  [[noreturn]] void give_up(const std::string& what) const {
    fail<InputError>("po", text_.name(), ':', text_.lines(), ": ", what);
  }

  TextStream text_;
  std::string line_;
  bool have_line_ = false;  // line_ is the first line of the next entry
  Message entry_;
  bool fuzzy_ = false;
};

}  // namespace

std::unique_ptr<CatalogueReader> open_po(TextStream text) { return std::make_unique<PoReader>(std::move(text)); }

}  // namespace attend
