#include "attend/cli/shared/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/help.h"

namespace attend::cli {
namespace {

// CLI11 parses "[a, b]" as a list of two values, and this cannot be switched off. But "[MASK] and [MASK]" is a text,
// and "[1]" may be a file. A control character after the bracket prevents it.
constexpr char kMark = '\x1f';
std::string marked(std::string argument) {
  if (argument.ends_with(']') || argument.ends_with(kMark)) argument += kMark;
  return argument;
}
std::string unmarked(std::string argument) {
  if (argument.ends_with(kMark)) argument.pop_back();
  return argument;
}

/// Flags, and the words that were given to each.
using Given = std::vector<std::pair<Flag*, std::vector<std::string>>>;

/// A verb for CLI11, which only assigns words to flags. The flags themselves check and convert the values.
class Parser {
 public:
  explicit Parser(Verb& verb) : Parser(verb, std::make_shared<CLI::App>("", verb.name())) {}

  void parse(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments);  // CLI11 expects the last argument first
    app_->parse(std::move(arguments));
  }
  /// The child verb that was named; null if there is none.
  const Parser* next() const {
    for (const Parser& child : children_)
      if (child.app_->parsed()) return &child;
    return nullptr;
  }
  const Verb& verb() const { return verb_; }
  /// The words that belong to no flag.
  std::vector<std::string> unknown() const {
    std::vector<std::string> words;
    for (const std::string& word : app_->remaining())
      if (word != "--") words.push_back(unmarked(word));
    return words;
  }
  /// The words that were given to each flag.
  void collect(Given& given) const {
    for (const auto& [flag, option] : options_) {
      if (option->count() == 0) continue;
      auto place = std::ranges::find(given, flag, &Given::value_type::first);
      if (place == given.end()) place = given.insert(place, {flag, {}});
      for (const std::string& word : option->results()) place->second.push_back(unmarked(word));
    }
    if (next()) next()->collect(given);
  }

 private:
  Parser(Verb& verb, const std::shared_ptr<CLI::App>& app) : verb_(verb), app_(app) {
    app->set_help_flag();
    app->allow_extras();
    for (Flag* flag : verb.flags()) add(*flag);
    for (Flag* flag : verb.common_flags()) add(*flag);
    if (verb.subcommands().empty()) return;
    app->require_subcommand(0, 1);
    for (const auto& child : verb.subcommands()) {
      const auto sub = std::make_shared<CLI::App>("", child->name());
      app->add_subcommand(sub);
      children_.push_back(Parser(*child, sub));
    }
  }
  void add(Flag& flag) {
    std::string names;
    for (const Flag::Name& name : flag.names())
      names += (names.empty() ? "" : ",") + std::string(name.negates ? "!" : "") + name.text;
    const bool is_switch = flag.kind() == Flag::Kind::on_off || flag.kind() == Flag::Kind::optional_value;
    CLI::Option* option = is_switch ? app_->add_flag(names) : app_->add_option(names);
    if (!is_switch) option->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (flag.kind() == Flag::Kind::values && !flag.is_one_at_a_time())
      option->expected(CLI::detail::expected_max_vector_size);
    options_.emplace_back(&flag, option);
  }

  Verb& verb_;
  std::shared_ptr<CLI::App> app_;
  std::vector<std::pair<Flag*, CLI::Option*>> options_;
  std::vector<Parser> children_;
};

const Verb* child_of(const Verb& verb, const std::string& name) {
  for (const auto& child : verb.subcommands())
    if (child->name() == name) return child.get();
  return nullptr;
}

/// All names of a verb's flags.
std::vector<std::string> names_of_flags(const Verb& verb) {
  std::vector<std::string> names;
  for (const auto& flags : {verb.flags(), verb.common_flags()})
    for (const Flag* flag : flags)
      for (const Flag::Name& name : flag->names())
        if (name.text.starts_with('-')) names.push_back(name.text);
  return names;
}

[[noreturn]] void refuse_verb(const Verb& verb, const std::string& word) {
  const std::string above = verb.parent() ? verb.name() + ' ' : "";
  std::vector<std::string> names;
  for (const auto& child : verb.subcommands())
    if (!child->group().empty()) names.push_back(child->name());
  const std::string meant = nearest(word, names);
  throw UsageError("there is no verb \"" + above + word + '"' +
                   (meant.empty() ? "" : "; did you mean \"" + above + meant + "\"?"));
}

[[noreturn]] void refuse_flag(const Verb& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::string stem = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const std::string meant = stem.size() < 2 ? "" : nearest("--" + stem, names_of_flags(verb));
  throw UsageError("there is no flag " + name + (meant.empty() ? "" : "; did you mean " + meant + "?"));
}

/// The verb whose help is requested by `attend help train` or `attend train help`.
const Verb* help_wanted(const Verb& program, const std::vector<std::string>& arguments) {
  const Verb* verb = &program;
  bool wanted = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Verb* child = child_of(*verb, arguments[i]);
    if (child) {
      verb = child;
    } else if (arguments[i] == "help" && !wanted && (!verb->subcommands().empty() || i + 1 == arguments.size())) {
      // "help" may also be a text for the verb; then its required flags are given.
      const bool may_be_text =
          std::ranges::any_of(verb->flags(), [](const Flag* flag) { return flag->is_argument(); }) &&
          std::ranges::none_of(verb->flags(), [](const Flag* flag) { return flag->is_required(); });
      if (may_be_text) return nullptr;
      wanted = true;
    } else if (wanted && !verb->subcommands().empty() && !arguments[i].starts_with('-')) {
      refuse_verb(*verb, arguments[i]);
    } else if (!wanted) {
      return nullptr;
    }
  }
  return wanted ? verb : nullptr;
}

/// The verb that the words at the beginning name; flags of the program may stand between them.
const Verb& verb_of(const Verb& program, const std::vector<std::string>& arguments) {
  const Verb* verb = &program;
  for (const std::string& word : arguments)
    if (const Verb* child = child_of(*verb, word)) verb = child;
  return *verb;
}

bool is_long_flag(const Verb& verb, const std::string& word) {
  return word.starts_with("--") && verb.find_option(word.substr(0, word.find('=')));
}

/// The arguments in the form that CLI11 needs.
std::vector<std::string> prepared(const Verb& verb, const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") {  // all that follows is text
      for (; i < arguments.size(); ++i) words.push_back(marked(arguments[i]));
      break;
    }
    const std::string* next = i + 1 < arguments.size() ? &arguments[i + 1] : nullptr;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (word.size() > 2 && word[0] == '-' && word[1] != '-' && verb.find_option("-" + name)) refuse_flag(verb, word);
    const Flag* flag = word.starts_with('-') ? verb.find_option(name) : nullptr;
    const bool takes_value = flag && (flag->kind() == Flag::Kind::value || flag->kind() == Flag::Kind::values);
    if (takes_value && equals == word.npos && next && is_long_flag(verb, *next))
      throw UsageError(name, "needs a value, but " + *next + " follows it");
    if (takes_value && equals + 1 == word.size()) {
      words.push_back(name), words.emplace_back();  // --prompt= is the empty text
    } else if (flag && flag->kind() == Flag::Kind::optional_value && equals == word.npos && next &&
               std::ranges::any_of(flag->endings(), [&](const std::string& end) { return next->ends_with(end); })) {
      words.push_back(marked(word + '=' + *next));
      ++i;
    } else {
      words.push_back(marked(word));
    }
  }
  return words;
}

/// The values of a flag; may be empty if the value is optional. Throws UsageError if the flag was given more than once.
Flag::Values values_of(const Flag& flag, Flag::Values words) {
  if (flag.kind() == Flag::Kind::optional_value) std::erase(words, "true");
  if (flag.kind() == Flag::Kind::on_off || flag.kind() == Flag::Kind::values || words.size() < 2) return words;
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " and ") + word;
  throw UsageError(flag.name(), "was given more than once: " + all);
}

void refuse_unknown(const Verb& verb, const std::vector<std::string>& words) {
  if (words.empty() || verb.allows_extras()) return;
  const std::string& word = words.front();
  if (word.size() > 1 && word.starts_with('-')) refuse_flag(verb, word);
  if (!verb.subcommands().empty()) refuse_verb(verb, word);
  throw UsageError("\"" + word + "\" is not expected here: " + verb.command() + " takes no further arguments");
}

}  // namespace

void run_command(Verb& program, const std::vector<std::string>& arguments, std::ostream& out, const Verb*& reached) {
  reached = &program;
  if (const Verb* verb = help_wanted(program, arguments)) {
    out << help_of(*verb);
    return;
  }
  reached = &verb_of(program, arguments);
  Parser parser(program);
  try {
    parser.parse(prepared(*reached, arguments));
  } catch (const CLI::ArgumentMismatch&) {  // a value is missing at the end
    const Flag* flag = reached->find_option(arguments.back());
    throw UsageError(arguments.back(),
                     "needs a value" + (flag && !flag->type_name().empty() ? ": " + flag->type_name() : ""));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }

  for (const Parser* part = &parser; part; part = part->next()) reached = &part->verb();
  const Verb& verb = *reached;
  Given given;
  parser.collect(given);
  if (std::ranges::any_of(given, [](const auto& entry) { return entry.first->has_name("--help"); })) {
    out << help_of(verb);
    return;
  }
  for (const Parser* part = &parser; part; part = part->next()) refuse_unknown(part->verb(), part->unknown());
  for (auto& [flag, words] : given) flag->give(values_of(*flag, std::move(words)));
  for (const auto& [flag, words] : given) flag->apply();
  if (!verb.has_work()) throw MissingVerb(help_of(verb));
  verb.run();
}

}  // namespace attend::cli
