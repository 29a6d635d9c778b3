// Expat parses a stream, so a translation memory of any size needs the memory of one unit. A library that builds a tree
// would need several times the size of the file. Expat also limits the expansion of entities (since 2.4).
#include "attend/data/xml.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <new>
#include <utility>

#include "attend/core/error.h"

namespace attend {
namespace {

std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

/// The encoding="…" of an XML declaration, if the bytes begin with one.
std::string declared_charset(std::string_view bytes) {
  if (!bytes.starts_with("<?xml")) return "";
  const std::string_view declaration = bytes.substr(0, bytes.find("?>"));
  const std::size_t key = declaration.find("encoding");
  const std::size_t open = key == std::string_view::npos ? key : declaration.find_first_of("\"'", key);
  if (open == std::string_view::npos) return "";
  const std::size_t close = declaration.find(declaration[open], open + 1);
  return close == std::string_view::npos ? "" : std::string(declaration.substr(open + 1, close - open - 1));
}

/// XML 1.0 forbids control characters except white space, but some programs write them.
bool is_forbidden(std::uint32_t c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0xD800 && c < 0xE000) || c == 0xFFFE ||
         c == 0xFFFF || c > 0x10FFFF;
}

/// The character of the reference "&#…;" at the start of `text`, and the length of the reference; 0 if there is none.
std::pair<std::uint32_t, std::size_t> reference(std::string_view text) {
  const std::size_t end = text.find(';');
  if (!text.starts_with("&#") || end == std::string_view::npos) return {0, 0};
  const bool hexadecimal = text[2] == 'x';
  const char *first = text.data() + (hexadecimal ? 3 : 2), *last = text.data() + end;
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(first, last, value, hexadecimal ? 16 : 10);
  if (error == std::errc::result_out_of_range)
    value = 0xFFFFFFFF;
  else if (error != std::errc() || stop != last)
    return {0, 0};
  return {value, end + 1};
}

}  // namespace

std::string_view XmlAttributes::operator[](std::string_view name) const {
  for (const char** pair = pairs_; *pair; pair += 2)
    if (name == pair[0]) return pair[1];
  return {};
}

struct XmlReader::Expat {
  XML_Parser parser = XML_ParserCreate("UTF-8");  // TextStream has already converted the text
  std::exception_ptr thrown;

  explicit Expat(XmlReader* reader) {
    if (!parser) throw std::bad_alloc();
    XML_SetUserData(parser, reader);
    XML_SetElementHandler(
        parser,
        [](void* user, const XML_Char* name, const XML_Char** attributes) {
          guarded(user, [&](XmlReader& r) { r.start(local_name(name), XmlAttributes(attributes)); });
        },
        [](void* user, const XML_Char* name) { guarded(user, [&](XmlReader& r) { r.end(local_name(name)); }); });
    XML_SetCharacterDataHandler(parser, [](void* user, const XML_Char* text, int size) {
      guarded(user, [&](XmlReader& r) { r.characters({text, static_cast<std::size_t>(size)}); });
    });
    // An entity from an external DTD, which is not read. It is kept as written.
    XML_SetSkippedEntityHandler(parser, [](void* user, const XML_Char* name, int is_parameter) {
      if (!is_parameter) guarded(user, [&](XmlReader& r) { r.characters('&' + std::string(name) + ';'); });
    });
  }
  ~Expat() { XML_ParserFree(parser); }
  Expat(const Expat&) = delete;
  Expat& operator=(const Expat&) = delete;

  /// Expat is C code, so an exception must not pass through it. It is stored and thrown after the parser has stopped.
  template <typename Event>
  static void guarded(void* user, Event event) {
    auto& reader = *static_cast<XmlReader*>(user);
    Expat& self = *reader.expat_;
    if (self.thrown) return;
    try {
      event(reader);
    } catch (...) {
      self.thrown = std::current_exception();
      XML_StopParser(self.parser, XML_FALSE);
    }
  }
};

XmlReader::XmlReader(TextStream text, std::string format)
    : text_(std::move(text)), format_(std::move(format)), expat_(std::make_unique<Expat>(this)) {
  text_.set_charset(declared_charset(text_.peek()));
}

XmlReader::~XmlReader() = default;

std::int64_t XmlReader::line() const {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9  // where the other one is deprecated
  return static_cast<std::int64_t>(XML_GetCurrentLineNumber64(expat_->parser));
#else
  return static_cast<std::int64_t>(XML_GetCurrentLineNumber(expat_->parser));
#endif
}

void XmlReader::append(std::string& to, std::string_view text) const {
  if (to.size() + text.size() > kLongestText)
    give_up("a text has more than " + std::to_string(kLongestText >> 20) + " MB");
  to += text;
}

void XmlReader::give_up(const std::string& what) const {
  fail<InputError>(format_, text_.name(), ':', line(), ": ", what);
}

bool XmlReader::next(Record& record) {
  while (records_.empty() && !ended_) parse_piece();
  if (records_.empty()) return false;
  record = std::move(records_.front());
  records_.pop_front();
  return true;
}

void XmlReader::parse_piece() {
  const std::string_view piece = text_.piece();
  ended_ = piece.empty();
  const std::string_view clean = repaired(piece);
  const XML_Status status = XML_Parse(expat_->parser, clean.data(), static_cast<int>(clean.size()), ended_);
  if (expat_->thrown) std::rethrow_exception(expat_->thrown);
  if (status == XML_STATUS_ERROR) {
    const XML_Error error = XML_GetErrorCode(expat_->parser);
    give_up(std::string("not well-formed XML: ") + XML_ErrorString(error) +
            (error == XML_ERROR_NO_ELEMENTS || ended_ ? "; is the file complete?" : ""));
  }
  if (ended_) finish();
}

/// Some programs write control characters into translation memories, directly or as &#x1F;, which no XML parser
/// accepts. They become spaces, and are counted as skipped.
std::string_view XmlReader::repaired(std::string_view piece) {
  constexpr std::size_t kLongestReference = 12;
  if (!held_back_.empty()) {
    repair_ = std::exchange(held_back_, "") + std::string(piece);
    piece = repair_;
  }
  const auto is_control = [](char c) { return is_forbidden(static_cast<unsigned char>(c)); };
  bool any = false;
  for (const char c : piece) any |= is_control(c);  // without an early exit, so that the loop is vectorised
  if (!any && piece.find("&#") == std::string_view::npos && !piece.ends_with('&')) return piece;

  std::string clean(piece);
  std::int64_t first = 0;  // the line of the first control character in this chunk
  const auto blank = [&](std::size_t at, std::size_t size) {
    if (first == 0) first = line() + std::count(clean.begin(), clean.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    skip("control character", first);
    clean.replace(at, size, size, ' ');
  };
  for (std::size_t at = 0; at < clean.size(); ++at)
    if (is_control(clean[at])) blank(at, 1);
  if (!ended_) {  // a reference may be incomplete
    const std::size_t last = clean.rfind('&');
    if (last != std::string::npos && last + kLongestReference > clean.size() &&
        clean.find(';', last) == std::string::npos) {
      held_back_ = clean.substr(last);
      clean.resize(last);
    }
  }
  for (std::size_t at = clean.find("&#"); at != std::string::npos; at = clean.find("&#", at + 1)) {
    const auto [character, size] = reference(std::string_view(clean).substr(at, 2 * kLongestReference));
    if (size > 0 && is_forbidden(character)) blank(at, size);
  }
  repair_ = std::move(clean);
  return repair_;
}

}  // namespace attend
