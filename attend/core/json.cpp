#include "attend/core/json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace attend {
namespace {

using nlohmann::json;

enum class Kind : std::uint8_t { null, boolean, integer, unsigned_integer, real, string, array, object };

/// A range of the document's strings.
struct Text {
  std::uint32_t begin = 0, size = 0;
};

constexpr std::uint32_t kNone = 0xFFFFFFFF;

}  // namespace

struct JsonValue::Node {
  Kind kind;
  Text key;                               // of a member
  std::uint32_t parent, next = kNone;     // next: the sibling that follows
  std::uint32_t first = kNone, size = 0;  // children
  union {
    bool boolean;
    std::int64_t integer;
    std::uint64_t unsigned_integer;
    double real;
    Text text;
  };
};

/// All values in one list and all strings in another. The parser appends to both.
struct JsonDocument::Tree final : nlohmann::json_sax<json> {
  using Node = JsonValue::Node;
  std::vector<Node> nodes;
  std::string texts;
  std::string error;
  std::size_t most_values = kMostValues;

  std::string_view text(Text place) const { return std::string_view(texts).substr(place.begin, place.size); }

  bool null() override { return add(Kind::null); }
  bool boolean(bool value) override { return add(Kind::boolean) && (nodes.back().boolean = value, true); }
  bool number_integer(std::int64_t value) override {
    return add(Kind::integer) && (nodes.back().integer = value, true);
  }
  bool number_unsigned(std::uint64_t value) override {
    return add(Kind::unsigned_integer) && (nodes.back().unsigned_integer = value, true);
  }
  bool number_float(double value, const std::string&) override {
    return add(Kind::real) && (nodes.back().real = value, true);
  }
  bool string(std::string& value) override { return add(Kind::string) && (nodes.back().text = keep(value), true); }
  bool binary(json::binary_t&) override { return false; }
  bool key(std::string& value) override {
    key_ = keep(value);
    return true;
  }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const json::exception& problem) override {
    const std::string_view what = problem.what();  // "[json.exception.parse_error.101] parse error at line 1, …"
    const std::size_t label = what.find("] ");
    error = label == what.npos ? what : what.substr(label + 2);
    return false;
  }

 private:
  /// An open array or object, and its last child.
  struct Open {
    std::uint32_t node, latest;
  };
  std::vector<Open> open_;
  Text key_;

  Text keep(const std::string& value) {
    const Text place{static_cast<std::uint32_t>(texts.size()), static_cast<std::uint32_t>(value.size())};
    texts += value;
    return place;
  }
  bool add(Kind kind) {
    const auto index = static_cast<std::uint32_t>(nodes.size());
    if (nodes.size() >= most_values) {
      error = "more than " + std::to_string(most_values) + " values";
      return false;
    }
    Node& node = nodes.emplace_back(Node{kind, {}, open_.empty() ? kNone : open_.back().node, kNone, kNone, 0, {}});
    if (open_.empty()) return true;
    Node& parent = nodes[node.parent];
    if (parent.kind == Kind::object) node.key = key_;
    ++parent.size;
    (open_.back().latest == kNone ? parent.first : nodes[open_.back().latest].next) = index;
    open_.back().latest = index;
    return true;
  }
  bool open(Kind kind) {
    if (open_.size() >= kDeepest) {
      error = "nested too deep: more than " + std::to_string(kDeepest) + " lists and objects";
      return false;
    }
    if (!add(kind)) return false;
    open_.push_back({static_cast<std::uint32_t>(nodes.size() - 1), kNone});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
};

JsonDocument::JsonDocument(std::string_view text, std::string file, const char* op, std::size_t most_values)
    : file_(std::move(file)), op_(op) {
  if (text.size() > std::numeric_limits<std::int32_t>::max()) fail<InputError>(op, file_, ": larger than 2 GB");
  auto tree = std::make_unique<Tree>();
  tree->most_values = most_values;
  if (!json::sax_parse(text, tree.get())) fail<InputError>(op, file_, ": is not valid JSON: ", tree->error);
  tree_ = std::move(tree);
}

JsonDocument::~JsonDocument() = default;

JsonValue JsonDocument::root() const { return {*this, 0}; }

const JsonValue::Node& JsonValue::node() const { return document_->tree_->nodes[node_]; }
const char* JsonValue::op() const { return document_->op_; }

std::string JsonValue::place() const {
  const JsonDocument::Tree& tree = *document_->tree_;
  std::string path;
  for (std::uint32_t at = node_; tree.nodes[at].parent != kNone; at = tree.nodes[at].parent) {
    const Node& parent = tree.nodes[tree.nodes[at].parent];
    std::string step;
    if (parent.kind == Kind::object) {
      step = (parent.parent == kNone ? "" : ".") + std::string(tree.text(tree.nodes[at].key));
    } else {
      std::size_t index = 0;
      for (std::uint32_t child = parent.first; child != at; child = tree.nodes[child].next) ++index;
      step = '[' + std::to_string(index) + ']';
    }
    path.insert(0, step);
  }
  return document_->file() + (path.empty() ? "" : ": ") + path;
}

std::string JsonValue::shown() const {
  switch (node().kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return node().boolean ? "true" : "false";
    case Kind::integer:
      return std::to_string(node().integer);
    case Kind::unsigned_integer:
      return std::to_string(node().unsigned_integer);
    case Kind::real:
      return json(node().real).dump();
    case Kind::string:
      return json(string().substr(0, 40)).dump(-1, ' ', true, json::error_handler_t::replace);
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "";
}

void JsonValue::fail_kind(std::string_view expected) const { fail("got ", shown(), ", expected ", expected); }

bool JsonValue::is_null() const { return node().kind == Kind::null; }
bool JsonValue::is_boolean() const { return node().kind == Kind::boolean; }
bool JsonValue::is_number() const { return node().kind >= Kind::integer && node().kind <= Kind::real; }
bool JsonValue::is_integer() const {
  return node().kind == Kind::integer ||
         (node().kind == Kind::unsigned_integer &&
          node().unsigned_integer <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}
bool JsonValue::is_string() const { return node().kind == Kind::string; }
bool JsonValue::is_array() const { return node().kind == Kind::array; }
bool JsonValue::is_object() const { return node().kind == Kind::object; }

bool JsonValue::boolean() const {
  if (!is_boolean()) fail_kind("true or false");
  return node().boolean;
}

std::int64_t JsonValue::integer() const {
  if (node().kind == Kind::integer) return node().integer;
  if (node().kind != Kind::unsigned_integer) fail_kind("an integer");
  if (node().unsigned_integer > std::numeric_limits<std::int64_t>::max()) fail_kind("a smaller integer");
  return static_cast<std::int64_t>(node().unsigned_integer);
}

std::int32_t JsonValue::id() const {
  if (!is_integer()) fail_kind("an id");
  const std::int64_t value = integer();
  if (value < 0 || value > std::numeric_limits<std::int32_t>::max()) fail_kind("an id from 0 to 2147483647");
  return static_cast<std::int32_t>(value);
}

double JsonValue::number() const {
  if (node().kind == Kind::real) return node().real;
  if (node().kind == Kind::integer) return static_cast<double>(node().integer);
  if (node().kind != Kind::unsigned_integer) fail_kind("a number");
  return static_cast<double>(node().unsigned_integer);
}

std::string_view JsonValue::string() const {
  if (!is_string()) fail_kind("a string");
  return document_->tree_->text(node().text);
}

std::size_t JsonValue::size() const {
  if (!is_array() && !is_object()) fail_kind("a list or an object");
  return node().size;
}

JsonValue JsonValue::operator[](std::size_t index) const {
  if (!is_array()) fail_kind("a list");
  if (index >= size()) fail("got ", size(), " elements, expected ", index + 1, " or more");
  std::uint32_t child = node().first;
  for (; index > 0; --index) child = document_->tree_->nodes[child].next;
  return {*document_, child};
}

std::uint32_t JsonValue::member(std::string_view key) const {
  if (!is_object()) fail_kind("an object");
  const JsonDocument::Tree& tree = *document_->tree_;
  std::uint32_t found = kNone;  // the last member with this key wins
  for (std::uint32_t child = node().first; child != kNone; child = tree.nodes[child].next)
    if (tree.text(tree.nodes[child].key) == key) found = child;
  return found;
}

JsonValue JsonValue::operator[](std::string_view key) const {
  const std::uint32_t found = member(key);
  if (found == kNone) fail("\"", key, "\" is missing");
  return {*document_, found};
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const std::uint32_t found = member(key);
  if (found == kNone || document_->tree_->nodes[found].kind == Kind::null) return std::nullopt;
  return JsonValue(*document_, found);
}

void JsonValue::each_element(const std::function<void(JsonValue)>& f) const {
  if (!is_array()) fail_kind("a list");
  const JsonDocument::Tree& tree = *document_->tree_;
  for (std::uint32_t child = node().first; child != kNone; child = tree.nodes[child].next) f({*document_, child});
}

void JsonValue::each_member(const std::function<void(std::string_view, JsonValue)>& f) const {
  if (!is_object()) fail_kind("an object");
  const JsonDocument::Tree& tree = *document_->tree_;
  for (std::uint32_t child = node().first; child != kNone; child = tree.nodes[child].next)
    f(tree.text(tree.nodes[child].key), {*document_, child});
}

bool JsonValue::boolean(std::string_view key, bool otherwise) const {
  const std::optional<JsonValue> member = find(key);
  return member ? member->boolean() : otherwise;
}

std::string JsonValue::string(std::string_view key, std::string_view otherwise) const {
  const std::optional<JsonValue> member = find(key);
  return std::string(member ? member->string() : otherwise);
}

}  // namespace attend
