// Runs a chat template. Filters, tests and methods are in files of their own, and use the machine's services.
#pragma once
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/text/template/syntax.h"
#include "attend/text/template/value.h"

namespace attend::jinja {

class Machine {
 public:
  /// `now` is the time of strftime_now().
  Machine(const Syntax& syntax, Budget& budget, std::time_t now);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void set(const std::string& name, Value value);
  /// The text that the template makes. Throws Problem; place() then tells where.
  std::string run();
  Place place() const { return at_->place; }

  Budget& budget() { return budget_; }
  /// A new string, which is charged.
  Value text(std::string text, bool safe = false);
  /// What `object.name` and `object[key]` give: undefined if there is none.
  Value attribute(const Value& object, const std::string& name);
  Value item(const Value& object, const Value& key);
  Value call(const Value& function, const Arguments& arguments);
  Value filter(const std::string& name, const Value& subject, const Arguments& arguments);
  bool test(const std::string& name, const Value& subject, const Arguments& arguments);
  std::string to_text(const Value& value);

 private:
  struct Scope;
  struct Loop;
  class Frame;
  enum class Flow : std::uint8_t { on, next, leave };
  using ScopePtr = std::shared_ptr<Scope>;

  void add_globals();
  Value strftime(const std::string& format) const;

  Value evaluate(const Node& node, const ScopePtr& scope);
  Value evaluate_name(const Node& node, const Scope& scope) const;
  Value evaluate_slice(const Node& node, const ScopePtr& scope);
  Value evaluate_comparison(const Node& node, const ScopePtr& scope);
  std::vector<Value> evaluate_all(const Node& node, const ScopePtr& scope);
  Arguments evaluate_arguments(const Node& node, const ScopePtr& scope);
  /// Filters of a block: their innermost subject is `text`.
  Value evaluate_filters(const Node& node, const Value& text, const ScopePtr& scope);
  Value make_macro(const Node& node, const ScopePtr& scope);
  std::string call_macro(const Node& node, const ScopePtr& outside, const Arguments& arguments);

  Flow execute(const Node& node, const ScopePtr& scope);
  Flow execute_for(const Node& node, const ScopePtr& scope, const Value& iterable, std::size_t level);
  void assign(const Node& target, Value value, const ScopePtr& scope);
  std::string render(const Node& body, const ScopePtr& scope);
  void write(std::string_view text);

  const Syntax& syntax_;
  Budget& budget_;
  std::time_t now_;
  ScopePtr globals_;
  const Node* at_;
  std::string* out_ = nullptr;
  int depth_ = 0;
  // What can hold itself: emptied at the end.
  std::vector<std::shared_ptr<Scope>> closures_;
  std::vector<std::shared_ptr<Names>> names_;
};

/// The operators of Python. All throw Problem for values that they do not have.
Value operate(Operation operation, const Value& a, const Value& b, Machine& machine);
/// `format % arguments`.
std::string format_percent(const std::string& format, const Value& arguments, Machine& machine);
/// `format.format(…)`.
std::string format_braces(const std::string& format, const Arguments& arguments, Machine& machine);

/// What Python finds as an attribute: methods and properties. None if there is none.
std::optional<Value> find_attribute(const Value& object, const std::string& name, Machine& machine);

using Filter = Value (*)(Machine&, const Value& subject, const Arguments&);
using Test = bool (*)(Machine&, const Value& subject, const Arguments&);
/// Null if there is none of this name.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);

}  // namespace attend::jinja
