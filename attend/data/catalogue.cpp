#include "attend/data/catalogue.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/data/language.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

/// A recursive-descent parser of Plural-Forms, with one function for each level of operator precedence.
class PluralExpression {
 public:
  PluralExpression(std::string_view text, std::uint64_t n) : text_(text), n_(n) {}

  std::int64_t value() {
    const std::uint64_t result = conditional();
    skip_spaces();
    return failed_ || at_ != text_.size() ? -1 : static_cast<std::int64_t>(result & 0xFFFF);
  }

 private:
  std::uint64_t conditional() {
    if (++depth_ > kDeepest) failed_ = true;
    std::uint64_t result = failed_ ? 0 : binary(0);
    if (!failed_ && take("?")) {
      const std::uint64_t yes = conditional();
      if (!take(":")) failed_ = true;
      const std::uint64_t no = failed_ ? 0 : conditional();
      result = result ? yes : no;
    }
    --depth_;
    return result;
  }

  std::uint64_t binary(std::size_t level) {
    static const std::vector<std::vector<std::string_view>> levels = {
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
    if (level == levels.size()) return unary();
    std::uint64_t left = binary(level + 1);
    for (bool found = true; found && !failed_;) {
      found = false;
      for (const std::string_view sign : levels[level])
        if (take(sign)) {
          left = apply(sign, left, binary(level + 1));
          found = true;
          break;
        }
    }
    return left;
  }

  std::uint64_t unary() {
    if (++depth_ > kDeepest) failed_ = true;
    std::uint64_t result = 0;
    if (failed_) {
    } else if (take("!")) {
      result = unary() == 0;
    } else if (take("(")) {
      result = conditional();
      if (!take(")")) failed_ = true;
    } else if (take("n")) {
      result = n_;
    } else if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
        result = result * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
    } else {
      failed_ = true;
    }
    --depth_;
    return result;
  }

  std::uint64_t apply(std::string_view sign, std::uint64_t a, std::uint64_t b) {
    if (sign == "||") return a || b;
    if (sign == "&&") return a && b;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    if (sign == "<") return a < b;
    if (sign == ">") return a > b;
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (b == 0) failed_ = true;
    if (b == 0) return 0;
    return sign == "/" ? a / b : a % b;
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  static constexpr int kDeepest = 100;
  std::string_view text_;
  std::uint64_t n_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

/// The text after `word`, up to the first of the characters `until`.
std::string value_after(std::string_view text, std::string_view word, std::string_view until) {
  const std::size_t found = text.find(word);
  if (found == std::string_view::npos) return "";
  std::string_view value = text.substr(found + word.size());
  value = value.substr(0, value.find_first_of(until));
  const std::size_t begin = value.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : std::string(value.substr(begin));
}

std::string key_of(const Message& message) { return message.context + '\4' + message.id; }

class JoinedReader final : public CorpusReader {
 public:
  JoinedReader(std::unique_ptr<CatalogueReader> source, std::unique_ptr<CatalogueReader> target)
      : source_(std::move(source)), target_(std::move(target)) {}

  bool next(Record& record) override {
    if (!loaded_) load();
    while (target_->message(message_)) {
      const auto found = sources_.find(key_of(message_));
      if (found == sources_.end()) {
        skip("not in both languages", message_.line);
        continue;
      }
      // Plural forms of two languages do not correspond, so only the first one is used.
      record = {found->second, first_translation(*target_, message_), message_.line};
      return true;
    }
    return false;
  }
  const std::string& name() const override { return target_->name(); }
  std::int64_t position() const override { return source_->position() + target_->position(); }
  InvalidText invalid_text() const override { return source_->invalid_text() += target_->invalid_text(); }

 private:
  static std::string first_translation(const CatalogueReader& catalogue, const Message& message) {
    const std::size_t form = message.plural.empty() ? 0 : catalogue.header().singular;
    return message.translations[std::min(form, message.translations.size() - 1)];
  }

  void load() {
    loaded_ = true;
    while (source_->message(message_)) sources_.emplace(key_of(message_), first_translation(*source_, message_));
  }

  std::unique_ptr<CatalogueReader> source_, target_;
  std::unordered_map<std::string, std::string> sources_;
  Message message_;
  bool loaded_ = false;
};

bool is_catalogue(const fs::path& path) {
  const auto format = format_of(path);
  return (format == CorpusFormat::po || format == CorpusFormat::mo) && path.extension() != ".pot";
}

/// How well the name of a folder or file matches a language. For "it": 2 for it, it_IT and it_IT.UTF-8, 1 for other
/// variants of it, and 0 for other names. Scripts and dialects (sr@latin) are variants.
int fitness(std::string name, const std::string& language) {
  if (!language_matches(language, name.substr(0, name.find_first_of("@.")))) return 0;
  if (name.size() == language.size()) return 2;
  if (const std::size_t dot = name.find('.'); dot != std::string::npos) name.resize(dot);
  std::string home = language + '_' + language;  // it_IT, pt_PT
  return std::ranges::equal(name, home,
                            [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); })
             ? 2
             : 1;
}

/// The best match among the names of a file and of the folders between it and the place that was searched.
int fitness(const fs::path& relative, const std::string& language) {
  int best = fitness(relative.stem().string(), language);
  for (const fs::path& part : relative.parent_path()) best = std::max(best, fitness(part.string(), language));
  return best;
}

/// A path without its language, which is the same for all languages of a program.
std::string without_language(const fs::path& relative, const std::string& language) {
  std::string rest;
  for (const fs::path& part : relative)
    if (fitness(part.stem().string(), language) == 0) rest += '/' + part.string();
  return rest;
}

struct Found {
  fs::path path;
  std::string program;  // the path without its language
};

std::vector<Found> catalogues_under(const fs::path& folder, const std::string& language) {
  std::vector<Found> best[3];
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied | fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator entry(folder, options, error), end; !error && entry != end;
       entry.increment(error)) {
    constexpr int kDeepest = 20;  // symbolic links may form a cycle
    if (entry.depth() > kDeepest) entry.disable_recursion_pending();
    const fs::path relative = entry->path().lexically_relative(folder);
    if (!is_catalogue(relative) || !entry->is_regular_file(error)) continue;
    best[fitness(relative, language)].push_back({entry->path(), without_language(relative, language)});
  }
  std::vector<Found>& chosen = best[best[2].empty() ? 1 : 2];
  std::ranges::sort(chosen, {}, &Found::path);
  return std::move(chosen);
}

}  // namespace

std::int64_t evaluate_plural(std::string_view expression, std::uint64_t n) {
  return PluralExpression(expression, n).value();
}

CatalogueHeader parse_catalogue_header(std::string_view header) {
  CatalogueHeader result;
  result.charset = value_after(header, "charset=", " \t\r\n;\"\\");
  if (result.charset == "CHARSET") result.charset.clear();  // the placeholder of an unedited template
  result.language = value_after(header, "Language:", " \t\r\n");
  const std::string plural_forms = value_after(header, "Plural-Forms:", "\r\n");
  std::string expression = value_after(plural_forms, "plural=", ";");
  // "nplurals=" also ends in "plurals=", but not in "plural=".
  const std::int64_t singular = expression.empty() ? -1 : evaluate_plural(expression, 1);
  result.singular = singular < 0 ? 0 : static_cast<std::size_t>(singular);
  return result;
}

bool CatalogueReader::next(Record& record) {
  while (records_.empty()) {
    if (!message(message_)) return false;
    const std::vector<std::string>& forms = message_.translations;
    if (message_.plural.empty()) {
      records_.push_back({message_.id, forms[0], message_.line});
      continue;
    }
    const std::size_t singular = std::min(header_.singular, forms.size() - 1);
    records_.push_back({message_.id, forms[singular], message_.line});
    for (std::size_t form = 0; form < forms.size(); ++form)
      if (form != singular || forms.size() == 1) records_.push_back({message_.plural, forms[form], message_.line});
  }
  record = std::move(records_.front());
  records_.pop_front();
  return true;
}

std::unique_ptr<CatalogueReader> open_catalogue(const fs::path& path) {
  if (format_of(path) == CorpusFormat::po) return open_po(TextStream::open(path));
  MappedFile file = map_file(path);
  return open_mo({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, path.string(), file.owner);
}

std::unique_ptr<CorpusReader> join_catalogues(std::unique_ptr<CatalogueReader> source,
                                              std::unique_ptr<CatalogueReader> target) {
  return std::make_unique<JoinedReader>(std::move(source), std::move(target));
}

std::unique_ptr<CorpusReader> read_po(TextStream text) { return open_po(std::move(text)); }

std::unique_ptr<CorpusReader> read_mo(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  return open_mo(bytes, std::move(name), std::move(owner));
}

std::vector<CatalogueFiles> find_catalogues(const std::vector<fs::path>& places, const Languages& languages,
                                            std::string_view messages) {
  const bool joined = !languages.source.empty() && !language_matches(messages, languages.source);
  std::vector<CatalogueFiles> result;
  std::set<fs::path> taken;  // a file can be reached by several links
  const auto take = [&](const fs::path& target, const fs::path& source) {
    std::error_code error;
    const fs::path real = fs::canonical(target, error);
    if (taken.insert(error ? target : real).second) result.push_back({target, source});
  };
  for (const fs::path& place : places) {
    if (!fs::exists(place)) fail<InputError>("gettext", place.string(), ": there is no such file or folder");
    if (!fs::is_directory(place)) {
      if (joined) fail<InputError>("gettext", place.string(), ": expected a folder with catalogues of both languages");
      take(place, {});
      continue;
    }
    std::map<std::string, fs::path> sources;
    if (joined)
      for (const Found& found : catalogues_under(place, languages.source)) sources.emplace(found.program, found.path);
    for (const Found& found : catalogues_under(place, languages.target)) {
      if (!joined) take(found.path, {});
      if (const auto source = sources.find(found.program); source != sources.end()) take(found.path, source->second);
    }
  }
  return result;
}

std::vector<fs::path> installed_catalogues() {
  std::vector<fs::path> places;
  for (const char* place : {"/usr/share/locale", "/usr/share/locale-langpack", "/usr/local/share/locale"})
    if (fs::is_directory(place)) places.emplace_back(place);
  return places;
}

}  // namespace attend
