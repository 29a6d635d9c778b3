#include "attend/text/template/machine.h"

#include <algorithm>
#include <limits>

#include "attend/core/stop.h"
#include "attend/text/template/python_text.h"

namespace attend::jinja {
namespace {

constexpr int kDeepestEvaluation = 1000;
constexpr std::int64_t kLongestRange = 100'000;  // as in Jinja's sandbox
constexpr std::size_t kMostText = 64 << 20;

std::string named_type(const Value& value) {
  return value.is(Kind::none) ? "None" : std::string(type_name(value)) + " object";
}

Value no_attribute(const Value& object, const std::string& name) {
  return Value::undefined("'" + named_type(object) + "' has no attribute '" + name + "'");
}

/// The place of an index in a sequence, or none.
std::optional<std::size_t> place_of(std::int64_t index, std::size_t size) {
  if (index < 0) index += static_cast<std::int64_t>(size);
  if (index < 0 || index >= static_cast<std::int64_t>(size)) return {};
  return static_cast<std::size_t>(index);
}

std::vector<Value> range_of(const Arguments& arguments, Budget& budget, std::string& shown) {
  if (!arguments.named.empty()) throw Problem("range() takes no keyword arguments");
  std::int64_t numbers[3] = {0, 0, 1};
  const std::size_t count = arguments.positional.size();
  if (count < 1 || count > 3) throw Problem("range() takes 1 to 3 arguments, got " + std::to_string(count));
  for (std::size_t i = 0; i < count; ++i) {
    const Value& one = arguments.positional[i];
    if (one.is(Kind::undefined)) fail_undefined(one);
    if (!one.is_integral())
      throw Problem("'" + std::string(type_name(one)) + "' object cannot be interpreted as an integer");
    numbers[count == 1 ? 1 : i] = one.integer();
  }
  const auto [begin, end, step] = numbers;
  if (step == 0) throw Problem("range() arg 3 must not be zero");
  shown = "range(" + std::to_string(begin) + ", " + std::to_string(end) +
          (step == 1 ? ")" : ", " + std::to_string(step) + ")");
  std::vector<Value> values;
  for (std::int64_t value = begin; step > 0 ? value < end : value > end;) {
    if (std::ssize(values) >= kLongestRange)
      throw Problem("range() has more than " + std::to_string(kLongestRange) + " numbers");
    values.emplace_back(value);
    if (__builtin_add_overflow(value, step, &value)) break;
  }
  budget.bytes(values.size() * sizeof(Value));
  return values;
}

/// dict(…): of a dict or of pairs, and of named values.
std::shared_ptr<Dict> dict_of(const Arguments& arguments, Budget& budget) {
  auto dict = std::make_shared<Dict>();
  if (arguments.positional.size() > 1) throw Problem("dict() takes at most 1 argument without a name");
  for (const Value& one : arguments.positional) {
    if (one.is(Kind::dict)) {
      for (const auto& [key, value] : one.object<Dict>().items) dict->set(key, value, budget);
    } else {
      for (const Value& pair : elements(one, budget)) {
        const std::vector<Value> two = elements(pair, budget);
        if (two.size() != 2) throw Problem("dict() expects pairs, got " + std::to_string(two.size()) + " elements");
        dict->set(two[0], two[1], budget);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) dict->set(name, value, budget);
  return dict;
}

}  // namespace

struct Machine::Scope {
  explicit Scope(ScopePtr parent) : parent(std::move(parent)) {}
  ScopePtr parent;
  std::vector<std::pair<Symbol, Value>> variables;

  const Value* find(Symbol symbol) const {
    for (const Scope* scope = this; scope; scope = scope->parent.get())
      for (const auto& [name, value] : scope->variables)
        if (name == symbol) return &value;
    return nullptr;
  }
  void set(Symbol symbol, Value value) {
    for (auto& [name, old] : variables)
      if (name == symbol) {
        old = std::move(value);
        return;
      }
    variables.emplace_back(symbol, std::move(value));
  }
};

/// The variable `loop`. Elements pass the condition of the loop when they are asked for, since the body may change what
/// the condition depends on.
struct Machine::Loop final : Object {
  std::vector<Value> items;
  std::size_t next = 0;                       // of `items`
  std::function<bool(const Value&)> accepts;  // empty: all
  std::int64_t index = -1;
  Value before = {}, current = {};
  bool has_before = false;
  std::size_t level = 0;
  std::optional<Value> changed = {};
  std::function<Value(const Arguments&)> recurse;

  /// Moves `next` to an element that passes. Whether there is one.
  bool peek() {
    while (accepts && next < items.size() && !accepts(items[next])) ++next;
    return next < items.size();
  }
  bool advance() {
    if (!peek()) return false;
    if (index >= 0) before = std::move(current), has_before = true;
    current = items[next++];
    ++index;
    return true;
  }
  std::int64_t length() {
    if (accepts) {
      std::vector<Value> rest;
      for (; next < items.size(); ++next)
        if (accepts(items[next])) rest.push_back(items[next]);
      items = std::move(rest);
      next = 0;
      accepts = {};
    }
    return index + 1 + static_cast<std::int64_t>(items.size() - next);
  }

  std::optional<Value> attribute(const std::string& name, const Value& self, Budget& budget) {
    if (name == "index") return index + 1;
    if (name == "index0") return index;
    if (name == "first") return index == 0;
    if (name == "last") return !peek();
    if (name == "length") return length();
    if (name == "revindex") return length() - index;
    if (name == "revindex0") return length() - index - 1;
    if (name == "depth") return level + 1;
    if (name == "depth0") return level;
    if (name == "previtem") return has_before ? before : Value::undefined("there is no previous item");
    if (name == "nextitem") return peek() ? items[next] : Value::undefined("there is no next item");
    if (name == "cycle")
      return make_function("cycle",
                           [self](const Arguments& arguments) {
                             if (arguments.positional.empty()) throw Problem("no items for cycling given");
                             const auto at = static_cast<std::size_t>(self.object<Loop>().index);
                             return arguments.positional[at % arguments.positional.size()];
                           },
                           {self});
    if (name == "changed")
      return make_function("changed",
                           [self, &budget](const Arguments& arguments) {
                             auto& last = self.object<Loop>().changed;
                             Value now = Value::tuple(arguments.positional);
                             if (last && equal(*last, now, budget)) return Value(false);
                             last = std::move(now);
                             return Value(true);
                           },
                           {self});
    return {};
  }
};

/// Counts nested evaluations.
class Machine::Frame {
 public:
  explicit Frame(Machine& machine) : machine_(machine) {
    if (++machine_.depth_ > kDeepestEvaluation) {
      --machine_.depth_;
      throw Problem("the template calls itself too deep");
    }
  }
  ~Frame() { --machine_.depth_; }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Machine& machine_;
};

Machine::Machine(const Syntax& syntax, Budget& budget, std::time_t now)
    : syntax_(syntax), budget_(budget), now_(now), globals_(std::make_shared<Scope>(nullptr)), at_(syntax.body.get()) {
  closures_.push_back(globals_);
  add_globals();
}

Machine::~Machine() {
  for (const auto& scope : closures_) scope->variables.clear();
  for (const auto& names : names_) names->values.clear();
}

void Machine::set(const std::string& name, Value value) {
  const auto at = std::ranges::find(syntax_.symbols, name);
  if (at != syntax_.symbols.end()) globals_->set(static_cast<Symbol>(at - syntax_.symbols.begin()), std::move(value));
}

void Machine::add_globals() {
  const auto add = [&](const char* name, std::function<Value(const Arguments&)> call) {
    set(name, make_function(name, std::move(call)));
  };
  add("range", [this](const Arguments& arguments) {
    std::string shown;
    std::vector<Value> values = range_of(arguments, budget_, shown);
    return Value::sequence(Kind::range, std::move(values), std::move(shown));
  });
  add("dict", [this](const Arguments& arguments) { return Value(Kind::dict, dict_of(arguments, budget_)); });
  add("namespace", [this](const Arguments& arguments) {
    auto names = std::make_shared<Names>();
    const std::shared_ptr<const Dict> dict = dict_of(arguments, budget_);
    for (const auto& [key, value] : dict->items) names->values.emplace_back(to_text(key), value);
    budget_.bytes(sizeof(Names));
    names_.push_back(names);
    return Value(Kind::names, names);
  });
  add("raise_exception", [this](const Arguments& arguments) -> Value {
    throw Problem(to_text(arguments.bind("raise_exception", {"message"}, 1)[0].value()));
  });
  add("strftime_now", [this](const Arguments& arguments) {
    return strftime(to_text(arguments.bind("strftime_now", {"format"}, 1)[0].value()));
  });
  add("cycler", [](const Arguments& arguments) {
    const std::vector<Value>& items = arguments.positional;
    if (items.empty() || !arguments.named.empty()) throw Problem("cycler() expects at least one item");
    auto cycler = std::make_shared<Function>();
    for (const Value& item : items) cycler->depth = depth_with(cycler->depth, item);
    cycler->name = "cycler";
    const auto at = std::make_shared<std::size_t>(0);
    const auto method = [&](const char* name, const std::function<Value()>& call) {
      const Value function = make_function(name, [call](const Arguments&) { return call(); });
      cycler->attributes.emplace_back(name, [function] { return function; });
    };
    method("next", [items, at] {
      const Value& current = items[*at];
      *at = (*at + 1) % items.size();
      return current;
    });
    method("reset", [at] {
      *at = 0;
      return Value();
    });
    cycler->attributes.emplace_back("current", [items, at] { return items[*at]; });
    return Value(Kind::function, cycler);
  });
  add("joiner", [this](const Arguments& arguments) {
    const Value separator = arguments.bind("joiner", {"sep"})[0].value_or(", ");
    const auto used = std::make_shared<bool>(false);
    return make_function("joiner", [this, separator, used](const Arguments&) {
      return std::exchange(*used, true) ? Value(to_text(separator)) : Value("");
    });
  });
}

Value Machine::strftime(const std::string& format) const {
  std::tm parts{};
  if (!localtime_r(&now_, &parts)) throw Problem("the time is not known");
  if (format.empty()) return "";
  if (format.size() > 1000) throw Problem("the format of strftime_now() is too long");
  std::string text(format.size() * 100 + 100, '\0');
  text.resize(std::strftime(text.data(), text.size(), format.c_str(), &parts));
  return text;
}

std::string Machine::run() {
  std::string out;
  out_ = &out;
  execute(*syntax_.body, globals_);
  return out;
}

Value Machine::text(std::string text, bool safe) {
  budget_.bytes(text.size() + sizeof(Text));
  return {std::move(text), safe};
}

std::string Machine::to_text(const Value& value) {
  std::string text = jinja::to_text(value, budget_);
  budget_.bytes(text.size());
  return text;
}

void Machine::write(std::string_view text) {
  budget_.bytes(text.size());
  if (out_->size() + text.size() > kMostText) throw Problem("the template makes too much text");
  *out_ += text;
}

// Objects

Value Machine::attribute(const Value& object, const std::string& name) {
  if (object.is(Kind::undefined)) fail_undefined(object);
  if (object.is(Kind::loop))
    if (auto value = object.object<Loop>().attribute(name, object, budget_)) return std::move(*value);
  if (auto value = find_attribute(object, name, *this)) return std::move(*value);
  if (object.is(Kind::dict))
    if (const Value* value = object.object<Dict>().find(Value(name), budget_)) return *value;
  return no_attribute(object, name);
}

Value Machine::item(const Value& object, const Value& key) {
  if (object.is(Kind::undefined)) fail_undefined(object);
  if (object.is(Kind::dict) && !key.is(Kind::list) && !key.is(Kind::dict) && !key.is(Kind::view))
    if (const Value* value = object.object<Dict>().find(key, budget_)) return *value;
  if (key.is_integral()) {
    if (object.is_sequence() && !object.is(Kind::view)) {
      if (const auto at = place_of(key.integer(), object.items().size())) return object.items()[*at];
    } else if (object.is(Kind::string)) {
      const std::string& text = object.string();
      budget_.bytes(text.size());
      const Letters letters(text);
      if (const auto at = place_of(key.integer(), letters.size())) return std::string(letters.at(*at));
    }
  }
  if (key.is(Kind::string)) {
    if (object.is(Kind::loop))
      if (auto value = object.object<Loop>().attribute(key.string(), object, budget_)) return std::move(*value);
    if (auto value = find_attribute(object, key.string(), *this)) return std::move(*value);
    return no_attribute(object, key.string());
  }
  return Value::undefined(named_type(object) + " has no element " + represent(key, budget_));
}

Value Machine::call(const Value& function, const Arguments& arguments) {
  if (function.is(Kind::undefined)) fail_undefined(function);
  if (function.is(Kind::loop)) return function.object<Loop>().recurse(arguments);
  if (!function.is(Kind::function)) throw Problem("'" + std::string(type_name(function)) + "' object is not callable");
  const Frame frame(*this);
  return function.object<Function>().call(arguments);
}

Value Machine::filter(const std::string& name, const Value& subject, const Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (!filter) throw Problem("there is no filter \"" + name + "\"");
  return filter(*this, subject, arguments);
}

bool Machine::test(const std::string& name, const Value& subject, const Arguments& arguments) {
  const Test test = find_test(name);
  if (!test) throw Problem("there is no test \"" + name + "\"");
  return test(*this, subject, arguments);
}

// Expressions

std::vector<Value> Machine::evaluate_all(const Node& node, const ScopePtr& scope) {
  std::vector<Value> values;
  budget_.bytes(node.parts.size() * sizeof(Value));
  for (const NodePtr& part : node.parts) values.push_back(evaluate(*part, scope));
  return values;
}

Arguments Machine::evaluate_arguments(const Node& node, const ScopePtr& scope) {
  Arguments arguments;
  for (const auto& [name, value] : node.arguments) {
    Value one = evaluate(*value, scope);
    if (name.empty()) {
      arguments.positional.push_back(std::move(one));
    } else if (name == "*") {
      for (Value& element : elements(one, budget_)) arguments.positional.push_back(std::move(element));
    } else if (name == "**") {
      if (!one.is(Kind::dict)) throw Problem("argument after ** must be a mapping");
      for (const auto& [key, element] : one.object<Dict>().items) {
        if (!key.is(Kind::string)) throw Problem("keywords must be strings");
        arguments.named.emplace_back(key.string(), element);
      }
    } else {
      arguments.named.emplace_back(name, std::move(one));
    }
  }
  return arguments;
}

Value Machine::evaluate_name(const Node& node, const Scope& scope) const {
  if (const Value* value = scope.find(node.symbol)) return *value;
  return Value::undefined("'" + syntax_.symbols[node.symbol] + "' is undefined");
}

Value Machine::evaluate(const Node& node, const ScopePtr& scope) {
  const Frame frame(*this);
  budget_.steps();
  at_ = &node;
  const auto part = [&](std::size_t index) { return evaluate(*node.parts[index], scope); };
  switch (node.operation) {
    case Operation::constant:
      return node.value;
    case Operation::name:
      return evaluate_name(node, *scope);
    case Operation::list:
      return Value::list(evaluate_all(node, scope));
    case Operation::tuple:
      return Value::tuple(evaluate_all(node, scope));
    case Operation::dict: {
      const std::vector<Value> values = evaluate_all(node, scope);
      auto dict = std::make_shared<Dict>();
      at_ = &node;
      for (std::size_t i = 0; i < values.size(); i += 2) dict->set(values[i], values[i + 1], budget_);
      return {Kind::dict, std::move(dict)};
    }
    case Operation::attribute: {
      const Value object = part(0);
      at_ = &node;
      return attribute(object, node.text);
    }
    case Operation::item: {
      const Value object = part(0), key = part(1);
      at_ = &node;
      return item(object, key);
    }
    case Operation::slice:
      return evaluate_slice(node, scope);
    case Operation::call: {
      const Value function = part(0);
      const Arguments arguments = evaluate_arguments(node, scope);
      at_ = &node;
      return call(function, arguments);
    }
    case Operation::filter: {
      const Value subject = part(0);
      const Arguments arguments = evaluate_arguments(node, scope);
      at_ = &node;
      return filter(node.text, subject, arguments);
    }
    case Operation::test: {
      const Value subject = part(0);
      const Arguments arguments = evaluate_arguments(node, scope);
      at_ = &node;
      return test(node.text, subject, arguments);
    }
    case Operation::negate:
    case Operation::plus: {
      const Value value = part(0);
      at_ = &node;
      if (value.is(Kind::undefined)) fail_undefined(value);
      if (!value.is_number())
        throw Problem("bad operand type for unary " + std::string(node.operation == Operation::plus ? "+" : "-") +
                      ": '" + std::string(type_name(value)) + "'");
      if (value.is(Kind::real)) return node.operation == Operation::plus ? value.real() : -value.real();
      return node.operation == Operation::plus ? Value(value.integer()) : operate(Operation::subtract, 0, value, *this);
    }
    case Operation::logical_not:
      return !truth(part(0));
    case Operation::logical_and: {
      Value left = part(0);
      return truth(left) ? part(1) : left;
    }
    case Operation::logical_or: {
      Value left = part(0);
      return truth(left) ? left : part(1);
    }
    case Operation::conditional:
      if (truth(part(0))) return part(1);
      if (node.parts[2]) return part(2);
      return Value::undefined("the inline if-expression evaluated to false and no else section was defined");
    case Operation::concatenate: {
      std::string text;
      for (const NodePtr& one : node.parts) text += to_text(evaluate(*one, scope));
      at_ = &node;
      return this->text(std::move(text));
    }
    case Operation::compare:
      return evaluate_comparison(node, scope);
    default: {
      const Value left = part(0), right = part(1);
      at_ = &node;
      return operate(node.operation, left, right, *this);
    }
  }
}

Value Machine::evaluate_comparison(const Node& node, const ScopePtr& scope) {
  Value left = evaluate(*node.parts[0], scope);
  for (std::size_t i = 0; i < node.text.size(); ++i) {
    Value right = evaluate(*node.parts[i + 1], scope);
    at_ = &node;
    bool holds = false;
    switch (node.text[i]) {
      case '=':
        holds = equal(left, right, budget_);
        break;
      case '!':
        holds = !equal(left, right, budget_);
        break;
      case '<':
        holds = less(left, right, budget_);
        break;
      case '>':
        holds = less(right, left, budget_);
        break;
      case 'l':
        holds = less(left, right, budget_) || equal(left, right, budget_);
        break;
      case 'g':
        holds = less(right, left, budget_) || equal(left, right, budget_);
        break;
      case 'i':
        holds = contains(right, left, budget_);
        break;
      default:
        holds = !contains(right, left, budget_);
    }
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

Value Machine::evaluate_slice(const Node& node, const ScopePtr& scope) {
  const Value object = evaluate(*node.parts[0], scope);
  std::optional<std::int64_t> limits[3];
  for (std::size_t i = 0; i < 3; ++i)
    if (node.parts[i + 1]) {
      const Value limit = evaluate(*node.parts[i + 1], scope);
      at_ = &node;
      if (limit.is(Kind::undefined)) fail_undefined(limit);
      if (limit.is(Kind::none)) continue;
      if (!limit.is_integral()) throw Problem("slice indices must be integers or None");
      limits[i] = limit.integer();
    }
  at_ = &node;
  if (object.is(Kind::undefined)) fail_undefined(object);
  const bool is_text = object.is(Kind::string);
  if (!is_text && (!object.is_sequence() || object.is(Kind::view)))
    throw Problem("'" + std::string(type_name(object)) + "' object cannot be sliced");
  const std::int64_t step = limits[2].value_or(1);
  if (step == 0) throw Problem("slice step cannot be zero");
  if (step == std::numeric_limits<std::int64_t>::min()) throw Problem("the step of a slice is too large");

  const Letters letters(is_text ? std::string_view(object.string()) : std::string_view());
  if (is_text) budget_.bytes(object.string().size());
  const auto size = static_cast<std::int64_t>(is_text ? letters.size() : object.items().size());
  const auto clamp = [&](std::optional<std::int64_t> limit, std::int64_t otherwise) {
    if (!limit) return otherwise;
    if (*limit < 0) limit = std::max(*limit + size, step < 0 ? std::int64_t{-1} : std::int64_t{0});
    return std::min(*limit, step < 0 ? size - 1 : size);
  };
  const std::int64_t begin = clamp(limits[0], step < 0 ? size - 1 : 0), end = clamp(limits[1], step < 0 ? -1 : size);
  if (is_text && step == 1)
    return text(begin < end ? std::string(letters.part(static_cast<std::size_t>(begin), static_cast<std::size_t>(end)))
                            : std::string(),
                object.is_safe());
  std::string letters_of_it;
  std::vector<Value> items;
  for (std::int64_t at = begin; step > 0 ? at < end : at > end; at += step) {
    const auto index = static_cast<std::size_t>(at);
    if (is_text) {
      letters_of_it += letters.at(index);
    } else {
      items.push_back(object.items()[index]);
    }
    if (step > 0 ? at > end - step : at < end - step) break;  // the next one could overflow
  }
  if (is_text) return text(std::move(letters_of_it), object.is_safe());
  budget_.bytes(items.size() * sizeof(Value));
  return Value::sequence(object.is(Kind::tuple) ? Kind::tuple : Kind::list, std::move(items));
}

Value Machine::evaluate_filters(const Node& node, const Value& text, const ScopePtr& scope) {
  const Value subject = node.parts[0] ? evaluate_filters(*node.parts[0], text, scope) : text;
  const Arguments arguments = evaluate_arguments(node, scope);
  at_ = &node;
  return filter(node.text, subject, arguments);
}

Value Machine::make_macro(const Node& node, const ScopePtr& scope) {
  closures_.push_back(scope);
  budget_.bytes(sizeof(Scope) + sizeof(Function));
  Value macro = make_function(node.text, [this, &node, scope](const Arguments& arguments) {
    return Value(call_macro(node, scope, arguments));
  });
  std::vector<Value> names;
  for (const Symbol parameter : node.parameters) names.emplace_back(syntax_.symbols[parameter]);
  const auto attribute = [&](const char* name, Value value) {
    macro.object<Function>().attributes.emplace_back(name, [value = std::move(value)] { return value; });
  };
  attribute("name", node.text);
  attribute("arguments", Value::tuple(std::move(names)));
  attribute("caller", node.uses_caller);
  attribute("catch_kwargs", node.uses_kwargs);
  attribute("catch_varargs", node.uses_varargs);
  return macro;
}

std::string Machine::call_macro(const Node& node, const ScopePtr& outside, const Arguments& arguments) {
  const std::string shown = "macro '" + node.text + "'";
  const std::size_t count = node.parameters.size(), without_default = count - (node.parts.size() - 1);
  std::vector<std::optional<Value>> given(count);
  std::vector<Value> more;
  for (std::size_t i = 0; i < arguments.positional.size(); ++i)
    i < count ? void(given[i] = arguments.positional[i]) : more.push_back(arguments.positional[i]);
  auto others = std::make_shared<Dict>();
  std::optional<Value> caller;
  for (const auto& [name, value] : arguments.named) {
    const auto at = std::ranges::find(
        node.parameters, name, [&](Symbol parameter) -> const std::string& { return syntax_.symbols[parameter]; });
    const auto index = static_cast<std::size_t>(at - node.parameters.begin());
    if (index < count && !given[index]) {
      given[index] = value;
    } else if (index < count) {
      throw Problem(shown + " got multiple values for argument '" + name + "'");
    } else if (name == "caller" && node.uses_caller) {
      caller = value;
    } else if (node.uses_kwargs) {
      others->set(name, value, budget_);
    } else {
      throw Problem(shown + " takes no keyword argument '" + name + "'");
    }
  }
  if (!more.empty() && !node.uses_varargs)
    throw Problem(shown + " takes not more than " + std::to_string(count) + " argument(s)");

  const auto scope = std::make_shared<Scope>(outside);
  const auto special = [&](const char* name, Value value) {
    const auto at = std::ranges::find(syntax_.symbols, name);
    if (at != syntax_.symbols.end()) scope->set(static_cast<Symbol>(at - syntax_.symbols.begin()), std::move(value));
  };
  if (node.uses_caller) special("caller", caller.value_or(Value::undefined("No caller defined")));
  if (node.uses_kwargs) special("kwargs", {Kind::dict, others});
  if (node.uses_varargs) special("varargs", Value::tuple(std::move(more)));
  for (std::size_t i = 0; i < count; ++i) {
    if (!given[i])
      given[i] = i >= without_default
                     ? evaluate(*node.parts[1 + i - without_default], scope)
                     : Value::undefined("parameter '" + syntax_.symbols[node.parameters[i]] + "' was not provided");
    scope->set(node.parameters[i], std::move(*given[i]));
  }
  return render(*node.parts[0], scope);
}

// Statements

std::string Machine::render(const Node& body, const ScopePtr& scope) {
  std::string text;
  std::string* const before = std::exchange(out_, &text);
  try {
    execute(body, scope);
  } catch (...) {
    out_ = before;
    throw;
  }
  out_ = before;
  return text;
}

void Machine::assign(const Node& target, Value value, const ScopePtr& scope) {
  at_ = &target;
  switch (target.operation) {
    case Operation::name:
      scope->set(target.symbol, std::move(value));
      return;
    case Operation::names_attribute: {
      const Value* names = scope->find(target.symbol);
      if (!names) throw Problem("'" + syntax_.symbols[target.symbol] + "' is undefined");
      if (!names->is(Kind::names)) throw Problem("cannot assign attribute on non-namespace object");
      if (Value* known = names->object<Names>().find(target.text)) {
        *known = std::move(value);
      } else {
        budget_.bytes(sizeof(Value) + target.text.size());
        names->object<Names>().values.emplace_back(target.text, std::move(value));
      }
      return;
    }
    default: {
      std::vector<Value> values = elements(value, budget_);
      if (values.size() != target.parts.size())
        throw Problem("cannot unpack " + std::to_string(values.size()) + " values to " +
                      std::to_string(target.parts.size()) + " variables");
      for (std::size_t i = 0; i < values.size(); ++i) assign(*target.parts[i], std::move(values[i]), scope);
    }
  }
}

Machine::Flow Machine::execute(const Node& node, const ScopePtr& scope) {
  const Frame frame(*this);
  budget_.steps();
  at_ = &node;
  switch (node.operation) {
    case Operation::body:
      for (const NodePtr& part : node.parts)
        if (const Flow flow = execute(*part, scope); flow != Flow::on) return flow;
      return Flow::on;
    case Operation::data:
      write(node.value.string());
      return Flow::on;
    case Operation::output:
      for (const NodePtr& part : node.parts) write(jinja::to_text(evaluate(*part, scope), budget_));
      return Flow::on;
    case Operation::set:
      assign(*node.parts[0], evaluate(*node.parts[1], scope), scope);
      return Flow::on;
    case Operation::set_block: {
      Value value = text(render(*node.parts[2], std::make_shared<Scope>(scope)));
      if (node.parts[1]) value = evaluate_filters(*node.parts[1], value, scope);
      assign(*node.parts[0], std::move(value), scope);
      return Flow::on;
    }
    case Operation::if_block: {
      std::size_t i = 0;
      for (; i + 1 < node.parts.size(); i += 2)
        if (truth(evaluate(*node.parts[i], scope))) return execute(*node.parts[i + 1], scope);
      return i < node.parts.size() ? execute(*node.parts[i], scope) : Flow::on;
    }
    case Operation::for_block:
      return execute_for(node, scope, evaluate(*node.parts[1], scope), 0);
    case Operation::macro:
      scope->set(node.symbol, make_macro(node, scope));
      return Flow::on;
    case Operation::call_block: {
      const Node& call = *node.parts[0];
      const Value function = evaluate(*call.parts[0], scope);
      Arguments arguments = evaluate_arguments(call, scope);
      arguments.named.emplace_back("caller", make_macro(*node.parts[1], scope));
      at_ = &call;
      write(jinja::to_text(this->call(function, arguments), budget_));
      return Flow::on;
    }
    case Operation::filter_block: {
      const Value inner = text(render(*node.parts[1], std::make_shared<Scope>(scope)));
      write(jinja::to_text(evaluate_filters(*node.parts[0], inner, scope), budget_));
      return Flow::on;
    }
    case Operation::with_block: {
      const auto inner = std::make_shared<Scope>(scope);
      for (std::size_t i = 1; i < node.parts.size(); i += 2)
        assign(*node.parts[i], evaluate(*node.parts[i + 1], scope), inner);
      return execute(*node.parts[0], inner);
    }
    case Operation::scope:
      return execute(*node.parts[0], std::make_shared<Scope>(scope));
    case Operation::break_loop:
      return Flow::leave;
    case Operation::continue_loop:
      return Flow::next;
    default:
      throw Problem("this is not a statement");
  }
}

Machine::Flow Machine::execute_for(const Node& node, const ScopePtr& scope, const Value& iterable, std::size_t level) {
  const Node &target = *node.parts[0], *condition = node.parts[2].get(), *otherwise = node.parts[4].get();
  at_ = &node;
  const auto loop = std::make_shared<Loop>();
  loop->items = elements(iterable, budget_);
  for (const Value& item : loop->items) loop->depth = depth_with(loop->depth, item);
  loop->level = level;
  if (condition)
    loop->accepts = [&](const Value& item) {
      const auto inner = std::make_shared<Scope>(scope);
      assign(target, item, inner);
      return truth(evaluate(*condition, inner));
    };
  loop->recurse = [this, &node, scope, level](const Arguments& arguments) {
    if (!node.flag) throw Problem("the loop must have the 'recursive' marker to be called recursively");
    const Value inner = arguments.bind("loop", {"iterable"}, 1)[0].value();
    std::string text;
    std::string* const before = std::exchange(out_, &text);
    try {
      execute_for(node, scope, inner, level + 1);
    } catch (...) {
      out_ = before;
      throw;
    }
    out_ = before;
    return Value(std::move(text));
  };
  const Symbol name = [&] {
    const auto at = std::ranges::find(syntax_.symbols, "loop");
    return static_cast<Symbol>(at - syntax_.symbols.begin());
  }();
  const Frame frame(*this);
  bool completed = false;
  while (loop->advance()) {
    check_stop();
    const auto inner = std::make_shared<Scope>(scope);
    inner->set(name, {Kind::loop, loop});
    assign(target, loop->current, inner);
    const Flow flow = execute(*node.parts[3], inner);
    if (flow == Flow::leave) break;
    completed =
        completed || flow == Flow::on;  // as in Jinja: a round that ends by `continue` does not count for `else`
  }
  loop->accepts = {};
  loop->recurse = [](const Arguments&) -> Value { throw Problem("the loop has ended"); };
  return !completed && otherwise ? execute(*otherwise, std::make_shared<Scope>(scope)) : Flow::on;
}

}  // namespace attend::jinja
