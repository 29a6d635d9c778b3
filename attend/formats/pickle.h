// A safe reader of Python pickles. A pickle is a program that constructs an object. This reader only constructs plain
// values: a function call in the program is returned as a value, and never executed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attend {

struct PickleNode;

/// A class or function that a pickle names: "torch._utils" and "_rebuild_tensor_v2".
struct PickleGlobal {
  std::string_view module, name;
  bool is(std::string_view other_module, std::string_view other_name) const {
    return module == other_module && name == other_name;
  }
};

/// None, a boolean, a number, a string (or bytes), a global, or a node that contains other values.
using PickleValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string_view, PickleGlobal, const PickleNode*>;

struct PickleNode {
  enum class Kind : std::uint8_t { tuple, list, dict, call, persistent };
  Kind kind;
  PickleGlobal function = {};  ///< of a call
  /// The elements of a tuple or list; for a call, one tuple with its arguments; for a persistent object, its id.
  std::vector<PickleValue> items;
  std::vector<std::pair<PickleValue, PickleValue>> pairs = {};  ///< of a dict, or of a call that returns a dict
};

/// The contents of a pickle. Strings point into the bytes from which it was read. Nodes may form cycles.
class Pickle {
 public:
  /// Reads the pickle at the beginning of the bytes; `file` is used in error messages. Throws InputError [load] if it
  /// is corrupt, has instructions that plain data do not need, or uses a global for which `allowed` returns false.
  using Allowed = bool (*)(const PickleGlobal&);
  Pickle(const std::string& file, std::span<const std::byte> bytes, Allowed allowed);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& value() const { return value_; }
  std::size_t size() const { return size_; }  ///< size in bytes; the next pickle may begin there
  /// The persistent ids, in the order of the file.
  const std::vector<const PickleNode*>& persistent() const { return persistent_; }

 private:
  friend class PickleReader;
  std::deque<PickleNode> nodes_;
  std::vector<const PickleNode*> persistent_;
  PickleValue value_;
  std::size_t size_ = 0;
};

}  // namespace attend
