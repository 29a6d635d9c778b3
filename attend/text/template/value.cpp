#include "attend/text/template/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "attend/text/unicode.h"

namespace attend::jinja {
namespace {

constexpr std::uint32_t kDeepest = 200;    // lists in lists
constexpr std::size_t kSmallDict = 8;      // entries that are searched one by one
constexpr std::size_t kBytesPerStep = 64;  // of texts that are compared or copied

[[noreturn]] void fail_types(std::string_view what, const Value& a, const Value& b) {
  throw Problem("'" + std::string(what) + "' not supported between instances of '" + std::string(type_name(a)) +
                "' and '" + std::string(type_name(b)) + "'");
}

std::size_t hash_of(const Value& value, Budget& budget) {
  budget.steps();
  switch (value.kind()) {
    case Kind::string:
      return std::hash<std::string>()(value.string());
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return std::hash<double>()(value.real());
    case Kind::tuple: {
      std::size_t hash = value.items().size();
      for (const Value& item : value.items()) hash = hash * 1000003 + hash_of(item, budget);
      return hash;
    }
    case Kind::list:
    case Kind::dict:
    case Kind::view:
      throw Problem("unhashable type: '" + std::string(type_name(value)) + "'");
    default:
      return static_cast<std::size_t>(value.kind());
  }
}

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  const std::string_view kind = category(c);
  return kind[0] != 'C' && kind[0] != 'Z';
}

void append_hex(const char* format, std::uint32_t value, std::string& out) {
  char digits[16];
  std::snprintf(digits, sizeof digits, format, static_cast<unsigned>(value));
  out += digits;
}

std::string joined(const std::vector<Value>& items, Budget& budget) {
  std::string text;
  for (const Value& item : items) {
    if (&item != &items.front()) text += ", ";
    text += represent(item, budget);
  }
  return text;
}

class JsonPrinter {
 public:
  JsonPrinter(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {}

  void print(const Value& value) {
    budget_.steps();
    switch (value.kind()) {
      case Kind::none:
        out += "null";
        return;
      case Kind::boolean:
        out += value.boolean() ? "true" : "false";
        return;
      case Kind::integer:
        out += std::to_string(value.integer());
        return;
      case Kind::real:
        out += number(value.real());
        return;
      case Kind::string:
        print(value.string());
        return;
      case Kind::list:
      case Kind::tuple:
        open('[', value.items().empty());
        for (const Value& item : value.items()) {
          if (&item != &value.items().front()) next();
          print(item);
        }
        close(']', value.items().empty());
        return;
      case Kind::dict:
        return print(value.object<Dict>());
      default:
        throw Problem("Object of type " + std::string(type_name(value)) + " is not JSON serializable");
    }
  }

  std::string out;

 private:
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return real_text(value);
  }

  void print(const Dict& dict) {
    std::vector<const std::pair<Value, Value>*> items;
    for (const auto& item : dict.items) items.push_back(&item);
    if (style_.sorted)
      std::ranges::stable_sort(items, [&](const auto* a, const auto* b) { return less(a->first, b->first, budget_); });
    open('{', items.empty());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) next();
      const auto& [key, value] = *items[i];
      if (key.is(Kind::string)) {
        print(key.string());
      } else if (key.is_number() || key.is(Kind::none)) {
        out += '"';
        print(key);
        out += '"';
      } else {
        throw Problem("keys must be str, int, float, bool or None, not " + std::string(type_name(key)));
      }
      out += style_.colon;
      print(value);
    }
    close('}', items.empty());
  }

  void print(const std::string& text) {
    budget_.bytes(text.size());
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint c = decode_utf8(text, at);
      const std::string_view bytes = std::string_view(text).substr(at, static_cast<std::size_t>(c.size));
      at += bytes.size();
      if (c.value == '"' || c.value == '\\') {
        (out += '\\') += bytes;
      } else if (const char* escape = c.value < 0x20 ? short_escape(c.value) : nullptr) {
        out += escape;
      } else if (c.value < 0x20 || (style_.ascii && c.value > 0x7E && c.value < 0x10000)) {
        append_hex("\\u%04x", c.value, out);
      } else if (style_.ascii && c.value >= 0x10000) {
        append_hex("\\u%04x", 0xD800 + ((c.value - 0x10000) >> 10), out);
        append_hex("\\u%04x", 0xDC00 + ((c.value - 0x10000) & 0x3FF), out);
      } else {
        out += bytes;
      }
    }
    out += '"';
  }
  static const char* short_escape(char32_t c) {
    switch (c) {
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\f':
        return "\\f";
      case '\b':
        return "\\b";
      default:
        return nullptr;
    }
  }

  void line() {
    if (!style_.indent) return;
    budget_.bytes(style_.indent->size() * level_ + 1);
    out += '\n';
    for (std::size_t i = 0; i < level_; ++i) out += *style_.indent;
  }
  void open(char bracket, bool empty) {
    out += bracket;
    ++level_;
    if (!empty) line();
  }
  void next() {
    out += style_.between;
    budget_.bytes(style_.between.size());
    line();
  }
  void close(char bracket, bool empty) {
    --level_;
    if (!empty) line();
    out += bracket;
  }

  const JsonStyle& style_;
  Budget& budget_;
  std::size_t level_ = 0;
};

}  // namespace

void Budget::steps(std::size_t count) {
  steps_ -= static_cast<std::int64_t>(count);
  if (steps_ < 0) throw Problem("the template takes too many steps");
}

void Budget::bytes(std::size_t count) {
  steps(count / kBytesPerStep);
  bytes_ -= static_cast<std::int64_t>(std::min<std::size_t>(count, std::size_t{1} << 40));
  if (bytes_ < 0) throw Problem("the template makes too much text");
}

Value::Value(std::string text, bool safe)
    : kind_(Kind::string), safe_(safe), integer_(0), object_(std::make_shared<Text>(std::move(text))) {}

Value Value::undefined(std::string why) {
  auto object = std::make_shared<Undefined>();
  object->why = std::move(why);
  return {Kind::undefined, std::move(object)};
}

Value Value::sequence(Kind kind, std::vector<Value> items, std::string shown) {
  auto object = std::make_shared<Sequence>();
  for (const Value& item : items) object->depth = depth_with(object->depth, item);
  object->items = std::move(items);
  object->shown = std::move(shown);
  return {kind, std::move(object)};
}

const std::string& Value::string() const { return object<Text>().text; }
const std::vector<Value>& Value::items() const { return object<Sequence>().items; }

const Value* Dict::find(const Value& key, Budget& budget) const {
  const std::size_t hash = hash_of(key, budget);
  if (index_.empty()) {
    for (const auto& [name, value] : items)
      if (equal(name, key, budget)) return &value;
    return nullptr;
  }
  const auto [begin, end] = index_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (equal(items[at->second].first, key, budget)) return &items[at->second].second;
  return nullptr;
}

const Value* Dict::find(std::string_view key) const {
  Budget enough(std::int64_t{1} << 40, std::int64_t{1} << 40);
  return find(Value(std::string(key)), enough);
}

void Dict::set(Value key, Value value, Budget& budget) {
  depth = depth_with(depth_with(depth, key), value);
  if (const Value* known = find(key, budget)) {
    const_cast<Value&>(*known) = std::move(value);  // of our own list
    return;
  }
  budget.bytes(sizeof(items[0]));
  items.emplace_back(std::move(key), std::move(value));
  if (items.size() <= kSmallDict) return;
  for (std::size_t i = index_.empty() ? 0 : items.size() - 1; i < items.size(); ++i)
    index_.emplace(hash_of(items[i].first, budget), i);
}

Value* Names::find(std::string_view name) {
  for (auto& [key, value] : values)
    if (key == name) return &value;
  return nullptr;
}

std::vector<std::optional<Value>> Arguments::bind(std::string_view function,
                                                  std::initializer_list<const char*> parameters,
                                                  std::size_t required) const {
  const std::string name = std::string(function) + "()";
  std::vector<std::optional<Value>> bound(parameters.size());
  if (positional.size() > bound.size())
    throw Problem(name + " takes at most " + std::to_string(bound.size()) + " arguments, got " +
                  std::to_string(positional.size()));
  std::ranges::copy(positional, bound.begin());
  for (const auto& [key, value] : named) {
    const auto at = std::ranges::find(parameters, key);
    if (at == parameters.end()) throw Problem(name + " got an unexpected keyword argument '" + key + "'");
    std::optional<Value>& place = bound[static_cast<std::size_t>(at - parameters.begin())];
    if (place) throw Problem(name + " got multiple values for argument '" + key + "'");
    place = value;
  }
  for (std::size_t i = 0; i < required; ++i)
    if (!bound[i]) throw Problem(name + " misses the argument '" + parameters.begin()[i] + "'");
  return bound;
}

Value make_function(std::string name, std::function<Value(const Arguments&)> call, const std::vector<Value>& holds) {
  auto function = std::make_shared<Function>();
  for (const Value& value : holds) function->depth = depth_with(function->depth, value);
  function->name = std::move(name);
  function->call = std::move(call);
  return {Kind::function, std::move(function)};
}

std::uint32_t depth_with(std::uint32_t depth, const Value& item) {
  depth = std::max(depth, item.depth() + 1);
  if (depth > kDeepest) throw Problem("values are nested deeper than " + std::to_string(kDeepest));
  return depth;
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return value.is_safe() ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::range:
      return "range";
    case Kind::view:
      return "dict view";
    case Kind::iterator:
      return "generator";
    case Kind::dict:
      return "dict";
    case Kind::names:
      return "Namespace";
    case Kind::loop:
      return "LoopContext";
    case Kind::function:
      return "function";
  }
  return "";
}

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return value.real() != 0;
    case Kind::string:
      return !value.string().empty();
    case Kind::dict:
      return !value.object<Dict>().items.empty();
    default:
      return !value.is_sequence() || !value.items().empty();
  }
}

void fail_undefined(const Value& value) { throw Problem(value.object<Undefined>().why); }

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.steps();
  if (a.is_number() && b.is_number())
    return a.is_integral() && b.is_integral() ? a.integer() == b.integer() : a.real() == b.real();
  if (a.kind() != b.kind()) return false;
  if (a.same_object(b)) return true;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      if (a.string().size() == b.string().size()) budget.steps(a.string().size() / kBytesPerStep);
      return a.string() == b.string();
    case Kind::list:
    case Kind::tuple:
    case Kind::range:
      return std::ranges::equal(a.items(), b.items(),
                                [&](const Value& x, const Value& y) { return equal(x, y, budget); });
    case Kind::dict: {
      const Dict &x = a.object<Dict>(), &y = b.object<Dict>();
      return x.items.size() == y.items.size() && std::ranges::all_of(x.items, [&](const auto& item) {
               const Value* other = y.find(item.first, budget);
               return other && equal(item.second, *other, budget);
             });
    }
    default:
      return false;
  }
}

bool less(const Value& a, const Value& b, Budget& budget) {
  budget.steps();
  if (a.is_number() && b.is_number())
    return a.is_integral() && b.is_integral() ? a.integer() < b.integer() : a.real() < b.real();
  if (a.is(Kind::undefined)) fail_undefined(a);
  if (b.is(Kind::undefined)) fail_undefined(b);
  if (a.kind() == b.kind() && a.is(Kind::string)) {
    budget.steps(std::min(a.string().size(), b.string().size()) / kBytesPerStep);
    return a.string() < b.string();  // the bytes of UTF-8 have the order of the code points
  }
  if (a.kind() != b.kind() || !(a.is(Kind::list) || a.is(Kind::tuple))) fail_types("<", a, b);
  const auto &x = a.items(), &y = b.items();
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (!equal(x[i], y[i], budget)) return less(x[i], y[i], budget);
  return x.size() < y.size();
}

bool contains(const Value& container, const Value& element, Budget& budget) {
  switch (container.kind()) {
    case Kind::string:
      if (!element.is(Kind::string))
        throw Problem("'in <string>' requires string as left operand, not " + std::string(type_name(element)));
      budget.steps(container.string().size() / kBytesPerStep);
      return container.string().find(element.string()) != std::string::npos;
    case Kind::dict:
      return container.object<Dict>().find(element, budget) != nullptr;
    case Kind::undefined:
      return false;
    case Kind::list:
    case Kind::tuple:
    case Kind::range:
    case Kind::view:
      return std::ranges::any_of(container.items(), [&](const Value& one) { return equal(one, element, budget); });
    case Kind::iterator: {
      Sequence& sequence = container.object<Sequence>();
      while (sequence.taken < sequence.items.size())
        if (equal(sequence.items[sequence.taken++], element, budget)) return true;
      return false;
    }
    default:
      throw Problem("argument of type '" + std::string(type_name(container)) + "' is not iterable");
  }
}

std::vector<Value> elements(const Value& value, Budget& budget) {
  switch (value.kind()) {
    case Kind::undefined:
      return {};
    case Kind::string: {
      std::vector<Value> letters;
      const std::string& text = value.string();
      budget.bytes(text.size() * (sizeof(Value) + sizeof(Text)));
      for (std::size_t at = 0; at < text.size();) {
        const auto size = static_cast<std::size_t>(decode_utf8(text, at).size);
        letters.emplace_back(text.substr(at, size));
        at += size;
      }
      return letters;
    }
    case Kind::dict: {
      std::vector<Value> keys;
      budget.bytes(value.object<Dict>().items.size() * sizeof(Value));
      for (const auto& [key, one] : value.object<Dict>().items) keys.push_back(key);
      return keys;
    }
    case Kind::list:
    case Kind::tuple:
    case Kind::range:
    case Kind::view:
      budget.bytes(value.items().size() * sizeof(Value));
      return value.items();
    case Kind::iterator: {
      Sequence& sequence = value.object<Sequence>();
      budget.bytes(sequence.items.size() * sizeof(Value));
      std::vector<Value> rest(sequence.items.begin() + static_cast<std::ptrdiff_t>(sequence.taken),
                              sequence.items.end());
      sequence.taken = sequence.items.size();
      return rest;
    }
    default:
      throw Problem("'" + std::string(type_name(value)) + "' object is not iterable");
  }
}

std::size_t length(const Value& value) {
  if (value.is(Kind::undefined)) return 0;
  if (value.is(Kind::string)) return static_cast<std::size_t>(count_code_points(value.string()));
  if (value.is(Kind::dict)) return value.object<Dict>().items.size();
  if (value.is_sequence()) return value.items().size();
  throw Problem("object of type '" + std::string(type_name(value)) + "' has no len()");
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[64];
  const auto last = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific).ptr;
  const std::string shortest(digits, last);  // -1.25e+02
  const std::size_t e = shortest.find('e');
  const int exponent = std::atoi(shortest.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return shortest;
  const auto fixed = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed).ptr;
  std::string text(digits, fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

void append_represented(std::string_view text, std::string& out) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  out += quote;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const std::string_view bytes = text.substr(at, static_cast<std::size_t>(c.size));
    at += bytes.size();
    if (c.value == static_cast<char32_t>(quote) || c.value == '\\') {
      (out += '\\') += bytes;
    } else if (c.value == '\n' || c.value == '\r' || c.value == '\t') {
      out += c.value == '\n' ? "\\n" : c.value == '\r' ? "\\r" : "\\t";
    } else if (is_printable(c.value)) {
      out += bytes;
    } else {
      append_hex(c.value < 0x100 ? "\\x%02x" : c.value < 0x10000 ? "\\u%04x" : "\\U%08x", c.value, out);
    }
  }
  out += quote;
}

std::string represent(const Value& value, Budget& budget) {
  budget.steps();
  switch (value.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::string: {
      budget.bytes(value.string().size());
      std::string text;
      append_represented(value.string(), text);
      return value.is_safe() ? "Markup(" + text + ")" : text;
    }
    case Kind::list:
      return "[" + joined(value.items(), budget) + "]";
    case Kind::tuple:
      return "(" + joined(value.items(), budget) + (value.items().size() == 1 ? ",)" : ")");
    case Kind::view:
      return value.object<Sequence>().shown + "([" + joined(value.items(), budget) + "])";
    case Kind::range:
      return value.object<Sequence>().shown;
    case Kind::dict: {
      std::string text = "{";
      for (const auto& [key, one] : value.object<Dict>().items) {
        if (text.size() > 1) text += ", ";
        text += represent(key, budget) + ": " + represent(one, budget);
      }
      return text + "}";
    }
    default:
      return to_text(value, budget);
  }
}

std::string to_text(const Value& value, Budget& budget) {
  switch (value.kind()) {
    case Kind::undefined:
      return "";
    case Kind::none:
      return "None";
    case Kind::boolean:
      return value.boolean() ? "True" : "False";
    case Kind::integer:
      return std::to_string(value.integer());
    case Kind::real:
      return real_text(value.real());
    case Kind::string:
      return value.string();
    case Kind::iterator:
    case Kind::names:
    case Kind::loop:
      return "<" + std::string(type_name(value)) + " object>";
    case Kind::function:
      return "<function " + value.object<Function>().name + ">";
    default:
      return represent(value, budget);
  }
}

std::string to_json(const Value& value, const JsonStyle& style, Budget& budget) {
  JsonPrinter printer(style, budget);
  printer.print(value);
  budget.bytes(printer.out.size());
  return std::move(printer.out);
}

}  // namespace attend::jinja
