// The JSON reader for untrusted files. Nesting and the number of values are bounded, every access is checked, and an
// error gives the file and the place in it, so the readers of configuration files need no checks of their own.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "attend/core/error.h"

namespace attend {

class JsonDocument;

/// A value of a document. The document must outlive it. Cheap to copy.
class JsonValue {
 public:
  bool is_null() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_integer() const;  ///< one that fits into 64 bits with a sign
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  /// All throw InputError if the value has another type, or is too large.
  bool boolean() const;
  std::int64_t integer() const;
  std::int32_t id() const;  ///< an integer from 0 to 2^31 - 1
  double number() const;
  std::string_view string() const;

  /// Elements of an array, or members of an object.
  std::size_t size() const;
  /// Both take time in proportion to the index or the number of members: visit a large list with each_element(), and a
  /// large object with each_member().
  JsonValue operator[](std::size_t index) const;
  JsonValue operator[](std::string_view key) const;  ///< throws InputError if there is none
  /// The member, or none if it does not exist or is null.
  std::optional<JsonValue> find(std::string_view key) const;
  void each_element(const std::function<void(JsonValue)>& f) const;
  void each_member(const std::function<void(std::string_view, JsonValue)>& f) const;

  /// The member, or `otherwise` if there is none.
  bool boolean(std::string_view key, bool otherwise) const;
  std::string string(std::string_view key, std::string_view otherwise) const;

  /// Throws InputError("[op] file: place: parts…").
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    attend::fail<InputError>(op(), place(), ": ", parts...);
  }
  /// A value in messages: at most 40 bytes of a string, "a list", "an object"; other values as JSON.
  std::string shown() const;
  [[noreturn]] void fail_kind(std::string_view expected) const;
  std::string place() const;  ///< `folder/tokenizer.json: model.merges[3]`

 private:
  friend JsonDocument;
  struct Node;
  JsonValue(const JsonDocument& document, std::uint32_t node) : document_(&document), node_(node) {}
  const Node& node() const;
  const char* op() const;
  std::uint32_t member(std::string_view key) const;

  const JsonDocument* document_;
  std::uint32_t node_;
};

/// A parsed file. It takes about 50 bytes for each value, plus the strings.
class JsonDocument {
 public:
  static constexpr std::size_t kDeepest = 64;          ///< nested lists and objects; limits the recursion of readers
  static constexpr std::size_t kMostValues = 1 << 23;  ///< several times as many as the largest tokenizer has

  /// Throws InputError [op] if the text is not valid JSON, or exceeds the limits. `file` is used in messages.
  JsonDocument(std::string_view text, std::string file, const char* op, std::size_t most_values = kMostValues);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonValue root() const;
  const std::string& file() const { return file_; }

 private:
  friend JsonValue;
  struct Tree;
  std::string file_;
  const char* op_;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace attend
