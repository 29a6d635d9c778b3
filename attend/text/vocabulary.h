// A vocabulary: tokens and their ids. It is a flat hash table; 50,000 tokens take about 2 MB.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

class Vocabulary {
 public:
  Vocabulary() = default;
  /// Token i gets the id i.
  Vocabulary(std::initializer_list<std::string_view> tokens);

  void reserve(std::int64_t tokens, std::int64_t bytes);
  /// Ids may be added in any order and with gaps. Throws InputError if an id is negative, or so large that nearly all
  /// ids below it are unused. If a token is added again, id() gives the new id, and both ids give the token.
  void add(std::string_view token, std::int32_t id);

  std::optional<std::int32_t> id(std::string_view token) const;
  /// The token, or "" if the id is unused or out of range.
  std::string_view token(std::int32_t id) const;
  bool contains(std::int32_t id) const;

  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }  ///< the largest id + 1
  std::int64_t count() const { return count_; }                                    ///< ids that have a token

 private:
  struct Place {
    std::uint32_t begin = 0, size = kUnused;
  };
  static constexpr std::uint32_t kUnused = 0xFFFFFFFF;
  std::size_t slot(std::string_view token) const;  // where the token is, or where it would be inserted
  void rehash(std::size_t slots);

  std::string bytes_;
  std::vector<Place> places_;              // by id
  std::vector<std::int32_t> slots_;        // ids, -1 where free; a power of two, at most half full
  std::int64_t count_ = 0, distinct_ = 0;  // number of ids, and of different tokens
};

}  // namespace attend
