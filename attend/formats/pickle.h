// Python's pickles, as data. A pickle is a small program that says how to build an object; this reader builds plain
// values only. Where the program calls a function, the call is written down as a value, and never made.
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

/// None, a truth value, a number, a text (or bytes), a global, or something made of others.
using PickleValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string_view, PickleGlobal, const PickleNode*>;

struct PickleNode {
  enum class Kind : std::uint8_t { tuple, list, dict, call, persistent };
  Kind kind;
  PickleGlobal function = {};  ///< of a call
  /// Elements; or the one tuple of a call's arguments; or the one id of something that is stored elsewhere.
  std::vector<PickleValue> items;
  std::vector<std::pair<PickleValue, PickleValue>> pairs = {};  ///< of a dict, and of a call that was filled like one
};

/// One pickle, read. Texts point into the bytes it was read from. Nodes may refer to each other in circles.
class Pickle {
 public:
  /// Reads the pickle at the beginning of the bytes. `file` is for messages. Throws InputError [load] for a damaged
  /// one, for instructions that plain data do not need, and, with its name, for a global that `allowed` refuses.
  using Allowed = bool (*)(const PickleGlobal&);
  Pickle(const std::string& file, std::span<const std::byte> bytes, Allowed allowed);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& value() const { return value_; }
  std::size_t size() const { return size_; }  ///< in bytes: where the next one may begin
  /// The persistent ids, in the order in which they come.
  const std::vector<const PickleNode*>& persistent() const { return persistent_; }

 private:
  friend class PickleReader;
  std::deque<PickleNode> nodes_;
  std::vector<const PickleNode*> persistent_;
  PickleValue value_;
  std::size_t size_ = 0;
};

}  // namespace attend
