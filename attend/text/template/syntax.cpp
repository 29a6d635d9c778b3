#include "attend/text/template/syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <unordered_map>

#include "attend/text/template/python_text.h"
#include "attend/text/unicode.h"

namespace attend::jinja {
namespace {

constexpr std::size_t kLongestSource = 1 << 20;
constexpr std::uint32_t kDeepestNode = 500;
constexpr int kDeepestParse = 150;

struct Token {
  enum class Kind : std::uint8_t {
    data,
    variable_begin,
    variable_end,
    block_begin,
    block_end,
    name,
    string,
    integer,
    real,
    sign,
    end,
  };
  Kind kind = Kind::end;
  std::string text = {};
  Place place = {};
  std::int64_t integer = 0;
  double real = 0;

  bool is(Kind other) const { return kind == other; }
  bool is_sign(std::string_view sign) const { return kind == Kind::sign && text == sign; }
  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
  std::string shown() const {
    switch (kind) {
      case Kind::data:
        return "text";
      case Kind::variable_begin:
        return "{{";
      case Kind::variable_end:
        return "}}";
      case Kind::block_begin:
        return "{%";
      case Kind::block_end:
        return "%}";
      case Kind::end:
        return "the end of the template";
      default:
        return "\"" + text + "\"";
    }
  }
};

/// Line ends are \n, and one at the end of the template is dropped.
std::string normalized(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return replace_invalid_utf8(text);
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) root();
    add(Token::Kind::end, at_);
    return std::move(tokens_);
  }

 private:
  using Type = Token::Kind;

  [[noreturn]] void fail(std::size_t at, const std::string& what) { throw SyntaxProblem(place(at), what); }

  /// Calls come in the order of the source, so that lines are counted once.
  Place place(std::size_t at) {
    for (; counted_ < at; ++counted_)
      if (source_[counted_] == '\n') {
        ++line_, line_begin_ = counted_ + 1;
      }
    if (at < line_begin_) return {line_, 1};
    return {line_, static_cast<std::uint32_t>(count_code_points(source_.substr(line_begin_, at - line_begin_)) + 1)};
  }

  Token& add(Type type, std::size_t at, std::string text = {}) {
    return tokens_.emplace_back(Token{type, std::move(text), place(at)});
  }

  bool has(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  void skip_space() { at_ += leading_space(source_.substr(at_)); }
  /// A sign after the beginning of a tag, or 0.
  char take_sign() {
    if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) return source_[at_++];
    return 0;
  }
  /// The end of a tag: `%}` with its signs. Whether it is there.
  bool take_end(std::string_view end, bool plus, bool trim) {
    const std::size_t begin = at_;
    if (has(end)) {
      at_ += end.size();
      if (trim && has("\n")) ++at_;
    } else if (has("-") && source_.substr(at_ + 1).starts_with(end)) {
      at_ += 1 + end.size();
      skip_space();
    } else if (plus && has("+") && source_.substr(at_ + 1).starts_with(end)) {
      at_ += 1 + end.size();
    } else {
      return false;
    }
    starts_line_ = at_ > begin && source_[at_ - 1] == '\n';
    return true;
  }

  /// Text before a tag, of which the tag may strip white space.
  void add_data(std::size_t begin, std::size_t end, char sign, bool variable) {
    std::string_view text = source_.substr(begin, end - begin);
    if (sign == '-') {
      text.remove_suffix(trailing_space(text));
    } else if (sign != '+' && !variable) {
      const std::size_t line = text.rfind('\n') + 1;
      if ((line > 0 || starts_line_) && leading_space(text.substr(line)) == text.size() - line)
        text = text.substr(0, line);
    }
    if (!text.empty()) add(Type::data, begin, std::string(text));
    starts_line_ = false;
  }

  void root() {
    const std::size_t begin = at_;
    std::size_t tag = begin;
    do {
      tag = source_.find('{', tag);
      if (tag == source_.npos || tag + 1 >= source_.size()) {
        add(Type::data, begin, std::string(source_.substr(begin)));
        at_ = source_.size();
        return;
      }
      const char next = source_[tag + 1];
      if (next == '%' || next == '{' || next == '#') break;
      ++tag;
    } while (true);
    at_ = tag + 2;
    const char kind = source_[tag + 1], sign = take_sign();
    add_data(begin, tag, sign, kind == '{');
    if (kind == '#') return comment(tag);
    if (kind == '%' && raw(tag)) return;
    add(kind == '{' ? Type::variable_begin : Type::block_begin, tag);
    inside(tag, kind == '{');
  }

  void comment(std::size_t tag) {
    const std::size_t begin = at_, end = source_.find("#}", at_);
    if (end == source_.npos) fail(tag, "the comment does not end");
    at_ = end > begin && (source_[end - 1] == '-' || source_[end - 1] == '+') ? end - 1 : end;
    take_end("#}", true, true);
  }

  /// {% raw %} … {% endraw %}: text as it is.
  bool raw(std::size_t tag) {
    const std::size_t before = at_;
    skip_space();
    bool found = has("raw");
    if (found) {
      at_ += 3;
      skip_space();
      found = take_end("%}", false, false);
    }
    if (!found) {
      at_ = before;
      return false;
    }
    const std::size_t begin = at_;
    for (std::size_t end = begin; (end = source_.find("{%", end)) != source_.npos; end += 2) {
      at_ = end + 2;
      const char sign = take_sign();
      skip_space();
      if (!has("endraw")) continue;
      at_ += 6;
      skip_space();
      if (!has("%}") && !has("-%}") && !has("+%}")) continue;
      add_data(begin, end, sign, false);
      take_end("%}", true, true);
      return true;
    }
    fail(tag, "the raw block does not end");
  }

  void inside(std::size_t tag, bool variable) {
    std::string open;
    while (true) {
      if (at_ >= source_.size()) fail(tag, "the tag does not end");
      if (open.empty() && (variable ? take_end("}}", false, false) : take_end("%}", true, true))) {
        add(variable ? Type::variable_end : Type::block_end, at_);
        return;
      }
      if (const std::size_t space = leading_space(source_.substr(at_))) {
        at_ += space;
        continue;
      }
      const char c = source_[at_];
      if (c >= '0' && c <= '9') {
        number();
      } else if (c == '\'' || c == '"') {
        string();
      } else if (is_word(at_)) {
        const std::size_t begin = at_;
        while (at_ < source_.size() && is_word(at_)) at_ += static_cast<std::size_t>(decode_utf8(source_, at_).size);
        add(Type::name, begin, std::string(source_.substr(begin, at_ - begin)));
      } else {
        sign(open);
      }
    }
  }

  bool is_word(std::size_t at) const {
    const CodePoint c = decode_utf8(source_, at);
    return c.value == '_' || (properties(c.value) & property::kWord);
  }

  void sign(std::string& open) {
    const std::size_t begin = at_;
    for (const std::string_view two : {"//", "**", "==", "!=", ">=", "<="})
      if (has(two)) {
        at_ += 2;
        add(Type::sign, begin, std::string(two));
        return;
      }
    const char c = source_[at_];
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
      fail(at_, "unexpected character " +
                    std::string(source_.substr(at_, static_cast<std::size_t>(decode_utf8(source_, at_).size))));
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c == ')' || c == ']' || c == '}') {
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != wanted) fail(at_, std::string("unexpected \"") + c + "\"");
      open.pop_back();
    }
    ++at_;
    add(Type::sign, begin, std::string(1, c));
  }

  /// Digits, with single _ between them.
  std::string digits(int base) {
    std::string text;
    const auto is_digit = [&](std::size_t at) {
      if (at >= source_.size()) return false;
      const char c = source_[at];
      const int value = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
      return value < base;
    };
    while (is_digit(at_) || (at_ < source_.size() && source_[at_] == '_' && is_digit(at_ + 1)))
      if (const char c = source_[at_++]; c != '_') text += c;
    return text;
  }

  void number() {
    const std::size_t begin = at_;
    int base = 10;
    if (source_[at_] == '0' && at_ + 1 < source_.size()) {
      const char letter = static_cast<char>(source_[at_ + 1] | 32);
      base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    }
    if (base != 10) at_ += 2;
    std::string text = digits(base);
    bool real = false;
    const bool after_dot = begin > 0 && source_[begin - 1] == '.';
    const auto digit_at = [&](std::size_t at) {
      return at < source_.size() && source_[at] >= '0' && source_[at] <= '9';
    };
    if (base == 10 && !after_dot) {
      if (has(".") && digit_at(at_ + 1)) {
        ++at_;
        text += '.' + digits(10);
        real = true;
      }
      if (has("e") || has("E")) {
        const std::size_t sign =
            at_ + 1 < source_.size() && (source_[at_ + 1] == '+' || source_[at_ + 1] == '-') ? 1 : 0;
        if (digit_at(at_ + 1 + sign)) {
          text += source_.substr(at_, 1 + sign);
          at_ += 1 + sign;
          text += digits(10);
          real = true;
        }
      }
    }
    Token& token = add(real ? Type::real : Type::integer, begin, std::string(source_.substr(begin, at_ - begin)));
    const char* last = text.data() + text.size();
    const auto [end, error] =
        real ? std::from_chars(text.data(), last, token.real) : std::from_chars(text.data(), last, token.integer, base);
    if (real && error == std::errc::result_out_of_range)
      token.real = text.find("e-") == std::string::npos && text.find("E-") == std::string::npos
                       ? std::numeric_limits<double>::infinity()
                       : 0;
    else if (error != std::errc() || end != last)
      fail(begin, "the number is not valid or too large");
  }

  void string() {
    const std::size_t begin = at_;
    const char quote = source_[at_++];
    std::string text;
    while (at_ < source_.size() && source_[at_] != quote) {
      if (source_[at_] == '\\' && at_ + 1 < source_.size()) {
        ++at_;
        escape(text);
      } else {
        text += source_[at_++];
      }
    }
    if (at_ >= source_.size()) fail(begin, "the string does not end");
    ++at_;
    add(Type::string, begin, std::move(text));
  }

  void escape(std::string& text) {
    constexpr std::string_view kLetters = "ntrabfv\\'\"", kValues = "\n\t\r\a\b\f\v\\'\"";
    const char c = source_[at_++];
    if (c == '\n') return;
    if (const std::size_t known = kLetters.find(c); known != kLetters.npos) {
      text += kValues[known];
      return;
    }
    const std::size_t size = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (size > 0) return code_point(size, 16, size, text);
    if (c >= '0' && c <= '7') {
      --at_;
      return code_point(3, 8, 1, text);
    }
    (text += '\\') += c;
  }
  void code_point(std::size_t most, int base, std::size_t least, std::string& text) {
    const std::string_view rest = source_.substr(at_, most);
    std::uint32_t value = 0;
    const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), value, base).ptr;
    const auto size = static_cast<std::size_t>(end - rest.data());
    if (size < least || value > 0x10FFFF) fail(at_, "the escape sequence is not valid");
    append_utf8(value >= 0xD800 && value < 0xE000 ? kReplacement : static_cast<char32_t>(value), text);
    at_ += size;
  }

  std::string_view source_;
  std::size_t at_ = 0, counted_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1;
  bool starts_line_ = true;
  std::vector<Token> tokens_;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Syntax run() {
    Syntax syntax;
    syntax.body = statements({});
    syntax.symbols = std::move(symbols_);
    return syntax;
  }

 private:
  using Op = Operation;
  using Type = Token::Kind;
  using MutableNode = std::unique_ptr<Node>;
  using Names = std::initializer_list<std::string_view>;

  /// Counts the nesting of what is being read.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kDeepestParse) parser_.fail("the template is nested too deep");
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  [[noreturn]] void fail(const std::string& what) const { throw SyntaxProblem(current().place, what); }
  bool skip_sign(std::string_view sign) { return current().is_sign(sign) && (next(), true); }
  bool skip_name(std::string_view name) { return current().is_name(name) && (next(), true); }
  void expect_sign(std::string_view sign) {
    if (!skip_sign(sign)) fail("expected \"" + std::string(sign) + "\", got " + current().shown());
  }
  void expect_name(std::string_view name) {
    if (!skip_name(name)) fail("expected \"" + std::string(name) + "\", got " + current().shown());
  }
  std::string expect_identifier() {
    if (!current().is(Type::name)) fail("expected a name, got " + current().shown());
    return next().text;
  }
  void expect(Type type, const char* shown) {
    if (!current().is(type)) fail(std::string("expected ") + shown + ", got " + current().shown());
    next();
  }

  MutableNode make(Op operation, Place place) const {
    auto node = std::make_unique<Node>();
    node->operation = operation;
    node->place = place;
    return node;
  }
  template <typename... Parts>
  MutableNode make(Op operation, Place place, Parts... parts) const {
    MutableNode node = make(operation, place);
    (add(*node, std::move(parts)), ...);
    return node;
  }
  const Node* add(Node& parent, NodePtr part) const {
    if (part) parent.depth = std::max(parent.depth, part->depth + 1);
    if (parent.depth > kDeepestNode) fail("the template is nested too deep");
    return parent.parts.emplace_back(std::move(part)).get();
  }

  Symbol symbol(const std::string& name) {
    const auto [known, is_new] = symbol_of_.try_emplace(name, static_cast<Symbol>(symbols_.size()));
    if (is_new) symbols_.push_back(name);
    return known->second;
  }
  NodePtr name_node(const std::string& name, Place place) {
    MutableNode node = make(Op::name, place);
    node->symbol = symbol(name);
    return node;
  }
  NodePtr constant(Value value, Place place) const {
    MutableNode node = make(Op::constant, place);
    node->value = std::move(value);
    return node;
  }

  // Statements

  bool at_any(Names names) const {
    return std::ranges::any_of(names, [&](std::string_view name) { return current().is_name(name); });
  }

  /// Until one of the end tags, whose name is then the current token, or the end of the template.
  NodePtr statements(Names ends) {
    const Nesting nesting(*this);
    MutableNode body = make(Op::body, current().place);
    while (true) {
      const Token& token = current();
      if (token.is(Type::end)) {
        if (ends.size() == 0) return body;
        fail("the template ends where \"" + std::string(*(ends.end() - 1)) + "\" was expected");
      }
      if (token.is(Type::data)) {
        MutableNode data = make(Op::data, token.place);
        data->value = Value(next().text);
        add(*body, std::move(data));
      } else if (token.is(Type::variable_begin)) {
        next();
        add(*body, make(Op::output, token.place, tuple()));
        expect(Type::variable_end, "\"}}\"");
      } else {
        next();
        if (at_any(ends)) return body;
        add(*body, statement());
        expect(Type::block_end, "\"%}\"");
      }
    }
  }
  NodePtr block(Names ends) {
    skip_sign(":");
    expect(Type::block_end, "\"%}\"");
    return statements(ends);
  }
  NodePtr block_to(std::string_view end) {
    NodePtr body = block({end});
    next();
    return body;
  }

  NodePtr statement() {
    const Place place = current().place;
    const std::string tag = expect_identifier();
    if (tag == "if") return if_block(place);
    if (tag == "for") return for_block(place);
    if (tag == "set") return set(place);
    if (tag == "macro") return macro(place);
    if (tag == "call") return call_block(place);
    if (tag == "filter") {
      NodePtr filters = filter_chain(nullptr, true);
      return make(Op::filter_block, place, std::move(filters), block_to("endfilter"));
    }
    if (tag == "with") return with_block(place);
    if (tag == "generation") return make(Op::scope, place, block_to("endgeneration"));
    if (tag == "block") {
      const std::string name = expect_identifier();
      while (skip_name("scoped") || skip_name("required")) {
      }
      NodePtr body = block_to("endblock");
      skip_name(name);
      return make(Op::scope, place, std::move(body));
    }
    if (tag == "print") {
      MutableNode output = make(Op::output, place);
      while (!current().is(Type::block_end)) {
        if (!output->parts.empty()) expect_sign(",");
        add(*output, expression());
      }
      return output;
    }
    if (loops_ > 0 && (tag == "break" || tag == "continue"))
      return make(tag == "break" ? Op::break_loop : Op::continue_loop, place);
    --at_;
    if (tag == "include" || tag == "import" || tag == "from" || tag == "extends")
      fail("a chat template cannot load other templates: got \"" + tag + "\"");
    fail("unknown tag \"" + tag + "\"");
  }

  NodePtr if_block(Place place) {
    MutableNode node = make(Op::if_block, place);
    do {
      add(*node, tuple(false));
      add(*node, block({"elif", "else", "endif"}));
    } while (skip_name("elif"));
    if (skip_name("else")) add(*node, block({"endif"}));
    expect_name("endif");
    return node;
  }

  NodePtr for_block(Place place) {
    MutableNode node = make(Op::for_block, place);
    add(*node, target(false, "in"));
    expect_name("in");
    add(*node, tuple(false, "recursive"));
    add(*node, skip_name("if") ? expression() : nullptr);
    node->flag = skip_name("recursive");
    ++loops_;
    add(*node, block({"else", "endfor"}));
    --loops_;
    add(*node, skip_name("else") ? block({"endfor"}) : nullptr);
    expect_name("endfor");
    return node;
  }

  NodePtr set(Place place) {
    NodePtr to = target(true);
    if (skip_sign("=")) return make(Op::set, place, std::move(to), tuple());
    NodePtr filters = filter_chain(nullptr, false);
    return make(Op::set_block, place, std::move(to), std::move(filters), block_to("endset"));
  }

  NodePtr with_block(Place place) {
    std::vector<NodePtr> assigned;
    while (!current().is(Type::block_end)) {
      if (!assigned.empty()) expect_sign(",");
      assigned.push_back(target(false));
      expect_sign("=");
      assigned.push_back(expression());
    }
    MutableNode node = make(Op::with_block, place, block_to("endwith"));
    for (NodePtr& one : assigned) add(*node, std::move(one));
    return node;
  }

  NodePtr macro(Place place) {
    const std::string name = expect_identifier();
    MutableNode node = make(Op::macro, place);
    node->symbol = symbol(name);
    node->text = name;
    std::vector<NodePtr> defaults;
    signature(*node, defaults);
    finish_macro(*node, std::move(defaults), "endmacro");
    return node;
  }
  void signature(Node& macro, std::vector<NodePtr>& defaults) {
    expect_sign("(");
    while (!current().is_sign(")")) {
      if (!macro.parameters.empty()) expect_sign(",");
      macro.parameters.push_back(symbol(expect_identifier()));
      if (skip_sign("=")) {
        defaults.push_back(expression());
      } else if (!defaults.empty()) {
        fail("a parameter without a default follows one with a default");
      }
    }
    expect_sign(")");
  }
  /// Reads the body, and finds out which special variables it uses.
  void finish_macro(Node& macro, std::vector<NodePtr> defaults, std::string_view end) {
    const auto before = special_uses_;
    add(macro, block_to(end));
    macro.uses_caller = special_uses_[0] > before[0];
    macro.uses_kwargs = special_uses_[1] > before[1];
    macro.uses_varargs = special_uses_[2] > before[2];
    for (NodePtr& one : defaults) add(macro, std::move(one));
  }

  NodePtr call_block(Place place) {
    MutableNode caller = make(Op::macro, place);
    caller->text = "caller";
    caller->symbol = symbol("caller");
    std::vector<NodePtr> defaults;
    if (current().is_sign("(")) signature(*caller, defaults);
    NodePtr call = expression();
    if (call->operation != Op::call) fail("expected a call");
    finish_macro(*caller, std::move(defaults), "endcall");
    return make(Op::call_block, place, std::move(call), std::move(caller));
  }

  /// What can be assigned to: a name, a tuple of targets, and with `names` the attribute of a namespace.
  NodePtr target(bool names, std::string_view end = {}) {
    const Place place = current().place;
    NodePtr one = tuple_of([&] { return target_part(names); }, end);
    check_target(*one, place);
    return one;
  }
  NodePtr target_part(bool names) {
    const Token& token = current();
    if (names && token.is(Type::name) && ahead().is_sign(".")) {
      at_ += 2;
      MutableNode node = make(Op::names_attribute, token.place);
      node->symbol = symbol(token.text);
      node->text = expect_identifier();
      return node;
    }
    return primary();
  }
  void check_target(const Node& node, Place place) const {
    if (node.operation == Op::tuple || node.operation == Op::list) {
      for (const NodePtr& part : node.parts) check_target(*part, place);
    } else if (node.operation != Op::name && node.operation != Op::names_attribute) {
      throw SyntaxProblem(place, "this cannot be assigned to");
    }
  }

  // Expressions, from the weakest operator to the strongest

  bool at_tuple_end(std::string_view end) const {
    return current().is(Type::variable_end) || current().is(Type::block_end) || current().is_sign(")") ||
           (!end.empty() && current().is_name(end));
  }
  template <typename Part>
  NodePtr tuple_of(const Part& part, std::string_view end, bool may_be_empty = false) {
    const Place place = current().place;
    MutableNode node = make(Op::tuple, place);
    bool is_tuple = false;
    while (!at_tuple_end(end)) {
      add(*node, part());
      if (!skip_sign(",")) break;
      is_tuple = true;
    }
    if (is_tuple) return node;
    if (!node->parts.empty()) return std::move(node->parts.front());
    if (!may_be_empty) fail("expected an expression, got " + current().shown());
    return node;
  }
  NodePtr tuple(bool with_conditional = true, std::string_view end = {}) {
    return tuple_of([&] { return with_conditional ? expression() : logical_or(); }, end);
  }

  NodePtr expression() {
    const Nesting nesting(*this);
    const Place place = current().place;
    NodePtr value = logical_or();
    while (skip_name("if")) {
      NodePtr condition = logical_or();
      NodePtr otherwise = skip_name("else") ? expression() : nullptr;
      value = make(Op::conditional, place, std::move(condition), std::move(value), std::move(otherwise));
    }
    return value;
  }
  NodePtr logical_or() {
    NodePtr left = logical_and();
    while (current().is_name("or")) {
      const Place place = next().place;
      left = make(Op::logical_or, place, std::move(left), logical_and());
    }
    return left;
  }
  NodePtr logical_and() {
    NodePtr left = logical_not();
    while (current().is_name("and")) {
      const Place place = next().place;
      left = make(Op::logical_and, place, std::move(left), logical_not());
    }
    return left;
  }
  NodePtr logical_not() {
    if (!current().is_name("not")) return comparison();
    const Nesting nesting(*this);
    const Place place = next().place;
    return make(Op::logical_not, place, logical_not());
  }
  NodePtr comparison() {
    constexpr std::pair<std::string_view, char> kSigns[] = {{"==", '='}, {"!=", '!'}, {"<=", 'l'},
                                                            {">=", 'g'}, {"<", '<'},  {">", '>'}};
    NodePtr first = sum();
    MutableNode node;
    while (true) {
      const Place place = current().place;
      char letter = 0;
      for (const auto& [sign, one] : kSigns)
        if (current().is_sign(sign)) letter = one;
      if (current().is_name("in")) letter = 'i';
      if (current().is_name("not") && ahead().is_name("in")) letter = 'n', next();
      if (letter == 0) break;
      next();
      if (!node) node = make(Op::compare, place, std::move(first));
      node->text += letter;
      add(*node, sum());
    }
    return node ? NodePtr(std::move(node)) : std::move(first);
  }
  NodePtr sum() {
    NodePtr left = concatenation();
    while (current().is_sign("+") || current().is_sign("-")) {
      const Token& sign = next();
      left = make(sign.text == "+" ? Op::add : Op::subtract, sign.place, std::move(left), concatenation());
    }
    return left;
  }
  NodePtr concatenation() {
    NodePtr first = product();
    if (!current().is_sign("~")) return first;
    MutableNode node = make(Op::concatenate, current().place, std::move(first));
    while (skip_sign("~")) add(*node, product());
    return node;
  }
  NodePtr product() {
    constexpr std::pair<std::string_view, Op> kSigns[] = {
        {"*", Op::multiply}, {"/", Op::divide}, {"//", Op::floor_divide}, {"%", Op::modulo}};
    NodePtr left = power();
    while (true) {
      const auto* sign = std::ranges::find_if(kSigns, [&](const auto& one) { return current().is_sign(one.first); });
      if (sign == std::end(kSigns)) return left;
      const Place place = next().place;
      left = make(sign->second, place, std::move(left), power());
    }
  }
  NodePtr power() {
    NodePtr left = unary();
    while (current().is_sign("**")) {
      const Place place = next().place;
      left = make(Op::power, place, std::move(left), unary());
    }
    return left;
  }
  NodePtr unary(bool with_filters = true) {
    const Place place = current().place;
    NodePtr node;
    if (current().is_sign("-") || current().is_sign("+")) {
      const Nesting nesting(*this);
      const Op operation = next().text == "-" ? Op::negate : Op::plus;
      node = make(operation, place, unary(false));
    } else {
      node = primary();
    }
    node = postfix(std::move(node));
    return with_filters ? filters_and_tests(std::move(node)) : std::move(node);
  }

  NodePtr primary() {
    const Token& token = current();
    const Place place = token.place;
    switch (token.kind) {
      case Type::name:
        next();
        if (token.text == "true" || token.text == "True") return constant(true, place);
        if (token.text == "false" || token.text == "False") return constant(false, place);
        if (token.text == "none" || token.text == "None") return constant(Value(), place);
        note_special(token.text);
        return name_node(token.text, place);
      case Type::string: {
        std::string text;
        while (current().is(Type::string)) text += next().text;
        return constant(Value(std::move(text)), place);
      }
      case Type::integer:
        return constant(next().integer, place);
      case Type::real:
        return constant(next().real, place);
      default:
        break;
    }
    const Nesting nesting(*this);
    if (skip_sign("(")) {
      NodePtr node = tuple_of([&] { return expression(); }, {}, true);
      expect_sign(")");
      return node;
    }
    if (skip_sign("[")) {
      MutableNode node = make(Op::list, place);
      elements("]", [&] { add(*node, expression()); });
      return node;
    }
    if (skip_sign("{")) {
      MutableNode node = make(Op::dict, place);
      elements("}", [&] {
        add(*node, expression());
        expect_sign(":");
        add(*node, expression());
      });
      return node;
    }
    fail("expected an expression, got " + token.shown());
  }
  /// Elements with commas between them, and perhaps one behind the last.
  template <typename Element>
  void elements(std::string_view end, const Element& element) {
    while (!skip_sign(end)) {
      element();
      if (!current().is_sign(end)) expect_sign(",");
    }
  }
  void note_special(std::string_view name) {
    constexpr std::array<std::string_view, 3> kSpecial = {"caller", "kwargs", "varargs"};
    for (std::size_t i = 0; i < kSpecial.size(); ++i) special_uses_[i] += name == kSpecial[i] ? 1 : 0;
  }

  NodePtr postfix(NodePtr node) {
    while (true) {
      if (current().is_sign(".")) {
        node = attribute(std::move(node));
      } else if (current().is_sign("[")) {
        node = subscript(std::move(node));
      } else if (current().is_sign("(")) {
        node = call(std::move(node));
      } else {
        return node;
      }
    }
  }
  NodePtr filters_and_tests(NodePtr node) {
    while (true) {
      if (current().is_sign("|")) {
        node = filter_chain(std::move(node), false);
      } else if (current().is_name("is")) {
        node = test(std::move(node));
      } else if (current().is_sign("(")) {
        node = call(std::move(node));
      } else {
        return node;
      }
    }
  }

  NodePtr attribute(NodePtr object) {
    const Place place = next().place;
    if (current().is(Type::integer)) return make(Op::item, place, std::move(object), constant(next().integer, place));
    MutableNode node = make(Op::attribute, place, std::move(object));
    node->text = expect_identifier();
    return node;
  }
  NodePtr subscript(NodePtr object) {
    const Place place = next().place;
    const auto missing = [&] { return current().is_sign(":") || current().is_sign("]"); };
    NodePtr first = current().is_sign(":") ? nullptr : expression();
    if (skip_sign(":")) {
      NodePtr end = missing() ? nullptr : expression(), step;
      if (skip_sign(":") && !missing()) step = expression();
      expect_sign("]");
      return make(Op::slice, place, std::move(object), std::move(first), std::move(end), std::move(step));
    }
    if (current().is_sign(",")) {
      MutableNode key = make(Op::tuple, place, std::move(first));
      while (skip_sign(",")) add(*key, expression());
      first = std::move(key);
    }
    expect_sign("]");
    return make(Op::item, place, std::move(object), std::move(first));
  }

  NodePtr call(NodePtr function) {
    MutableNode node = make(Op::call, current().place, std::move(function));
    call_arguments(*node);
    return node;
  }
  void call_arguments(Node& node) {
    expect_sign("(");
    bool named = false;
    elements(")", [&] {
      Argument argument;
      if (skip_sign("*")) {
        argument.name = "*";
      } else if (skip_sign("**")) {
        argument.name = "**";
      } else if (current().is(Type::name) && ahead().is_sign("=")) {
        argument.name = next().text;
        next();
      } else if (named) {
        fail("an argument without a name follows one with a name");
      }
      named = named || !argument.name.empty();
      argument.value = add(node, expression());
      node.arguments.push_back(std::move(argument));
    });
  }

  NodePtr filter_chain(NodePtr node, bool starts_inline) {
    while (starts_inline || current().is_sign("|")) {
      if (!starts_inline) next();
      starts_inline = false;
      MutableNode filter = make(Op::filter, current().place, std::move(node));
      filter->text = dotted_name();
      if (current().is_sign("(")) call_arguments(*filter);
      node = std::move(filter);
    }
    return node;
  }
  std::string dotted_name() {
    std::string name = expect_identifier();
    while (skip_sign(".")) (name += ".") += expect_identifier();
    return name;
  }

  NodePtr test(NodePtr subject) {
    const Place place = next().place;
    const bool negated = skip_name("not");
    MutableNode node = make(Op::test, place, std::move(subject));
    node->text = dotted_name();
    const Token& token = current();
    const bool has_operand = token.is(Type::name) || token.is(Type::string) || token.is(Type::integer) ||
                             token.is(Type::real) || token.is_sign("[") || token.is_sign("{");
    if (token.is_sign("(")) {
      call_arguments(*node);
    } else if (has_operand && !at_any({"else", "or", "and"})) {
      if (token.is_name("is")) fail("tests with \"is\" cannot be chained");
      node->arguments.push_back({"", add(*node, postfix(primary()))});
    }
    return negated ? make(Op::logical_not, place, NodePtr(std::move(node))) : std::move(node);
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0, loops_ = 0;
  std::array<std::int64_t, 3> special_uses_ = {};
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, Symbol> symbol_of_;
};

}  // namespace

Syntax parse(std::string_view source) {
  if (source.size() > kLongestSource) throw SyntaxProblem({}, "the template has more than 1 MB");
  const std::string text = normalized(source);
  return Parser(Lexer(text).run()).run();
}

}  // namespace attend::jinja
