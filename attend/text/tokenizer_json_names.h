// The names of enum values in tokenizer.json, for its reader and its writer.
#pragma once
#include <array>
#include <string_view>
#include <utility>

#include "attend/text/pre_tokenizer.h"

namespace attend::tokenizer_json {

inline constexpr std::array<std::pair<std::string_view, pre_tokenizer::Behavior>, 5> kBehaviors = {{
    {"Removed", pre_tokenizer::Behavior::removed},
    {"Isolated", pre_tokenizer::Behavior::isolated},
    {"MergedWithPrevious", pre_tokenizer::Behavior::merged_with_previous},
    {"MergedWithNext", pre_tokenizer::Behavior::merged_with_next},
    {"Contiguous", pre_tokenizer::Behavior::contiguous},
}};

using Prepend = pre_tokenizer::Metaspace::Prepend;
inline constexpr std::array<std::pair<std::string_view, Prepend>, 3> kPrepends = {
    {{"always", Prepend::always}, {"never", Prepend::never}, {"first", Prepend::first}}};

}  // namespace attend::tokenizer_json
