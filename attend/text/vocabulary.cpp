#include "attend/text/vocabulary.h"

#include <functional>

#include "attend/core/error.h"

namespace attend {

Vocabulary::Vocabulary(std::initializer_list<std::string_view> tokens) {
  for (std::int32_t id = 0; const std::string_view token : tokens) add(token, id++);
}

void Vocabulary::reserve(std::int64_t tokens, std::int64_t bytes) {
  bytes_.reserve(static_cast<std::size_t>(bytes));
  places_.reserve(static_cast<std::size_t>(tokens));
  std::size_t slots = 16;
  while (slots < 2 * static_cast<std::size_t>(tokens)) slots *= 2;
  if (slots > slots_.size()) rehash(slots);
}

std::size_t Vocabulary::slot(std::string_view token) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>{}(token)&mask;
  while (slots_[at] >= 0 && this->token(slots_[at]) != token) at = (at + 1) & mask;
  return at;
}

void Vocabulary::rehash(std::size_t slots) {
  const std::vector<std::int32_t> old = std::move(slots_);
  slots_.assign(slots, -1);
  for (const std::int32_t id : old)
    if (id >= 0) slots_[slot(token(id))] = id;
}

void Vocabulary::add(std::string_view token, std::int32_t id) {
  // An id far above the number of tokens means a damaged file, and would need memory for all ids below it.
  if (id < 0 || id > 16 * (count_ + 65536))
    fail<InputError>("tokenizer", "the token \"", token, "\" has the id ", id, ", of ", count_ + 1, " tokens so far");
  if (2 * (static_cast<std::size_t>(distinct_) + 1) > slots_.size()) rehash(slots_.empty() ? 16 : 2 * slots_.size());
  const auto index = static_cast<std::size_t>(id);
  if (index >= places_.size()) places_.resize(index + 1);
  if (places_[index].size != kUnused && this->token(id) != token)
    fail<InputError>("tokenizer", "two tokens have the id ", id, ": \"", this->token(id), "\" and \"", token, '"');
  if (places_[index].size == kUnused) ++count_;
  places_[index] = {static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(token.size())};
  bytes_ += token;
  std::int32_t& holder = slots_[slot(this->token(id))];
  if (holder < 0) ++distinct_;
  holder = id;
}

std::optional<std::int32_t> Vocabulary::id(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const std::int32_t id = slots_[slot(token)];
  return id >= 0 ? std::optional(id) : std::nullopt;
}

bool Vocabulary::contains(std::int32_t id) const {
  return id >= 0 && id < size() && places_[static_cast<std::size_t>(id)].size != kUnused;
}

std::string_view Vocabulary::token(std::int32_t id) const {
  if (!contains(id)) return {};
  const Place& place = places_[static_cast<std::size_t>(id)];
  return std::string_view(bytes_).substr(place.begin, place.size);
}

}  // namespace attend
