// The methods and properties of strings, lists, dicts and numbers.
#include <algorithm>
#include <cmath>
#include <span>

#include "attend/text/template/machine.h"
#include "attend/text/template/python_text.h"
#include "attend/text/unicode.h"

namespace attend::jinja {
namespace {

using Method = Value (*)(Machine&, const Value& self, const Arguments&);
struct NamedMethod {
  const char* name;
  Method call;
};

const std::string& text_argument(const Value& value, const char* method) {
  if (value.is(Kind::undefined)) fail_undefined(value);
  if (!value.is(Kind::string))
    throw Problem(std::string(method) + "() expects a str, got " + std::string(type_name(value)));
  return value.string();
}

std::optional<std::string> optional_text(const std::optional<Value>& value, const char* method) {
  if (!value || value->is(Kind::none)) return {};
  return text_argument(*value, method);
}

std::int64_t whole(const std::optional<Value>& value, std::int64_t otherwise) {
  if (!value) return otherwise;
  if (value->is(Kind::undefined)) fail_undefined(*value);
  if (!value->is_integral())
    throw Problem("'" + std::string(type_name(*value)) + "' object cannot be interpreted as an integer");
  return value->integer();
}

Value strip_method(Machine& machine, const Value& self, const Arguments& arguments, const char* name, bool left,
                   bool right) {
  const auto chars = optional_text(arguments.bind(name, {"chars"})[0], name);
  return machine.text(std::string(strip(self.string(), left, right, chars)), self.is_safe());
}

Value split_method(Machine& machine, const Value& self, const Arguments& arguments, const char* name, bool from_right) {
  const auto bound = arguments.bind(name, {"sep", "maxsplit"});
  const auto separator = optional_text(bound[0], name);
  if (separator && separator->empty()) throw Problem("empty separator");
  machine.budget().bytes(self.string().size());
  std::vector<Value> parts;
  for (std::string& part : split(self.string(), separator, whole(bound[1], -1), from_right)) {
    machine.budget().bytes(sizeof(Value) + sizeof(Text));
    parts.emplace_back(std::move(part), self.is_safe());
  }
  return Value::list(std::move(parts));
}

/// The part of the text that the arguments begin and end select, and its first byte.
std::pair<std::string_view, std::size_t> selected(const Value& self, const std::optional<Value>& begin,
                                                  const std::optional<Value>& end, Machine& machine) {
  const std::string& text = self.string();
  if ((!begin || begin->is(Kind::none)) && (!end || end->is(Kind::none))) return {text, 0};
  machine.budget().bytes(text.size());
  const Letters letters(text);
  const auto size = static_cast<std::int64_t>(letters.size());
  const auto place = [&](const std::optional<Value>& value, std::int64_t otherwise) {
    std::int64_t at = value && !value->is(Kind::none) ? whole(value, otherwise) : otherwise;
    if (at < 0) at = std::max<std::int64_t>(at + size, 0);
    return static_cast<std::size_t>(std::min(at, size));
  };
  const std::size_t first = place(begin, 0), last = std::max(place(end, size), first);
  return {letters.part(first, last), letters.byte(first)};
}

Value affix_method(Machine& machine, const Value& self, const Arguments& arguments, const char* name, bool at_end) {
  const auto bound = arguments.bind(name, {"affix", "start", "end"}, 1);
  const std::string_view text = selected(self, bound[1], bound[2], machine).first;
  const auto matches = [&](const Value& affix) {
    const std::string& one = text_argument(affix, name);
    return at_end ? text.ends_with(one) : text.starts_with(one);
  };
  if (!bound[0]->is(Kind::tuple)) return matches(*bound[0]);
  return std::ranges::any_of(bound[0]->items(), matches);
}

Value find_method(Machine& machine, const Value& self, const Arguments& arguments, const char* name, bool last,
                  bool required) {
  const auto bound = arguments.bind(name, {"sub", "start", "end"}, 1);
  const std::string& wanted = text_argument(*bound[0], name);
  const auto [text, offset] = selected(self, bound[1], bound[2], machine);
  machine.budget().bytes(text.size());
  const std::size_t found = last ? text.rfind(wanted) : text.find(wanted);
  if (found == text.npos && required) throw Problem("substring not found");
  if (found == text.npos) return -1;
  return Letters(self.string()).index(offset + found);
}

Value pad_method(Machine& machine, const Value& self, const Arguments& arguments, const char* name, char align) {
  const auto bound = arguments.bind(name, {"width", "fillchar"}, 1);
  const std::string fill = bound[1] ? text_argument(*bound[1], name) : " ";
  if (count_code_points(fill) != 1) throw Problem("the fill character must be exactly one character long");
  const std::int64_t width = whole(bound[0], 0);
  const std::int64_t missing = std::max<std::int64_t>(width - count_code_points(self.string()), 0);
  if (missing > (1 << 24)) throw Problem("the template makes too much text");
  machine.budget().bytes(static_cast<std::size_t>(missing) * fill.size());
  // CPython puts the odd one to the left if the width is odd.
  const std::int64_t left = align == '<' ? 0 : align == '>' ? missing : missing / 2 + (missing & width & 1);
  std::string text;
  for (std::int64_t i = 0; i < left; ++i) text += fill;
  text += self.string();
  for (std::int64_t i = left; i < missing; ++i) text += fill;
  return machine.text(std::move(text), self.is_safe());
}

Value partition_method(Machine& machine, const Value& self, const Arguments& arguments, const char* name, bool last) {
  const std::string separator = text_argument(*arguments.bind(name, {"sep"}, 1)[0], name);
  if (separator.empty()) throw Problem("empty separator");
  const std::string& text = self.string();
  machine.budget().bytes(text.size());
  const std::size_t found = last ? text.rfind(separator) : text.find(separator);
  if (found == std::string::npos)
    return Value::tuple(last ? std::vector<Value>{"", "", text} : std::vector<Value>{text, "", ""});
  return Value::tuple({text.substr(0, found), separator, text.substr(found + separator.size())});
}

/// Whether the text is not empty and all its code points have one of these categories.
template <typename Accept>
Value all_letters(Machine& machine, const Value& self, const Accept& accept) {
  const std::string& text = self.string();
  machine.budget().bytes(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (!accept(c.value)) return false;
    at += static_cast<std::size_t>(c.size);
  }
  return !text.empty();
}
bool has_category(char32_t c, std::string_view first) { return category(c)[0] == first[0]; }
bool is_decimal(char32_t c) { return std::string_view(category(c)) == "Nd"; }

/// isupper(), islower(): there are letters with case, and all of them have this one.
Value has_case(Machine& machine, const Value& self, std::string_view wanted, std::string_view other) {
  bool found = false;
  const std::string& text = self.string();
  machine.budget().bytes(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const std::string_view kind = category(c.value);
    if (kind == other || kind == "Lt") return false;
    found = found || kind == wanted;
    at += static_cast<std::size_t>(c.size);
  }
  return found;
}

Value mapped_text(Machine& machine, const Value& self, std::string (*map)(std::string_view)) {
  return machine.text(map(self.string()), self.is_safe());
}

Value join_method(Machine& machine, const Value& self, const Arguments& arguments) {
  std::string text;
  bool first = true;
  for (const Value& item : elements(*arguments.bind("join", {"iterable"}, 1)[0], machine.budget())) {
    if (!item.is(Kind::string))
      throw Problem("sequence item: expected str instance, " + std::string(type_name(item)) + " found");
    machine.budget().bytes(self.string().size() + item.string().size());
    if (!std::exchange(first, false)) text += self.string();
    text += item.string();
  }
  return machine.text(std::move(text), self.is_safe());
}

Value replace_method(Machine& machine, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("replace", {"old", "new", "count"}, 2);
  const std::string &old = text_argument(*bound[0], "replace"), &fresh = text_argument(*bound[1], "replace");
  // Charged before it is made: a short text can become a long one.
  const std::size_t most = old.empty() ? self.string().size() + 1 : self.string().size() / old.size();
  machine.budget().bytes(most * fresh.size());
  return machine.text(replace(self.string(), old, fresh, whole(bound[2], -1)), self.is_safe());
}

Value count_method(Machine& machine, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("count", {"sub", "start", "end"}, 1);
  const std::string& wanted = text_argument(*bound[0], "count");
  const std::string_view text = selected(self, bound[1], bound[2], machine).first;
  machine.budget().bytes(text.size());
  if (wanted.empty()) return count_code_points(text) + 1;
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos; at += wanted.size()) ++count;
  return count;
}

Value zfill_method(Machine& machine, const Value& self, const Arguments& arguments) {
  const std::int64_t width = whole(arguments.bind("zfill", {"width"}, 1)[0], 0);
  std::string text = self.string();
  const std::int64_t missing = std::max<std::int64_t>(width - count_code_points(text), 0);
  if (missing > (1 << 24)) throw Problem("the template makes too much text");
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  text.insert(has_sign ? 1 : 0, static_cast<std::size_t>(missing), '0');
  return machine.text(std::move(text), self.is_safe());
}

Value remove_affix(Machine& machine, const Value& self, const Arguments& arguments, const char* name, bool at_end) {
  const std::string& affix = text_argument(*arguments.bind(name, {"affix"}, 1)[0], name);
  std::string_view text = self.string();
  if (at_end ? text.ends_with(affix) : text.starts_with(affix))
    at_end ? text.remove_suffix(affix.size()) : text.remove_prefix(affix.size());
  return machine.text(std::string(text), self.is_safe());
}

Value expand_tabs(Machine& machine, const Value& self, const Arguments& arguments) {
  const std::int64_t width = std::clamp<std::int64_t>(whole(arguments.bind("expandtabs", {"tabsize"})[0], 8), 0, 1000);
  std::string out;
  std::int64_t column = 0;
  for (const char c : self.string()) {
    if (c == '\t') {
      const std::int64_t spaces = width == 0 ? 0 : width - column % width;
      out.append(static_cast<std::size_t>(spaces), ' ');
      column += spaces;
      machine.budget().bytes(static_cast<std::size_t>(spaces));
      continue;
    }
    out += c;
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++column;
    if (c == '\n' || c == '\r') column = 0;
  }
  return machine.text(std::move(out), self.is_safe());
}

template <std::string (*map)(std::string_view)>
Value map_method(Machine& machine, const Value& self, const Arguments& arguments) {
  arguments.bind("this method", {});
  return mapped_text(machine, self, map);
}

constexpr NamedMethod kTextMethods[] = {
    {"upper", map_method<upper>},
    {"lower", map_method<lower>},
    {"casefold", map_method<lower>},
    {"capitalize", map_method<capitalize>},
    {"title", map_method<title>},
    {"swapcase", map_method<swap_case>},
    {"strip",
     [](Machine& m, const Value& s, const Arguments& a) { return strip_method(m, s, a, "strip", true, true); }},
    {"lstrip",
     [](Machine& m, const Value& s, const Arguments& a) { return strip_method(m, s, a, "lstrip", true, false); }},
    {"rstrip",
     [](Machine& m, const Value& s, const Arguments& a) { return strip_method(m, s, a, "rstrip", false, true); }},
    {"split", [](Machine& m, const Value& s, const Arguments& a) { return split_method(m, s, a, "split", false); }},
    {"rsplit", [](Machine& m, const Value& s, const Arguments& a) { return split_method(m, s, a, "rsplit", true); }},
    {"splitlines",
     [](Machine& m, const Value& s, const Arguments& a) {
       const auto bound = a.bind("splitlines", {"keepends"});
       std::vector<Value> lines;
       m.budget().bytes(s.string().size());
       for (std::string& line : split_lines(s.string(), bound[0] && truth(*bound[0]))) {
         m.budget().bytes(sizeof(Value) + sizeof(Text));
         lines.emplace_back(std::move(line), s.is_safe());
       }
       return Value::list(std::move(lines));
     }},
    {"startswith",
     [](Machine& m, const Value& s, const Arguments& a) { return affix_method(m, s, a, "startswith", false); }},
    {"endswith",
     [](Machine& m, const Value& s, const Arguments& a) { return affix_method(m, s, a, "endswith", true); }},
    {"removeprefix",
     [](Machine& m, const Value& s, const Arguments& a) { return remove_affix(m, s, a, "removeprefix", false); }},
    {"removesuffix",
     [](Machine& m, const Value& s, const Arguments& a) { return remove_affix(m, s, a, "removesuffix", true); }},
    {"replace", replace_method},
    {"join", join_method},
    {"count", count_method},
    {"find", [](Machine& m, const Value& s, const Arguments& a) { return find_method(m, s, a, "find", false, false); }},
    {"rfind",
     [](Machine& m, const Value& s, const Arguments& a) { return find_method(m, s, a, "rfind", true, false); }},
    {"index",
     [](Machine& m, const Value& s, const Arguments& a) { return find_method(m, s, a, "index", false, true); }},
    {"rindex",
     [](Machine& m, const Value& s, const Arguments& a) { return find_method(m, s, a, "rindex", true, true); }},
    {"partition",
     [](Machine& m, const Value& s, const Arguments& a) { return partition_method(m, s, a, "partition", false); }},
    {"rpartition",
     [](Machine& m, const Value& s, const Arguments& a) { return partition_method(m, s, a, "rpartition", true); }},
    {"center", [](Machine& m, const Value& s, const Arguments& a) { return pad_method(m, s, a, "center", '^'); }},
    {"ljust", [](Machine& m, const Value& s, const Arguments& a) { return pad_method(m, s, a, "ljust", '<'); }},
    {"rjust", [](Machine& m, const Value& s, const Arguments& a) { return pad_method(m, s, a, "rjust", '>'); }},
    {"zfill", zfill_method},
    {"expandtabs", expand_tabs},
    {"format", [](Machine& m, const Value& s,
                  const Arguments& a) { return m.text(format_braces(s.string(), a, m), s.is_safe()); }},
    {"format_map",
     [](Machine& m, const Value& s, const Arguments& a) {
       const Value mapping = *a.bind("format_map", {"mapping"}, 1)[0];
       if (!mapping.is(Kind::dict)) throw Problem("format_map() expects a dict");
       Arguments named;
       for (const auto& [key, value] : mapping.object<Dict>().items) named.named.emplace_back(m.to_text(key), value);
       return m.text(format_braces(s.string(), named, m), s.is_safe());
     }},
    {"isdigit",
     [](Machine& m, const Value& s, const Arguments&) {
       return all_letters(m, s, [](char32_t c) { return is_decimal(c) || c == 0xB2 || c == 0xB3 || c == 0xB9; });
     }},
    {"isdecimal", [](Machine& m, const Value& s, const Arguments&) { return all_letters(m, s, is_decimal); }},
    {"isnumeric", [](Machine& m, const Value& s,
                     const Arguments&) { return all_letters(m, s, [](char32_t c) { return has_category(c, "N"); }); }},
    {"isalpha", [](Machine& m, const Value& s,
                   const Arguments&) { return all_letters(m, s, [](char32_t c) { return has_category(c, "L"); }); }},
    {"isalnum",
     [](Machine& m, const Value& s, const Arguments&) {
       return all_letters(m, s, [](char32_t c) { return has_category(c, "L") || has_category(c, "N"); });
     }},
    {"isspace", [](Machine& m, const Value& s, const Arguments&) { return all_letters(m, s, is_python_space); }},
    {"isascii",
     [](Machine& m, const Value& s, const Arguments&) {
       return Value(s.string().empty() || truth(all_letters(m, s, [](char32_t c) { return c < 0x80; })));
     }},
    {"isupper", [](Machine& m, const Value& s, const Arguments&) { return has_case(m, s, "Lu", "Ll"); }},
    {"islower", [](Machine& m, const Value& s, const Arguments&) { return has_case(m, s, "Ll", "Lu"); }},
    {"istitle",
     [](Machine& m, const Value& s, const Arguments&) {
       const bool has_letters = upper(s.string()) != lower(s.string());
       return Value(has_letters && m.text(title(s.string())).string() == s.string());
     }},
    {"isidentifier",
     [](Machine& m, const Value& s, const Arguments&) {
       const std::string& text = s.string();
       const bool digit = !text.empty() && text[0] >= '0' && text[0] <= '9';
       return Value(!digit && truth(all_letters(m, s, [](char32_t c) {
         return c == '_' || has_category(c, "L") || has_category(c, "N") || has_category(c, "M");
       })));
     }},
};

Value count_items(Machine& machine, const Value& self, const Arguments& arguments) {
  const Value wanted = *arguments.bind("count", {"value"}, 1)[0];
  return std::ranges::count_if(self.items(), [&](const Value& item) { return equal(item, wanted, machine.budget()); });
}
Value index_of_item(Machine& machine, const Value& self, const Arguments& arguments) {
  const auto bound = arguments.bind("index", {"value", "start", "stop"}, 1);
  const auto size = std::ssize(self.items());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  for (std::int64_t i = place(whole(bound[1], 0)), end = place(whole(bound[2], size)); i < end; ++i)
    if (equal(self.items()[static_cast<std::size_t>(i)], *bound[0], machine.budget())) return i;
  throw Problem(represent(*bound[0], machine.budget()) + " is not in " + std::string(type_name(self)));
}
Value copy_items(Machine&, const Value& self, const Arguments&) { return self; }

constexpr NamedMethod kListMethods[] = {{"count", count_items}, {"index", index_of_item}, {"copy", copy_items}};

Value view(Machine& machine, const Value& self, const char* name, bool keys, bool values) {
  std::vector<Value> items;
  machine.budget().bytes(self.object<Dict>().items.size() * sizeof(Value) * 2);
  for (const auto& [key, value] : self.object<Dict>().items)
    items.push_back(keys && values ? Value::tuple({key, value}) : keys ? key : value);
  return Value::sequence(Kind::view, std::move(items), name);
}

constexpr NamedMethod kDictMethods[] = {
    {"keys", [](Machine& m, const Value& s, const Arguments&) { return view(m, s, "dict_keys", true, false); }},
    {"values", [](Machine& m, const Value& s, const Arguments&) { return view(m, s, "dict_values", false, true); }},
    {"items", [](Machine& m, const Value& s, const Arguments&) { return view(m, s, "dict_items", true, true); }},
    {"get",
     [](Machine& m, const Value& s, const Arguments& a) {
       const auto bound = a.bind("get", {"key", "default"}, 1);
       const Value* value = s.object<Dict>().find(*bound[0], m.budget());
       return value ? *value : bound[1].value_or(Value());
     }},
    {"copy", copy_items},
};

constexpr NamedMethod kNumberMethods[] = {
    {"is_integer", [](Machine&, const Value& s,
                      const Arguments&) { return Value(s.is_integral() || std::floor(s.real()) == s.real()); }},
};

/// Methods that would change a list or a dict, which the sandbox of transformers forbids.
constexpr const char* kListChanges[] = {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
constexpr const char* kDictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};

std::optional<Value> find_method_in(std::span<const NamedMethod> methods, const Value& object, const std::string& name,
                                    Machine& machine) {
  const auto found = std::ranges::find_if(methods, [&](const NamedMethod& one) { return one.name == name; });
  if (found == methods.end()) return {};
  machine.budget().bytes(sizeof(Function));
  return make_function(
      name,
      [&machine, object, call = found->call](const Arguments& arguments) { return call(machine, object, arguments); },
      {object});
}

Value forbidden(const Value& object, const std::string& name) {
  return Value::undefined("access to attribute '" + name + "' of '" + std::string(type_name(object)) +
                          "' object is unsafe.");
}

}  // namespace

std::optional<Value> find_attribute(const Value& object, const std::string& name, Machine& machine) {
  const auto is_one_of = [&](const auto& names) { return std::ranges::find(names, name) != std::end(names); };
  switch (object.kind()) {
    case Kind::string:
      return find_method_in(kTextMethods, object, name, machine);
    case Kind::list:
      if (is_one_of(kListChanges)) return forbidden(object, name);
      return find_method_in(kListMethods, object, name, machine);
    case Kind::tuple:
    case Kind::range:
      return find_method_in(std::span(kListMethods).first(2), object, name, machine);
    case Kind::dict:
      if (is_one_of(kDictChanges)) return forbidden(object, name);
      return find_method_in(kDictMethods, object, name, machine);
    case Kind::names: {
      const Value* value = object.object<Names>().find(name);
      return value ? std::optional(*value) : std::nullopt;
    }
    case Kind::function:
      for (const auto& [key, value] : object.object<Function>().attributes)
        if (key == name) return value();
      return {};
    case Kind::boolean:
    case Kind::integer:
      if (name == "real" || name == "numerator") return Value(object.integer());
      if (name == "imag") return Value(0);
      if (name == "denominator") return Value(1);
      return find_method_in(kNumberMethods, object, name, machine);
    case Kind::real:
      if (name == "real") return object;
      if (name == "imag") return Value(0.0);
      return find_method_in(kNumberMethods, object, name, machine);
    default:
      return {};
  }
}

}  // namespace attend::jinja
