// The filters and tests of Jinja, and transformers' tojson.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "attend/text/template/machine.h"
#include "attend/text/template/python_text.h"
#include "attend/text/unicode.h"

namespace attend::jinja {
namespace {

constexpr std::int64_t kWidest = 1 << 20;

/// A string as it is, and the text of another value: undefined is empty.
std::string soft_text(Machine& machine, const Value& value) {
  return value.is(Kind::string) ? value.string() : machine.to_text(value);
}

std::int64_t whole_number(const std::optional<Value>& value, std::int64_t otherwise) {
  if (!value || value->is(Kind::none)) return otherwise;
  if (value->is(Kind::undefined)) fail_undefined(*value);
  if (!value->is_integral()) throw Problem("expected an int, got " + std::string(type_name(*value)));
  return value->integer();
}
bool flag(const std::optional<Value>& value) { return value && truth(*value); }
std::string text_or(Machine& machine, const std::optional<Value>& value, const char* otherwise) {
  return value ? machine.to_text(*value) : otherwise;
}

std::vector<Value> items_of(Machine& machine, const Value& value) { return elements(value, machine.budget()); }
Value iterator(std::vector<Value> items) { return Value::sequence(Kind::iterator, std::move(items)); }

Value lower_case_of(Machine& machine, Value value) {
  return value.is(Kind::string) ? machine.text(lower(value.string())) : value;
}

/// `a.b.0` of each item, as the argument `attribute` of many filters gives it.
class Getter {
 public:
  Getter(Machine& machine, const std::optional<Value>& attribute, bool ignore_case, std::optional<Value> otherwise = {})
      : machine_(machine), ignore_case_(ignore_case), otherwise_(std::move(otherwise)) {
    if (!attribute || attribute->is(Kind::none)) return;
    if (!attribute->is(Kind::string)) {
      parts_.push_back(*attribute);
      return;
    }
    for (std::string& part : split(attribute->string(), ".", -1, false)) {
      std::int64_t index = 0;
      const char* last = part.data() + part.size();
      const bool digits = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
      if (digits && std::from_chars(part.data(), last, index).ec == std::errc()) {
        parts_.emplace_back(index);
      } else {
        parts_.emplace_back(std::move(part));
      }
    }
  }
  Value operator()(Value item) const {
    for (const Value& part : parts_) {
      item = machine_.item(item, part);
      if (otherwise_ && item.is(Kind::undefined)) item = *otherwise_;
    }
    return ignore_case_ ? lower_case_of(machine_, std::move(item)) : item;
  }

 private:
  Machine& machine_;
  bool ignore_case_;
  std::optional<Value> otherwise_;
  std::vector<Value> parts_;
};

/// Stable, as in Python. Every comparison is charged.
std::vector<Value> sorted(Machine& machine, const std::vector<Value>& items, const std::vector<Value>& keys,
                          bool reverse) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return reverse ? less(keys[b], keys[a], machine.budget()) : less(keys[a], keys[b], machine.budget());
  });
  std::vector<Value> result;
  for (const std::size_t i : order) result.push_back(items[i]);
  return result;
}

Value sort_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("sort", {"reverse", "case_sensitive", "attribute"});
  std::vector<Getter> getters;
  if (bound[2] && bound[2]->is(Kind::string)) {
    for (std::string& one : split(bound[2]->string(), ",", -1, false))
      getters.emplace_back(machine, Value(std::move(one)), !flag(bound[1]));
  } else {
    getters.emplace_back(machine, bound[2], !flag(bound[1]));
  }
  const std::vector<Value> items = items_of(machine, subject);
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> key;
    for (const Getter& getter : getters) key.push_back(getter(item));
    keys.push_back(Value::list(std::move(key)));
  }
  return Value::list(sorted(machine, items, keys, flag(bound[0])));
}

Value dictsort_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("dictsort", {"case_sensitive", "by", "reverse"});
  if (subject.is(Kind::undefined)) fail_undefined(subject);
  if (!subject.is(Kind::dict)) throw Problem("dictsort expects a dict, got " + std::string(type_name(subject)));
  const std::string by = text_or(machine, bound[1], "key");
  if (by != "key" && by != "value") throw Problem("You can only sort by either \"key\" or \"value\"");
  std::vector<Value> items, keys;
  for (const auto& [key, value] : subject.object<Dict>().items) {
    items.push_back(Value::tuple({key, value}));
    const Value& one = by == "key" ? key : value;
    keys.push_back(flag(bound[0]) ? one : lower_case_of(machine, one));
  }
  return Value::list(sorted(machine, items, keys, flag(bound[2])));
}

Value group_by_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("groupby", {"attribute", "default", "case_sensitive"}, 1);
  const Getter getter(machine, bound[0], !flag(bound[2]), bound[1]), plain(machine, bound[0], false, bound[1]);
  const std::vector<Value> items = items_of(machine, subject);
  std::vector<Value> keys;
  for (const Value& item : items) keys.push_back(getter(item));
  std::vector<Value> groups, group;
  std::optional<Value> latest;
  const auto finish = [&] {
    if (group.empty()) return;
    const Value key = plain(group.front());
    groups.push_back(Value::tuple({key, Value::list(std::exchange(group, {}))}));
  };
  for (Value& item : sorted(machine, items, keys, false)) {
    const Value key = getter(item);
    if (latest && !equal(*latest, key, machine.budget())) finish();
    latest = key;
    group.push_back(std::move(item));
  }
  finish();
  return Value::list(std::move(groups));
}

Value unique_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("unique", {"case_sensitive", "attribute"});
  const Getter getter(machine, bound[1], !flag(bound[0]));
  Dict seen;
  std::vector<Value> items;
  for (Value& item : items_of(machine, subject)) {
    const Value key = getter(item);
    if (seen.find(key, machine.budget())) continue;
    seen.set(key, true, machine.budget());
    items.push_back(std::move(item));
  }
  return iterator(std::move(items));
}

Value extreme(Machine& machine, const Value& subject, const Arguments& arguments, const char* name, bool largest) {
  const auto bound = arguments.bind(name, {"case_sensitive", "attribute"});
  const Getter getter(machine, bound[1], !flag(bound[0]));
  std::optional<Value> best, best_key;
  for (const Value& item : items_of(machine, subject)) {
    const Value key = getter(item);
    if (best && !(largest ? less(*best_key, key, machine.budget()) : less(key, *best_key, machine.budget()))) continue;
    best = item, best_key = key;
  }
  return best ? *best : Value::undefined("No aggregated item, sequence was empty.");
}

Value map_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  std::vector<Value> items;
  if (!truth(subject)) return iterator({});
  if (arguments.positional.empty() && !arguments.named.empty()) {
    const auto bound = arguments.bind("map", {"attribute", "default"});
    if (!bound[0]) throw Problem("map requires a filter argument");
    const Getter getter(machine, bound[0], false, bound[1]);
    for (const Value& item : items_of(machine, subject)) items.push_back(getter(item));
    return iterator(std::move(items));
  }
  if (arguments.positional.empty()) throw Problem("map requires a filter argument");
  const std::string name = machine.to_text(arguments.positional[0]);
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin());
  for (const Value& item : items_of(machine, subject)) items.push_back(machine.filter(name, item, rest));
  return iterator(std::move(items));
}

Value select(Machine& machine, const Value& subject, const Arguments& arguments, bool wanted, bool by_attribute) {
  Arguments rest = arguments;
  std::optional<Value> attribute;
  const auto take = [&] {
    Value first = rest.positional.front();
    rest.positional.erase(rest.positional.begin());
    return first;
  };
  if (!truth(subject)) return iterator({});
  if (by_attribute) {
    if (rest.positional.empty()) throw Problem("Missing parameter for attribute name");
    attribute = take();
  }
  const Getter getter(machine, attribute, false);
  const std::string test = rest.positional.empty() ? "" : machine.to_text(take());
  std::vector<Value> items;
  for (Value& item : items_of(machine, subject)) {
    const Value value = getter(item);
    if ((test.empty() ? truth(value) : machine.test(test, value, rest)) == wanted) items.push_back(std::move(item));
  }
  return iterator(std::move(items));
}

Value join_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("join", {"d", "attribute"});
  const std::string between = text_or(machine, bound[0], "");
  const Getter getter(machine, bound[1], false);
  std::string text;
  bool first = true;
  for (const Value& item : items_of(machine, subject)) {
    if (!std::exchange(first, false)) text += between;
    machine.budget().bytes(between.size());
    text += machine.to_text(getter(item));
  }
  return machine.text(std::move(text));
}

Value to_json_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii = flag(bound[0]);
  style.sorted = flag(bound[3]);
  if (bound[1] && !bound[1]->is(Kind::none)) {
    style.between = ",";
    style.indent =
        bound[1]->is(Kind::string)
            ? bound[1]->string()
            : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(whole_number(bound[1], 0), 0, 1000)), ' ');
  }
  if (bound[2] && !bound[2]->is(Kind::none)) {
    const std::vector<Value> two = items_of(machine, *bound[2]);
    if (two.size() != 2 || !two[0].is(Kind::string) || !two[1].is(Kind::string))
      throw Problem("the separators of tojson must be two strings");
    style.between = two[0].string(), style.colon = two[1].string();
  }
  return {to_json(subject, style, machine.budget())};
}

Value replace_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("replace", {"old", "new", "count"}, 2);
  const std::string text = machine.to_text(subject), old = machine.to_text(*bound[0]),
                    fresh = machine.to_text(*bound[1]);
  const std::size_t most = old.empty() ? text.size() + 1 : text.size() / old.size();
  machine.budget().bytes(most * fresh.size());
  return machine.text(replace(text, old, fresh, whole_number(bound[2], -1)));
}

Value indent_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("indent", {"width", "first", "blank"});
  if (subject.is(Kind::undefined)) fail_undefined(subject);
  if (!subject.is(Kind::string)) throw Problem("indent expects a str, got " + std::string(type_name(subject)));
  const std::string indention =
      bound[0] && bound[0]->is(Kind::string)
          ? bound[0]->string()
          : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(whole_number(bound[0], 4), 0, kWidest)), ' ');
  const std::vector<std::string> lines = split_lines(subject.string() + "\n");
  machine.budget().bytes(lines.size() * indention.size());
  std::string text = flag(bound[1]) ? indention : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    if (i > 0 && (flag(bound[2]) || !lines[i].empty())) text += indention;
    text += lines[i];
  }
  return machine.text(std::move(text), subject.is_safe());
}

Value title_filter(Machine& machine, const Value& subject, const Arguments&) {
  const std::string text = soft_text(machine, subject);
  std::string out, word;
  const auto finish = [&] {
    if (word.empty()) return;
    const auto first = static_cast<std::size_t>(decode_utf8(word, 0).size);
    out += upper(word.substr(0, first)) + lower(word.substr(first));
    word.clear();
  };
  // A word ends where one of -, white space, (, {, [ or < ends.
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const bool separates =
        is_python_space(c.value) || (c.value < 0x80 && std::string_view("-({[<").find(static_cast<char>(c.value)) < 5);
    if (separates) finish();
    word += text.substr(at, static_cast<std::size_t>(c.size));
    at += static_cast<std::size_t>(c.size);
    if (separates) out += std::exchange(word, "");
  }
  finish();
  return machine.text(std::move(out));
}

Value round_filter(Machine&, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("round", {"precision", "method"});
  if (subject.is(Kind::undefined)) fail_undefined(subject);
  if (!subject.is_number()) throw Problem("round expects a number, got " + std::string(type_name(subject)));
  const std::int64_t precision = std::clamp<std::int64_t>(whole_number(bound[0], 0), -400, 400);
  const std::string method = bound[1] && bound[1]->is(Kind::string) ? bound[1]->string() : "common";
  if (method == "common") {
    if (subject.is_integral() && precision >= 0) return subject.integer();
    if (subject.is_integral()) {  // to tens, hundreds, …: half to even
      const double unit = std::pow(10.0, static_cast<double>(-precision));
      return static_cast<std::int64_t>(std::nearbyint(subject.real() / unit) * unit);
    }
    if (precision < 0) {
      const double unit = std::pow(10.0, static_cast<double>(-precision));
      return std::nearbyint(subject.real() / unit) * unit;
    }
    char digits[1000];  // the decimal rounding of the exact value, as Python does it
    const int size = std::snprintf(digits, sizeof digits, "%.*f", static_cast<int>(precision), subject.real());
    double rounded = subject.real();
    if (std::isfinite(rounded)) std::from_chars(digits, digits + size, rounded);
    return rounded;
  }
  if (method != "ceil" && method != "floor") throw Problem("method must be common, ceil or floor");
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = subject.real() * unit;
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

/// A number in a text, as int() and float() read it; none if it is not one.
std::optional<double> read_real(std::string_view text) {
  text = strip(text, true, true);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    if (text[i] == '_' && i > 0 && is_digit(i - 1) && is_digit(i + 1)) continue;
    plain += text[i];
  }
  if (plain.starts_with('+')) plain.erase(0, 1);
  if (plain.starts_with('+') || plain.empty()) return {};
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error == std::errc::invalid_argument || end != plain.data() + plain.size()) return {};
  return value;
}
std::optional<std::int64_t> read_integer(std::string_view text, int base) {
  text = strip(text, true, true);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0 || i + 1 == text.size() || text[i - 1] == '_') plain += text[i];
  const bool negative = plain.starts_with('-');
  if (negative || plain.starts_with('+')) plain.erase(0, 1);
  const char letter = plain.size() > 2 && plain[0] == '0' ? static_cast<char>(plain[1] | 32) : '\0';
  const int named = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  if (named && (base == 0 || base == named)) plain.erase(0, 2), base = named;
  if (base == 0) base = 10;
  if (base < 2 || base > 36 || plain.empty() || plain[0] == '-') return {};
  if (negative) plain.insert(0, "-");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
  if (error == std::errc::result_out_of_range) throw Problem("an integer is larger than 64 bits");
  if (error != std::errc() || end != plain.data() + plain.size()) return {};
  return value;
}

Value int_filter(Machine&, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("int", {"default", "base"});
  const Value otherwise = bound[0].value_or(0);
  if (subject.is(Kind::undefined)) fail_undefined(subject);
  if (subject.is_integral()) return subject.integer();
  std::optional<double> real;
  if (subject.is(Kind::real)) real = subject.real();
  if (subject.is(Kind::string)) {
    if (const auto value = read_integer(subject.string(), static_cast<int>(whole_number(bound[1], 10)))) return *value;
    real = read_real(subject.string());
  }
  if (!real || !std::isfinite(*real)) return otherwise;
  if (std::fabs(*real) >= 9.2e18) throw Problem("an integer is larger than 64 bits");
  return static_cast<std::int64_t>(*real);
}

Value float_filter(Machine&, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("float", {"default"});
  if (subject.is(Kind::undefined)) fail_undefined(subject);
  if (subject.is_number()) return subject.real();
  if (subject.is(Kind::string))
    if (const auto value = read_real(subject.string())) return *value;
  return bound[0].value_or(0.0);
}

Value sum_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("sum", {"attribute", "start"});
  const Getter getter(machine, bound[0], false);
  Value total = bound[1].value_or(0);
  if (total.is(Kind::string)) throw Problem("sum() can't sum strings");
  for (const Value& item : items_of(machine, subject)) total = operate(Operation::add, total, getter(item), machine);
  return total;
}

Value batch_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("batch", {"linecount", "fill_with"}, 1);
  const std::int64_t count = whole_number(bound[0], 1);
  std::vector<Value> batches, batch;
  for (Value& item : items_of(machine, subject)) {
    if (std::ssize(batch) == count) batches.push_back(Value::list(std::exchange(batch, {})));
    batch.push_back(std::move(item));
  }
  if (!batch.empty()) {
    if (bound[1] && !bound[1]->is(Kind::none))
      for (std::int64_t i = std::ssize(batch); i < std::min(count, kWidest); ++i) batch.push_back(*bound[1]);
    machine.budget().bytes(batch.size() * sizeof(Value));
    batches.push_back(Value::list(std::move(batch)));
  }
  return iterator(std::move(batches));
}

Value slice_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("slice", {"slices", "fill_with"}, 1);
  const std::vector<Value> items = items_of(machine, subject);
  const std::int64_t slices = whole_number(bound[0], 1), size = std::ssize(items);
  if (slices < 1 || slices > kWidest) throw Problem("the number of slices must be from 1 to 1048576");
  machine.budget().bytes(static_cast<std::size_t>(slices) * sizeof(Sequence));
  const std::int64_t each = size / slices, longer = size % slices;
  std::vector<Value> result;
  auto at = items.begin();
  for (std::int64_t i = 0; i < slices; ++i) {
    const auto end = at + each + (i < longer ? 1 : 0);
    std::vector<Value> slice(at, end);
    if (bound[1] && !bound[1]->is(Kind::none) && i >= longer) slice.push_back(*bound[1]);
    result.push_back(Value::list(std::move(slice)));
    at = end;
  }
  return iterator(std::move(result));
}

Value truncate_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("truncate", {"length", "killwords", "end", "leeway"});
  const std::string text = soft_text(machine, subject), end = text_or(machine, bound[2], "...");
  const std::int64_t most = whole_number(bound[0], 255), leeway = whole_number(bound[3], 5);
  const std::int64_t kept = most - count_code_points(end);
  if (kept < 0 || leeway < 0) throw Problem("truncate expects a length of at least that of the end, and a leeway");
  const Letters letters(text);
  if (std::ssize(text) <= most || static_cast<std::int64_t>(letters.size()) <= most + leeway) return machine.text(text);
  std::string head(letters.part(0, std::min(static_cast<std::size_t>(kept), letters.size())));
  if (!flag(bound[1]))
    if (const std::size_t space = head.rfind(' '); space != std::string::npos) head.resize(space);
  return machine.text(head + end);
}

Value wordcount_filter(Machine& machine, const Value& subject, const Arguments&) {
  const std::string text = soft_text(machine, subject);
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const bool word = c.value == '_' || (properties(c.value) & property::kWord);
    words += word && !inside ? 1 : 0;
    inside = word;
    at += static_cast<std::size_t>(c.size);
  }
  return words;
}

Value reverse_filter(Machine& machine, const Value& subject, const Arguments&) {
  if (subject.is(Kind::string)) {
    const Letters letters(subject.string());
    std::string text;
    for (std::size_t i = letters.size(); i > 0; --i) text += letters.at(i - 1);
    return machine.text(std::move(text));
  }
  std::vector<Value> items = items_of(machine, subject);
  std::ranges::reverse(items);
  return iterator(std::move(items));
}

Value last_filter(Machine& machine, const Value& subject, const Arguments&) {
  if (subject.is(Kind::iterator)) throw Problem("'generator' object is not reversible");
  const std::vector<Value> items = items_of(machine, subject);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value first_filter(Machine& machine, const Value& subject, const Arguments&) {
  if (subject.is(Kind::iterator)) {  // takes one
    Sequence& sequence = subject.object<Sequence>();
    if (sequence.taken < sequence.items.size()) return sequence.items[sequence.taken++];
  } else if (subject.is(Kind::string)) {
    if (!subject.string().empty()) return std::string(Letters(subject.string()).at(0));
  } else if (const std::vector<Value> items = items_of(machine, subject); !items.empty()) {
    return items.front();
  }
  return Value::undefined("No first item, sequence was empty.");
}

Value url_filter(Machine& machine, const Value& subject, const Arguments&) {
  const auto quoted = [&](const Value& value, bool query) {
    std::string out;
    for (const char c : machine.to_text(value)) {
      const bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                         std::string_view("_.-~").find(c) < 4 || (c == '/' && !query);
      char code[4];
      std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += plain ? std::string(1, c) : c == ' ' && query ? "+" : code;
    }
    return out;
  };
  if (subject.is(Kind::string) || !(subject.is(Kind::dict) || subject.is_sequence()))
    return machine.text(quoted(subject, false));
  std::string text;
  const auto add = [&](const Value& key, const Value& value) {
    if (!text.empty()) text += '&';
    text += quoted(key, true) + "=" + quoted(value, true);
  };
  if (subject.is(Kind::dict)) {
    for (const auto& [key, value] : subject.object<Dict>().items) add(key, value);
  } else {
    for (const Value& pair : subject.items()) {
      const std::vector<Value> two = items_of(machine, pair);
      if (two.size() != 2) throw Problem("urlencode expects pairs");
      add(two[0], two[1]);
    }
  }
  return machine.text(std::move(text));
}

/// Text without <tags> and comments, with single spaces.
Value striptags_filter(Machine& machine, const Value& subject, const Arguments&) {
  std::string text = machine.to_text(subject), out;
  for (std::size_t begin; (begin = text.find("<!--")) != std::string::npos;) {
    const std::size_t end = text.find("-->", begin);
    if (end == std::string::npos) break;
    text.erase(begin, end + 3 - begin);
    machine.budget().bytes(text.size());
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find('<', at), text.size()), end = text.find('>', begin);
    out += text.substr(at, begin - at);
    if (end == std::string::npos) {
      out += text.substr(begin);
      break;
    }
    at = end + 1;
  }
  std::string joined;
  for (const std::string& word : split(out, std::nullopt, -1, false)) joined += (joined.empty() ? "" : " ") + word;
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&#34;", "\""}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, letter] : kEntities) joined = replace(joined, entity, letter);
  return machine.text(std::move(joined));
}

Value filesize_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const bool binary = flag(arguments.bind("filesizeformat", {"binary"})[0]);
  const Value number = float_filter(machine, subject, {});
  const double bytes = number.real(), base = binary ? 1024 : 1000;
  if (bytes == 1) return "1 Byte";
  char text[64];
  if (bytes < base) {
    std::snprintf(text, sizeof text, "%.0f Bytes", std::trunc(bytes));
    return text;
  }
  double unit = base;
  std::size_t at = 0;
  constexpr std::string_view kUnits = "kMGTPEZY";
  while (at + 1 < kUnits.size() && bytes >= unit * base) unit *= base, ++at;
  const char letter = binary && at == 0 ? 'K' : kUnits[at];
  std::snprintf(text, sizeof text, "%.1f %c%sB", bytes / unit, letter, binary ? "i" : "");
  return text;
}

/// Lines of at most `width` letters, broken at spaces.
Value wordwrap_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("wordwrap", {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const std::int64_t width = whole_number(bound[0], 79);
  if (width < 1) throw Problem("invalid width " + std::to_string(width) + " (must be > 0)");
  const bool cut = !bound[1] || truth(*bound[1]);
  const std::string newline = text_or(machine, bound[2], "\n");
  std::string out;
  bool first_line = true;
  for (const std::string& line : split_lines(soft_text(machine, subject))) {
    if (!std::exchange(first_line, false)) out += newline;
    std::string row;
    std::int64_t row_size = 0;
    bool has_rows = false;
    const auto finish = [&] {
      row.resize(row.size() - trailing_space(row));
      if (!row.empty()) out += (has_rows ? newline : "") + row, has_rows = true;
      row.clear(), row_size = 0;
    };
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t space = leading_space(std::string_view(line).substr(at));
      std::size_t end = at + space;
      while (space == 0 && end < line.size() && leading_space(std::string_view(line).substr(end)) == 0)
        end += static_cast<std::size_t>(decode_utf8(line, end).size);
      std::string chunk = line.substr(at, end - at);
      at = end;
      if (space > 0 && row.empty() && has_rows) continue;
      const Letters letters(chunk);
      auto size = static_cast<std::int64_t>(letters.size());
      if (row_size + size <= width) {
        row += chunk, row_size += size;
        continue;
      }
      if (size <= width || !cut) {
        finish();
        if (space > 0) continue;
        row = chunk, row_size = size;
        if (size > width) finish();
        continue;
      }
      for (std::size_t from = 0; from < letters.size();) {
        const auto room = static_cast<std::size_t>(width - row_size);
        const std::size_t to = std::min(from + std::max<std::size_t>(room, 1), letters.size());
        if (room == 0)
          finish();
        else
          row += letters.part(from, to), row_size += static_cast<std::int64_t>(to - from), from = to;
        if (row_size >= width) finish();
      }
    }
    finish();
    machine.budget().bytes(out.size());
  }
  return machine.text(std::move(out));
}

Value xmlattr_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  const auto bound = arguments.bind("xmlattr", {"autospace"});
  if (!subject.is(Kind::dict)) throw Problem("xmlattr expects a dict, got " + std::string(type_name(subject)));
  std::string text;
  for (const auto& [key, value] : subject.object<Dict>().items) {
    if (value.is(Kind::none) || value.is(Kind::undefined)) continue;
    const std::string name = machine.to_text(key);
    if (name.find_first_of(" \t\n\r\f/>=") != std::string::npos) throw Problem("invalid character in attribute name");
    text += (text.empty() ? "" : " ") + escape_html(name) + "=\"" + escape_html(machine.to_text(value)) + "\"";
  }
  if (!text.empty() && (!bound[0] || truth(*bound[0]))) text.insert(0, " ");
  return machine.text(std::move(text));
}

Value escape_filter(Machine& machine, const Value& subject, const Arguments&) {
  const std::string text = soft_text(machine, subject);
  return machine.text(subject.is(Kind::string) && subject.is_safe() ? text : escape_html(text), true);
}

template <std::string (*map)(std::string_view)>
Value text_filter(Machine& machine, const Value& subject, const Arguments& arguments) {
  arguments.bind("this filter", {});
  return machine.text(map(soft_text(machine, subject)));
}

struct NamedFilter {
  std::string_view name;
  Filter filter;
};
constexpr NamedFilter kFilters[] = {
    {"abs",
     [](Machine&, const Value& s, const Arguments&) {
       if (s.is(Kind::undefined)) fail_undefined(s);
       if (!s.is_number()) throw Problem("bad operand type for abs(): '" + std::string(type_name(s)) + "'");
       return s.is(Kind::real) ? Value(std::fabs(s.real())) : Value(s.integer() < 0 ? -s.integer() : s.integer());
     }},
    {"attr",
     [](Machine& m, const Value& s, const Arguments& a) {
       const std::string name = m.to_text(*a.bind("attr", {"name"}, 1)[0]);
       if (s.is(Kind::undefined)) fail_undefined(s);
       if (auto value = find_attribute(s, name, m)) return std::move(*value);
       return Value::undefined("'" + std::string(type_name(s)) + " object' has no attribute '" + name + "'");
     }},
    {"batch", batch_filter},
    {"capitalize", text_filter<capitalize>},
    {"center",
     [](Machine& m, const Value& s, const Arguments& a) {
       const Value width = a.bind("center", {"width"})[0].value_or(80);
       return m.call(m.attribute(m.text(soft_text(m, s)), "center"), {{width}, {}});
     }},
    {"count", [](Machine&, const Value& s, const Arguments&) { return Value(length(s)); }},
    {"d", [](Machine& m, const Value& s, const Arguments& a) { return m.filter("default", s, a); }},
    {"default",
     [](Machine&, const Value& s, const Arguments& a) {
       const auto bound = a.bind("default", {"default_value", "boolean"});
       return s.is(Kind::undefined) || (flag(bound[1]) && !truth(s)) ? bound[0].value_or("") : s;
     }},
    {"dictsort", dictsort_filter},
    {"e", escape_filter},
    {"escape", escape_filter},
    {"filesizeformat", filesize_filter},
    {"first", first_filter},
    {"float", float_filter},
    {"forceescape",
     [](Machine& m, const Value& s, const Arguments&) { return m.text(escape_html(m.to_text(s)), true); }},
    {"format",
     [](Machine& m, const Value& s, const Arguments& a) {
       if (!a.positional.empty() && !a.named.empty())
         throw Problem("can't handle positional and keyword arguments at the same time");
       Value values = Value::tuple(a.positional);
       if (!a.named.empty()) {
         auto dict = std::make_shared<Dict>();
         for (const auto& [name, value] : a.named) dict->set(name, value, m.budget());
         values = {Kind::dict, std::move(dict)};
       }
       return m.text(format_percent(soft_text(m, s), values, m));
     }},
    {"groupby", group_by_filter},
    {"indent", indent_filter},
    {"int", int_filter},
    {"items",
     [](Machine& m, const Value& s, const Arguments&) {
       if (s.is(Kind::undefined)) return iterator({});
       if (!s.is(Kind::dict)) throw Problem("Can only get item pairs from a mapping.");
       return iterator(m.call(m.attribute(s, "items"), {}).items());
     }},
    {"join", join_filter},
    {"last", last_filter},
    {"length", [](Machine&, const Value& s, const Arguments&) { return Value(length(s)); }},
    {"list", [](Machine& m, const Value& s, const Arguments&) { return Value::list(items_of(m, s)); }},
    {"lower", text_filter<lower>},
    {"map", map_filter},
    {"max", [](Machine& m, const Value& s, const Arguments& a) { return extreme(m, s, a, "max", true); }},
    {"min", [](Machine& m, const Value& s, const Arguments& a) { return extreme(m, s, a, "min", false); }},
    {"pprint", [](Machine& m, const Value& s, const Arguments&) { return m.text(represent(s, m.budget())); }},
    {"reject", [](Machine& m, const Value& s, const Arguments& a) { return select(m, s, a, false, false); }},
    {"rejectattr", [](Machine& m, const Value& s, const Arguments& a) { return select(m, s, a, false, true); }},
    {"replace", replace_filter},
    {"reverse", reverse_filter},
    {"round", round_filter},
    {"safe", [](Machine& m, const Value& s, const Arguments&) { return m.text(m.to_text(s), true); }},
    {"select", [](Machine& m, const Value& s, const Arguments& a) { return select(m, s, a, true, false); }},
    {"selectattr", [](Machine& m, const Value& s, const Arguments& a) { return select(m, s, a, true, true); }},
    {"slice", slice_filter},
    {"sort", sort_filter},
    {"string",
     [](Machine& m, const Value& s, const Arguments&) { return s.is(Kind::string) ? s : m.text(m.to_text(s)); }},
    {"striptags", striptags_filter},
    {"sum", sum_filter},
    {"title", title_filter},
    {"tojson", to_json_filter},
    {"trim",
     [](Machine& m, const Value& s, const Arguments& a) {
       const auto bound = a.bind("trim", {"chars"});
       const auto chars = bound[0] && !bound[0]->is(Kind::none) ? std::optional(m.to_text(*bound[0])) : std::nullopt;
       return m.text(std::string(strip(soft_text(m, s), true, true, chars)));
     }},
    {"truncate", truncate_filter},
    {"unique", unique_filter},
    {"upper", text_filter<upper>},
    {"urlencode", url_filter},
    {"wordcount", wordcount_filter},
    {"wordwrap", wordwrap_filter},
    {"xmlattr", xmlattr_filter},
};

const Value& operand(const Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty()) throw Problem("this test takes one argument");
  return arguments.positional.front();
}
/// Integers and reals are divided; what has no remainder fails.
bool has_remainder(Machine& machine, const Value& subject, std::int64_t divisor, std::int64_t wanted) {
  return equal(operate(Operation::modulo, subject, divisor, machine), wanted, machine.budget());
}

struct NamedTest {
  std::string_view name;
  Test test;
};
constexpr Test kEqual = [](Machine& m, const Value& s, const Arguments& a) { return equal(s, operand(a), m.budget()); };
constexpr Test kNotEqual = [](Machine& m, const Value& s, const Arguments& a) {
  return !equal(s, operand(a), m.budget());
};
constexpr Test kLess = [](Machine& m, const Value& s, const Arguments& a) { return less(s, operand(a), m.budget()); };
constexpr Test kGreater = [](Machine& m, const Value& s, const Arguments& a) {
  return less(operand(a), s, m.budget());
};
constexpr Test kAtMost = [](Machine& m, const Value& s, const Arguments& a) {
  return less(s, operand(a), m.budget()) || equal(s, operand(a), m.budget());
};
constexpr Test kAtLeast = [](Machine& m, const Value& s, const Arguments& a) {
  return less(operand(a), s, m.budget()) || equal(s, operand(a), m.budget());
};
template <Kind kind>
bool is_kind(Machine&, const Value& subject, const Arguments&) {
  return subject.is(kind);
}
constexpr NamedTest kTests[] = {
    {"!=", kNotEqual},
    {"<", kLess},
    {"<=", kAtMost},
    {"==", kEqual},
    {">", kGreater},
    {">=", kAtLeast},
    {"boolean", is_kind<Kind::boolean>},
    {"callable", [](Machine&, const Value& s,
                    const Arguments&) { return s.is(Kind::function) || s.is(Kind::loop) || s.is(Kind::undefined); }},
    {"defined", [](Machine&, const Value& s, const Arguments&) { return !s.is(Kind::undefined); }},
    {"divisibleby",
     [](Machine& m, const Value& s, const Arguments& a) {
       return equal(operate(Operation::modulo, s, operand(a), m), 0, m.budget());
     }},
    {"eq", kEqual},
    {"equalto", kEqual},
    {"escaped", [](Machine&, const Value& s, const Arguments&) { return s.is(Kind::string) && s.is_safe(); }},
    {"even", [](Machine& m, const Value& s, const Arguments&) { return has_remainder(m, s, 2, 0); }},
    {"false", [](Machine&, const Value& s, const Arguments&) { return s.is(Kind::boolean) && !s.boolean(); }},
    {"filter",
     [](Machine&, const Value& s, const Arguments&) { return s.is(Kind::string) && find_filter(s.string()); }},
    {"float", is_kind<Kind::real>},
    {"ge", kAtLeast},
    {"greaterthan", kGreater},
    {"gt", kGreater},
    {"in", [](Machine& m, const Value& s, const Arguments& a) { return contains(operand(a), s, m.budget()); }},
    {"integer", is_kind<Kind::integer>},
    {"iterable",
     [](Machine&, const Value& s, const Arguments&) {
       return s.is(Kind::undefined) || s.is(Kind::string) || s.is_sequence() || s.is(Kind::dict) ||
              s.is(Kind::iterator) || s.is(Kind::loop);
     }},
    {"le", kAtMost},
    {"lessthan", kLess},
    {"lower", [](Machine& m, const Value& s,
                 const Arguments&) { return m.call(m.attribute(m.text(m.to_text(s)), "islower"), {}).boolean(); }},
    {"lt", kLess},
    {"mapping", is_kind<Kind::dict>},
    {"ne", kNotEqual},
    {"none", is_kind<Kind::none>},
    {"number", [](Machine&, const Value& s, const Arguments&) { return s.is_number(); }},
    {"odd", [](Machine& m, const Value& s, const Arguments&) { return has_remainder(m, s, 2, 1); }},
    {"sameas",
     [](Machine& m, const Value& s, const Arguments& a) {
       const Value& other = operand(a);
       const bool simple = s.kind() == other.kind() && (s.is_integral() || s.is(Kind::none) || s.is(Kind::string));
       return s.same_object(other) || (simple && equal(s, other, m.budget()));
     }},
    {"sequence",
     [](Machine&, const Value& s, const Arguments&) {
       return s.is(Kind::undefined) || s.is(Kind::string) || s.is(Kind::dict) || (s.is_sequence() && !s.is(Kind::view));
     }},
    {"string", is_kind<Kind::string>},
    {"test", [](Machine&, const Value& s, const Arguments&) { return s.is(Kind::string) && find_test(s.string()); }},
    {"true", [](Machine&, const Value& s, const Arguments&) { return s.is(Kind::boolean) && s.boolean(); }},
    {"undefined", is_kind<Kind::undefined>},
    {"upper", [](Machine& m, const Value& s,
                 const Arguments&) { return m.call(m.attribute(m.text(m.to_text(s)), "isupper"), {}).boolean(); }},
};

template <typename Table>
auto find_in(const Table& table, std::string_view name) {
  return std::ranges::find_if(table, [&](const auto& one) { return one.name == name; });
}

}  // namespace

Filter find_filter(std::string_view name) {
  const auto* found = find_in(kFilters, name);
  return found == std::end(kFilters) ? nullptr : found->filter;
}

Test find_test(std::string_view name) {
  const auto* found = find_in(kTests, name);
  return found == std::end(kTests) ? nullptr : found->test;
}

}  // namespace attend::jinja
