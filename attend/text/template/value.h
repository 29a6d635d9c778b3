// The values of a chat template: those of Python, as far as a template can see them. Strings are counted in code
// points.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace attend::jinja {

/// An error without a place. The interpreter adds the place in the template.
class Problem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a template may still use. Work and memory are charged before they are spent, so that a hostile template ends
/// with a Problem.
class Budget {
 public:
  Budget(std::int64_t steps, std::int64_t bytes) : steps_(steps), bytes_(bytes) {}
  void steps(std::size_t count = 1);
  /// Bytes that are created; those that are released are not given back.
  void bytes(std::size_t count);

 private:
  std::int64_t steps_, bytes_;
};

enum class Kind : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  range,
  view,      // of a dict: its keys, values or items
  iterator,  // of map, select, …: can be read once
  dict,
  names,  // namespace()
  loop,
  function,
};

struct Object {
  virtual ~Object() = default;
  std::uint32_t depth = 0;  ///< of objects in objects, which is bounded
};

/// Immutable but for iterators and namespaces. Cheap to copy.
class Value {
 public:
  Value() : Value(Kind::none, nullptr) {}
  Value(bool value) : kind_(Kind::boolean) { boolean_ = value; }  // NOLINT: a value is what it is made of
  Value(std::int64_t value) : kind_(Kind::integer) { integer_ = value; }
  Value(int value) : Value(std::int64_t{value}) {}
  Value(std::size_t value) : Value(static_cast<std::int64_t>(value)) {}
  Value(double value) : kind_(Kind::real) { real_ = value; }
  Value(std::string text, bool safe = false);
  Value(const char* text) : Value(std::string(text)) {}
  Value(Kind kind, std::shared_ptr<Object> object) : kind_(kind), integer_(0), object_(std::move(object)) {}

  /// `why` is the message of the error that its use gives.
  static Value undefined(std::string why);
  /// Throws a Problem if it would be nested too deep.
  static Value sequence(Kind kind, std::vector<Value> items, std::string shown = {});
  static Value list(std::vector<Value> items) { return sequence(Kind::list, std::move(items)); }
  static Value tuple(std::vector<Value> items) { return sequence(Kind::tuple, std::move(items)); }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_integral() const { return is(Kind::integer) || is(Kind::boolean); }
  bool is_number() const { return is_integral() || is(Kind::real); }
  /// Those with elements in memory: list, tuple, range, view.
  bool is_sequence() const { return kind_ >= Kind::list && kind_ <= Kind::view; }

  bool boolean() const { return boolean_; }
  std::int64_t integer() const { return is(Kind::boolean) ? (boolean_ ? 1 : 0) : integer_; }
  double real() const { return is(Kind::real) ? real_ : static_cast<double>(integer()); }
  const std::string& string() const;
  bool is_safe() const { return safe_; }  ///< markupsafe's Markup: `+` escapes what is added
  const std::vector<Value>& items() const;
  template <typename T>
  T& object() const {
    return static_cast<T&>(*object_);
  }
  std::uint32_t depth() const { return object_ ? object_->depth : 0; }
  bool same_object(const Value& other) const { return object_ != nullptr && object_ == other.object_; }

 private:
  Kind kind_;
  bool safe_ = false;
  union {
    bool boolean_;
    std::int64_t integer_;
    double real_;
  };
  std::shared_ptr<Object> object_;
};

struct Text final : Object {
  explicit Text(std::string text) : text(std::move(text)) {}
  std::string text;
};

struct Undefined final : Object {
  std::string why;
};

struct Sequence final : Object {
  std::vector<Value> items;
  std::string shown;      // what str() gives, for a range or a view
  std::size_t taken = 0;  // by the readers of an iterator
};

/// A dict keeps the order in which its keys were added.
struct Dict final : Object {
  std::vector<std::pair<Value, Value>> items;

  /// Throws a Problem if the key is a list or a dict.
  const Value* find(const Value& key, Budget& budget) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value, Budget& budget);

 private:
  std::unordered_multimap<std::size_t, std::size_t> index_;  // hash -> place; empty for a small dict
};

struct Names final : Object {
  std::vector<std::pair<std::string, Value>> values;
  Value* find(std::string_view name);
};

/// The arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  /// The values of these parameters, in their order; none where an argument is missing. Throws a Problem if one of the
  /// first `required` is missing, for too many arguments, and for names that are not expected.
  std::vector<std::optional<Value>> bind(std::string_view function, std::initializer_list<const char*> parameters,
                                         std::size_t required = 0) const;
};

struct Function final : Object {
  std::string name;
  std::function<Value(const Arguments&)> call;
  std::vector<std::pair<std::string, std::function<Value()>>> attributes;
};
/// `holds` are the values that `call` holds.
Value make_function(std::string name, std::function<Value(const Arguments&)> call,
                    const std::vector<Value>& holds = {});

/// The depth of an object that holds `item`, if it was `depth` without it. Throws a Problem if it is too much.
std::uint32_t depth_with(std::uint32_t depth, const Value& item);
std::string_view type_name(const Value& value);

bool truth(const Value& value);
/// Throws a Problem with the message of an undefined value.
[[noreturn]] void fail_undefined(const Value& value);

bool equal(const Value& a, const Value& b, Budget& budget);
/// a < b. Throws a Problem for values without an order.
bool less(const Value& a, const Value& b, Budget& budget);
bool contains(const Value& container, const Value& element, Budget& budget);
/// The elements of what `for` can visit: code points of a string, keys of a dict. Exhausts an iterator. Throws a
/// Problem for other values.
std::vector<Value> elements(const Value& value, Budget& budget);
/// len(). Throws a Problem for values without a length.
std::size_t length(const Value& value);

/// str() and repr() of Python.
std::string to_text(const Value& value, Budget& budget);
std::string represent(const Value& value, Budget& budget);
std::string real_text(double value);

struct JsonStyle {
  bool ascii = false, sorted = false;
  std::optional<std::string> indent = {};  ///< of each level
  std::string between = ", ", colon = ": ";
};
/// json.dumps().
std::string to_json(const Value& value, const JsonStyle& style, Budget& budget);

/// Appends what repr() prints for a text.
void append_represented(std::string_view text, std::string& out);

}  // namespace attend::jinja
