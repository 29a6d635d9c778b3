#include "attend/formats/pickle.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "attend/core/error.h"
#include "attend/formats/stored_tensor.h"

namespace attend {

/// The stack machine of pickles: a stack, marks on the stack, and a memo of earlier values.
class PickleReader {
 public:
  PickleReader(Pickle& pickle, const std::string& file, std::span<const std::byte> bytes, Pickle::Allowed allowed)
      : pickle_(pickle), file_(file), bytes_(bytes), allowed_(allowed) {}

  void read() {
    while (step(next())) {
    }
    pickle_.value_ = pop();
    pickle_.size_ = at_;
  }

 private:
  using Node = PickleNode;
  using Kind = PickleNode::Kind;

  /// More than the tensors of any model need, but few enough that a malicious file cannot exhaust the memory.
  static constexpr std::size_t kMostNodes = 10'000'000;

  [[noreturn]] void damaged(const std::string& how) const {
    fail<InputError>("load", file_, ": the pickle is corrupt at byte ", grouped(at_), ": ", how);
  }

  // ---- bytes ----

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) damaged("it ends too early; is the download complete?");
    const auto* text = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += count;
    return {text, count};
  }
  std::uint8_t next() { return static_cast<std::uint8_t>(take(1)[0]); }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view line() {
    const std::size_t start = at_;
    while (next() != '\n') {
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + start, at_ - start - 1};
  }
  /// A little-endian integer in two's complement, of up to 64 bits.
  std::int64_t long_number(std::uint64_t count) {
    const std::string_view digits = take(count);
    if (digits.size() > 8) damaged("a number has " + grouped(count) + " bytes");
    std::uint64_t value = !digits.empty() && static_cast<signed char>(digits.back()) < 0 ? ~std::uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), digits.size());
    return static_cast<std::int64_t>(value);
  }

  // ---- the stack ----

  void push(const PickleValue& value) { stack_.push_back(value); }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue pop() {
    if (stack_.size() <= floor()) damaged("the stack is empty");
    PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }
  /// Pops the last `count` values.
  std::vector<PickleValue> pop_many(std::size_t count) {
    if (stack_.size() - floor() < count) damaged("the stack is empty");
    std::vector<PickleValue> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }
  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty()) damaged("a mark is missing");
    std::vector<PickleValue> values = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }
  const PickleValue& top() const {
    if (stack_.size() <= floor()) damaged("the stack is empty");
    return stack_.back();
  }

  void push_node(Node node) {
    if (pickle_.nodes_.size() == kMostNodes) damaged("it has more than " + grouped(kMostNodes) + " objects");
    pickle_.nodes_.push_back(std::move(node));
    push(&pickle_.nodes_.back());
  }
  /// The node on top of the stack, to be modified.
  Node& open(bool (*fits)(const Node&), const char* what) {
    const auto* node = std::get_if<const Node*>(&top());
    if (!node || !fits(**node)) damaged(std::string("expected a ") + what + " on the stack");
    return const_cast<Node&>(**node);
  }
  static bool is_list(const Node& node) { return node.kind == Kind::list; }
  static bool is_dict(const Node& node) { return node.kind == Kind::dict || node.kind == Kind::call; }

  void append(const std::vector<PickleValue>& values) {
    Node& list = open(is_list, "list");
    list.items.insert(list.items.end(), values.begin(), values.end());
  }
  void set_items(const std::vector<PickleValue>& values) {
    if (values.size() % 2 != 0) damaged("a key has no value");
    Node& dict = open(is_dict, "dictionary");
    for (std::size_t i = 0; i < values.size(); i += 2) dict.pairs.emplace_back(values[i], values[i + 1]);
  }

  // ---- names and calls ----

  void push_global(std::string_view module, std::string_view name) {
    const PickleGlobal global{module, name};
    if (!allowed_(global))
      fail<InputError>("load", file_, ": uses ", in_quotes(std::string(module) + "." + std::string(name)),
                       ", which a file of weights does not need; nothing was executed");
    push(global);
  }
  std::string_view pop_text() {
    const PickleValue value = pop();
    const auto* text = std::get_if<std::string_view>(&value);
    if (!text) damaged("a name is not a string");
    return *text;
  }
  void call() {
    const PickleValue arguments = pop(), function = pop();
    const auto* tuple = std::get_if<const Node*>(&arguments);
    const auto* global = std::get_if<PickleGlobal>(&function);
    if (!tuple || (*tuple)->kind != Kind::tuple || !global) damaged("it calls something that is not a function");
    push_node({Kind::call, *global, {arguments}});
  }

  // ---- instructions ----

  void remember(std::uint32_t place) { memo_[place] = top(); }
  void recall(std::uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) damaged("a memo entry is missing");
    push(found->second);
  }

  /// Executes one instruction; returns false at the end. Python's pickletools.py documents the instructions.
  bool step(std::uint8_t instruction) {
    switch (instruction) {
      case 0x80:  // PROTO
        if (next() > 5) damaged("its protocol is newer than 5");
        return true;
      case 0x95:  // FRAME
        take(8);
        return true;
      case '.':  // STOP
        return false;
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return true;
      case '0':  // POP: removes the mark if it is on top
        if (!marks_.empty() && marks_.back() == stack_.size())
          marks_.pop_back();
        else
          pop();
        return true;
      case '1':  // POP_MARK
        pop_to_mark();
        return true;
      case '2':  // DUP
        push(top());
        return true;

      case 'N':
        push(std::monostate{});
        return true;
      case 0x88:
        push(true);
        return true;
      case 0x89:
        push(false);
        return true;
      case 'J':
        push(std::int64_t{number<std::int32_t>()});
        return true;
      case 'K':
        push(std::int64_t{number<std::uint8_t>()});
        return true;
      case 'M':
        push(std::int64_t{number<std::uint16_t>()});
        return true;
      case 0x8a:  // LONG1
        push(long_number(number<std::uint8_t>()));
        return true;
      case 0x8b:  // LONG4
        push(long_number(number<std::uint32_t>()));
        return true;
      case 'G': {  // BINFLOAT, the only big-endian number
        std::string digits(take(8));
        std::ranges::reverse(digits);
        double value = 0;
        std::memcpy(&value, digits.data(), 8);
        push(value);
        return true;
      }
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        push(take(number<std::uint8_t>()));
        return true;
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        push(take(number<std::uint32_t>()));
        return true;
      case 0x8d:  // BINUNICODE8
      case 0x8e:  // BINBYTES8
        push(take(number<std::uint64_t>()));
        return true;

      case ')':
        push_node({Kind::tuple, {}, {}});
        return true;
      case 't':
        push_node({Kind::tuple, {}, pop_to_mark()});
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_node({Kind::tuple, {}, pop_many(instruction - 0x84u)});
        return true;
      case ']':
        push_node({Kind::list, {}, {}});
        return true;
      case 'l':
        push_node({Kind::list, {}, pop_to_mark()});
        return true;
      case 'a':
        append(pop_many(1));
        return true;
      case 'e':
        append(pop_to_mark());
        return true;
      case '}':
        push_node({Kind::dict, {}, {}});
        return true;
      case 'd': {
        const std::vector<PickleValue> values = pop_to_mark();
        push_node({Kind::dict, {}, {}});
        set_items(values);
        return true;
      }
      case 's':
        set_items(pop_many(2));
        return true;
      case 'u':
        set_items(pop_to_mark());
        return true;

      case 'q':
        remember(number<std::uint8_t>());
        return true;
      case 'r':
        remember(number<std::uint32_t>());
        return true;
      case 0x94:  // MEMOIZE
        remember(static_cast<std::uint32_t>(memo_.size()));
        return true;
      case 'h':
        recall(number<std::uint8_t>());
        return true;
      case 'j':
        recall(number<std::uint32_t>());
        return true;

      case 'c': {  // GLOBAL
        const std::string_view module = line();
        push_global(module, line());
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        const std::string_view name = pop_text();
        push_global(pop_text(), name);
        return true;
      }
      case 'R':   // REDUCE
      case 0x81:  // NEWOBJ
        call();
        return true;
      case 'b':  // BUILD: sets attributes of an object, here of an OrderedDict; they are ignored
        pop();
        open(is_dict, "object");
        return true;
      case 'Q':  // BINPERSID
        push_node({Kind::persistent, {}, pop_many(1)});
        pickle_.persistent_.push_back(&pickle_.nodes_.back());
        return true;
      default:
        damaged("instruction " + std::to_string(instruction) +
                " is not supported, because files of weights do not need it");
    }
  }

  Pickle& pickle_;
  const std::string& file_;
  std::span<const std::byte> bytes_;
  Pickle::Allowed allowed_;
  std::size_t at_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;  // the size of the stack at each mark
  std::unordered_map<std::uint32_t, PickleValue> memo_;
};

Pickle::Pickle(const std::string& file, std::span<const std::byte> bytes, Allowed allowed) {
  PickleReader(*this, file, bytes, allowed).read();
}

}  // namespace attend
