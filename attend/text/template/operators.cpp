// Arithmetic and the formatting of strings, as in Python.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attend/text/template/machine.h"
#include "attend/text/template/python_text.h"
#include "attend/text/unicode.h"

namespace attend::jinja {
namespace {

constexpr std::int64_t kWidestField = 10'000;

std::string_view sign_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return "+";
    case Operation::subtract:
      return "-";
    case Operation::multiply:
      return "*";
    case Operation::divide:
      return "/";
    case Operation::floor_divide:
      return "//";
    case Operation::modulo:
      return "%";
    default:
      return "** or pow()";
  }
}

[[noreturn]] void fail_operands(Operation operation, const Value& a, const Value& b) {
  if (a.is(Kind::undefined)) fail_undefined(a);
  if (b.is(Kind::undefined)) fail_undefined(b);
  throw Problem("unsupported operand type(s) for " + std::string(sign_of(operation)) + ": '" +
                std::string(type_name(a)) + "' and '" + std::string(type_name(b)) + "'");
}

[[noreturn]] void fail_overflow() { throw Problem("an integer is larger than 64 bits"); }

double floor_modulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return rest;
}

Value operate_on_reals(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::power:
      if (a == 0 && b < 0) throw Problem("0.0 cannot be raised to a negative power");
      return std::pow(a, b);
    default:
      break;
  }
  if (b == 0) throw Problem("division by zero");
  if (operation == Operation::divide) return a / b;
  if (operation == Operation::modulo) return floor_modulo(a, b);
  return std::floor((a - floor_modulo(a, b)) / b + 0.5);
}

Value operate_on_integers(Operation operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (operation) {
    case Operation::add:
      if (__builtin_add_overflow(a, b, &result)) fail_overflow();
      return result;
    case Operation::subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail_overflow();
      return result;
    case Operation::multiply:
      if (__builtin_mul_overflow(a, b, &result)) fail_overflow();
      return result;
    case Operation::power:
      if (b < 0) return operate_on_reals(operation, static_cast<double>(a), static_cast<double>(b));
      result = 1;
      if (a == 0 || a == 1) return b == 0 ? 1 : a;
      if (a == -1) return b % 2 == 0 ? 1 : -1;
      for (; b > 0; --b)
        if (__builtin_mul_overflow(result, a, &result)) fail_overflow();
      return result;
    default:
      break;
  }
  if (b == 0) throw Problem("division by zero");
  if (operation == Operation::divide) return static_cast<double>(a) / static_cast<double>(b);
  if (b == -1) {
    if (operation == Operation::modulo) return 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &result)) fail_overflow();
    return result;
  }
  const std::int64_t rest = a % b, quotient = a / b;
  const bool lower = rest != 0 && (rest < 0) != (b < 0);
  return operation == Operation::modulo ? rest + (lower ? b : 0) : quotient - (lower ? 1 : 0);
}

Value repeat(const Value& value, std::int64_t count, Machine& machine) {
  count = std::max<std::int64_t>(count, 0);
  const bool is_text = value.is(Kind::string);
  const std::size_t size = is_text ? value.string().size() : value.items().size() * sizeof(Value);
  if (size > 0 && count > (std::int64_t{1} << 32) / static_cast<std::int64_t>(size))
    throw Problem("the template makes too much text");
  machine.budget().bytes(size * static_cast<std::size_t>(count));
  if (is_text) {
    std::string text;
    text.reserve(size * static_cast<std::size_t>(count));
    for (; count > 0 && size > 0; --count) text += value.string();
    return {std::move(text), value.is_safe()};
  }
  std::vector<Value> items;
  for (; count > 0 && size > 0; --count) items.insert(items.end(), value.items().begin(), value.items().end());
  return Value::sequence(value.kind(), std::move(items));
}

/// How a value is to be printed: Python's format specification, or what follows % in a format.
struct FieldStyle {
  std::string fill = " ";
  char align = 0;  // < > ^ =
  char sign = '-';
  bool alternate = false;
  std::int64_t width = 0;
  char group = 0;  // , or _
  std::int64_t precision = -1;
  char type = 0;
};

std::string grouped_digits(const std::string& digits, char group, std::size_t every) {
  if (group == 0) return digits;
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % every == 0) out += group;
    out += digits[i];
  }
  return out;
}

std::string padded(const std::string& sign, const std::string& body, const FieldStyle& style, char usual) {
  const auto size = count_code_points(sign) + count_code_points(body);
  const std::int64_t missing = std::max<std::int64_t>(style.width - size, 0);
  const char align = style.align ? style.align : usual;
  const std::int64_t left = align == '<' || align == '=' ? 0 : align == '^' ? missing / 2 : missing;
  const auto fill = [&](std::int64_t count) {
    std::string text;
    for (; count > 0; --count) text += style.fill;
    return text;
  };
  if (align == '=') return sign + fill(missing) + body;
  return fill(left) + sign + body + fill(missing - left);
}

std::string sign_text(bool negative, char style) {
  return negative ? "-" : style == '+' ? "+" : style == ' ' ? " " : "";
}

std::string format_integer(std::int64_t value, const FieldStyle& style) {
  const bool negative = value < 0;
  std::uint64_t rest = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const unsigned base = style.type == 'x' || style.type == 'X' ? 16
                        : style.type == 'o'                    ? 8
                        : style.type == 'b'                    ? 2
                                                               : 10;
  std::string digits;
  do {
    const auto digit = static_cast<char>(rest % base);
    digits += static_cast<char>(digit < 10 ? '0' + digit : (style.type == 'X' ? 'A' : 'a') + digit - 10);
  } while ((rest /= base) > 0);
  while (std::ssize(digits) < style.precision) digits += '0';
  std::ranges::reverse(digits);
  std::string sign = sign_text(negative, style.sign);
  if (style.alternate && base != 10) (sign += '0') += style.type;
  return padded(sign, grouped_digits(digits, style.group, base == 10 ? 3 : 4), style, '>');
}

std::string format_real(double value, const FieldStyle& style) {
  const bool negative = std::signbit(value);
  double size = std::fabs(value);
  std::string body;
  char type = style.type;
  if (std::isnan(value) || std::isinf(value)) {
    body = std::isnan(value) ? "nan" : "inf";
  } else if (type == 0 && style.precision < 0) {
    body = real_text(size);
  } else {
    if (type == '%') size *= 100;
    const char letter = type == '%' ? 'f' : type == 0 || type == 'n' ? 'g' : type;
    const std::string format = std::string(style.alternate ? "%#" : "%") + ".*" + letter;
    const int precision = static_cast<int>(style.precision < 0 ? 6 : style.precision);
    body.resize(static_cast<std::size_t>(std::snprintf(nullptr, 0, format.c_str(), precision, size)));
    std::snprintf(body.data(), body.size() + 1, format.c_str(), precision, size);
    if (type == 0 && body.find_first_of(".en") == std::string::npos) body += ".0";
    if (type == '%') body += '%';
  }
  if (style.group) {
    const std::size_t whole = std::min(body.find_first_not_of("0123456789"), body.size());
    body = grouped_digits(body.substr(0, whole), style.group, 3) + body.substr(whole);
  }
  return padded(sign_text(negative, style.sign), body, style, '>');
}

std::string format_text(std::string text, const FieldStyle& style) {
  if (style.precision >= 0 && style.precision < count_code_points(text))
    text = std::string(Letters(text).part(0, static_cast<std::size_t>(style.precision)));
  return padded("", text, style, '<');
}

std::int64_t read_number(std::string_view text, std::size_t& at) {
  std::int64_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    number = number * 10 + (text[at] - '0');
    if (number > kWidestField) throw Problem("a field of a format is wider than " + std::to_string(kWidestField));
  }
  return number;
}

double number_of(const Value& value, char type) {
  if (value.is(Kind::undefined)) fail_undefined(value);
  if (!value.is_number())
    throw Problem(std::string("format %") + type + " requires a number, not " + std::string(type_name(value)));
  return value.real();
}
std::int64_t integer_of(const Value& value, char type) {
  const double number = number_of(value, type);
  if (value.is_integral()) return value.integer();
  if (!(std::fabs(number) < 9e18)) throw Problem("cannot convert this number to an integer");
  return static_cast<std::int64_t>(number);
}

/// [[fill]align][sign][#][0][width][group][.precision][type]
std::string format_field(const Value& value, std::string_view spec, Machine& machine) {
  if (spec.empty()) return machine.to_text(value);
  FieldStyle style;
  std::size_t at = 0;
  const auto first = static_cast<std::size_t>(decode_utf8(spec, 0).size);
  const auto is_align = [&](std::size_t i) { return i < spec.size() && std::string_view("<>^=").find(spec[i]) < 4; };
  if (is_align(first)) {
    style.fill = spec.substr(0, first), style.align = spec[first], at = first + 1;
  } else if (is_align(0)) {
    style.align = spec[0], at = 1;
  }
  const auto take = [&](std::string_view letters) {
    return at < spec.size() && letters.find(spec[at]) != letters.npos ? spec[at++] : '\0';
  };
  if (const char sign = take("+- ")) style.sign = sign;
  style.alternate = take("#") != 0;
  if (take("0") && style.align == 0) style.fill = "0", style.align = value.is_number() ? '=' : '<';
  style.width = read_number(spec, at);
  style.group = take(",_");
  if (take(".")) style.precision = read_number(spec, at);
  if (at < spec.size()) style.type = spec[at++];
  if (at < spec.size()) throw Problem("invalid format specifier '" + std::string(spec) + "'");
  machine.budget().bytes(static_cast<std::size_t>(style.width) * style.fill.size());

  const std::string_view integers = "dxXobc", reals = "eEfFgG%n";
  const bool is_boolean = value.is(Kind::boolean);
  if (value.is_number() && reals.find(style.type) != reals.npos && style.type != 0)
    return format_real(value.real(), style);
  if (value.is(Kind::real) && style.type == 0) return format_real(value.real(), style);
  if (value.is_integral() && style.type == 'c') {
    std::string letter;
    append_utf8(static_cast<char32_t>(std::clamp<std::int64_t>(value.integer(), 0, 0x10FFFF)), letter);
    return padded("", letter, style, '<');
  }
  if (value.is_integral() && (integers.find(style.type) != integers.npos || (style.type == 0 && !is_boolean)))
    return format_integer(value.integer(), style);
  if (style.type == 0 && is_boolean) return format_integer(value.integer(), style);
  if (style.type != 0 && style.type != 's')
    throw Problem(std::string("unknown format code '") + style.type + "' for object of type '" +
                  std::string(type_name(value)) + "'");
  if (!value.is(Kind::string)) throw Problem("unsupported format string passed to " + std::string(type_name(value)));
  return format_text(value.string(), style);
}

/// Replaces the fields of a format: {}, {0}, {name.attribute[key]!r:>10}.
class BraceFormat {
 public:
  BraceFormat(const Arguments& arguments, Machine& machine) : arguments_(arguments), machine_(machine) {}

  std::string run(std::string_view format, int level) {
    if (level > 2) throw Problem("the fields of a format are nested too deep");
    std::string out;
    for (std::size_t at = 0; at < format.size(); ++at) {
      const char c = format[at];
      const bool twice = at + 1 < format.size() && format[at + 1] == c;
      if ((c == '{' || c == '}') && twice && level == 1) {
        out += c;
        ++at;
      } else if (c == '{') {
        const std::size_t begin = at + 1;
        for (int open = 1; open > 0;) {
          if (++at >= format.size()) throw Problem("expected '}' before end of string");
          open += format[at] == '{' ? 1 : format[at] == '}' ? -1 : 0;
        }
        out += field(format.substr(begin, at - begin), level);
      } else if (c == '}') {
        throw Problem("single '}' encountered in format string");
      } else {
        out += c;
      }
    }
    machine_.budget().bytes(out.size());
    return out;
  }

 private:
  std::string field(std::string_view text, int level) {
    const std::size_t colon = text.find(':');
    std::string_view name = text.substr(0, colon), spec = colon == text.npos ? "" : text.substr(colon + 1);
    char conversion = 0;
    if (const std::size_t mark = name.find('!'); mark != name.npos) {
      if (mark + 2 != name.size()) throw Problem("the conversion of a field must be one letter");
      conversion = name[mark + 1];
      name = name.substr(0, mark);
    }
    Value value = look_up(name);
    if (conversion == 's') value = machine_.text(machine_.to_text(value));
    if (conversion == 'r' || conversion == 'a') value = machine_.text(represent(value, machine_.budget()));
    return format_field(value, run(spec, level + 1), machine_);
  }

  Value look_up(std::string_view name) {
    const std::size_t end = std::min(name.find_first_of(".["), name.size());
    const std::string_view first = name.substr(0, end);
    Value value;
    if (first.empty() || std::ranges::all_of(first, [](char c) { return c >= '0' && c <= '9'; })) {
      std::size_t at = 0;
      const auto index = first.empty() ? next_++ : static_cast<std::size_t>(read_number(first, at));
      if (index >= arguments_.positional.size())
        throw Problem("replacement index " + std::to_string(index) + " out of range for positional arguments");
      value = arguments_.positional[index];
    } else {
      const auto found = std::ranges::find(arguments_.named, first, &std::pair<std::string, Value>::first);
      if (found == arguments_.named.end()) throw Problem("the format needs the argument '" + std::string(first) + "'");
      value = found->second;
    }
    for (std::string_view rest = name.substr(end); !rest.empty();) {
      if (rest[0] == '.') {
        const std::size_t size = std::min(rest.find_first_of(".[", 1), rest.size());
        value = machine_.attribute(value, std::string(rest.substr(1, size - 1)));
        rest = rest.substr(size);
      } else {
        const std::size_t close = rest.find(']');
        if (rest[0] != '[' || close == rest.npos) throw Problem("missing ']' in format string");
        const std::string_view key = rest.substr(1, close - 1);
        std::size_t at = 0;
        const bool is_index = !key.empty() && key.find_first_not_of("0123456789") == key.npos;
        value = machine_.item(value, is_index ? Value(read_number(key, at)) : Value(std::string(key)));
        rest = rest.substr(close + 1);
      }
    }
    return value;
  }

  const Arguments& arguments_;
  Machine& machine_;
  std::size_t next_ = 0;
};

}  // namespace

Value operate(Operation operation, const Value& a, const Value& b, Machine& machine) {
  const auto is_text = [](const Value& value) { return value.is(Kind::string); };
  const auto is_items = [](const Value& value) { return value.is(Kind::list) || value.is(Kind::tuple); };
  if (a.is_integral() && b.is_integral()) return operate_on_integers(operation, a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return operate_on_reals(operation, a.real(), b.real());
  if (operation == Operation::add && is_text(a) && is_text(b)) {
    const bool safe = a.is_safe() || b.is_safe();
    const auto part = [&](const Value& value) {
      return safe && !value.is_safe() ? escape_html(value.string()) : value.string();
    };
    return machine.text(part(a) + part(b), safe);
  }
  if (operation == Operation::add && is_items(a) && a.kind() == b.kind()) {
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    machine.budget().bytes(items.size() * sizeof(Value));
    return Value::sequence(a.kind(), std::move(items));
  }
  if (operation == Operation::multiply && b.is_integral() && (is_text(a) || is_items(a)))
    return repeat(a, b.integer(), machine);
  if (operation == Operation::multiply && a.is_integral() && (is_text(b) || is_items(b)))
    return repeat(b, a.integer(), machine);
  if (operation == Operation::modulo && is_text(a))
    return machine.text(format_percent(a.string(), b, machine), a.is_safe());
  if (operation == Operation::add && is_text(a) && !b.is(Kind::undefined))
    throw Problem("can only concatenate str (not \"" + std::string(type_name(b)) + "\") to str");
  fail_operands(operation, a, b);
}

std::string format_percent(const std::string& format, const Value& arguments, Machine& machine) {
  const std::vector<Value> values = arguments.is(Kind::tuple) ? arguments.items() : std::vector<Value>{arguments};
  std::size_t used = 0;
  bool by_name = arguments.is(Kind::dict) || arguments.is(Kind::list);
  const auto next = [&]() -> const Value& {
    if (used >= values.size()) throw Problem("not enough arguments for format string");
    return values[used++];
  };
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    FieldStyle style;
    style.align = '>';
    std::optional<Value> named;
    if (++at < format.size() && format[at] == '(') {
      const std::size_t close = format.find(')', at);
      if (close == std::string::npos) throw Problem("incomplete format key");
      if (!arguments.is(Kind::dict)) throw Problem("format requires a mapping");
      const std::string key = format.substr(at + 1, close - at - 1);
      const Value* value = arguments.object<Dict>().find(Value(key), machine.budget());
      if (!value) throw Problem("the format needs the key '" + key + "'");
      named = *value;
      by_name = true;
      at = close + 1;
    }
    for (; at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos; ++at) {
      if (format[at] == '-') style.align = '<', style.fill = " ";
      if (format[at] == '+' || (format[at] == ' ' && style.sign != '+')) style.sign = format[at];
      if (format[at] == '#') style.alternate = true;
      if (format[at] == '0' && style.align != '<') style.align = '=', style.fill = "0";
    }
    const auto star = [&] { return std::clamp(integer_of(next(), '*'), -kWidestField, kWidestField); };
    if (at < format.size() && format[at] == '*') {
      style.width = star(), ++at;
      if (style.width < 0) style.width = -style.width, style.align = '<', style.fill = " ";
    } else {
      style.width = read_number(format, at);
    }
    if (at < format.size() && format[at] == '.') {
      ++at;
      style.precision = at < format.size() && format[at] == '*' ? (++at, star()) : read_number(format, at);
    }
    while (at < format.size() && std::string_view("hlL").find(format[at]) != std::string_view::npos) ++at;
    if (at >= format.size()) throw Problem("incomplete format");
    const char type = format[at];
    if (type == '%') {
      out += '%';
      continue;
    }
    machine.budget().bytes(static_cast<std::size_t>(style.width));
    const Value& value = named ? *named : next();
    const auto text_style = [&] {
      if (style.align == '=') style.align = '>', style.fill = " ";
      return style;
    };
    switch (type) {
      case 's':
        out += format_text(machine.to_text(value), text_style());
        break;
      case 'r':
      case 'a':
        out += format_text(represent(value, machine.budget()), text_style());
        break;
      case 'c': {
        std::string letter = value.is(Kind::string) ? value.string() : "";
        if (!value.is(Kind::string))
          append_utf8(static_cast<char32_t>(std::clamp<std::int64_t>(integer_of(value, 'c'), 0, 0x10FFFF)), letter);
        out += padded("", letter, text_style(), '>');
        break;
      }
      case 'd':
      case 'i':
      case 'u':
        style.type = 'd';
        out += format_integer(integer_of(value, 'd'), style);
        break;
      case 'x':
      case 'X':
      case 'o':
        style.type = type;
        out += format_integer(integer_of(value, type), style);
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        style.type = type;
        out += format_real(number_of(value, type), style);
        break;
      default:
        throw Problem(std::string("unsupported format character '") + type + "'");
    }
  }
  if (used < values.size() && !by_name) throw Problem("not all arguments converted during string formatting");
  return out;
}

std::string format_braces(const std::string& format, const Arguments& arguments, Machine& machine) {
  return BraceFormat(arguments, machine).run(format, 1);
}

}  // namespace attend::jinja
