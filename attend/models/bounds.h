// How large the models of a folder may claim to be. A configuration is read before the weights that would prove it
// wrong, so that without bounds a few digits in it ask for all memory there is. Far above every model that is known.
#pragma once
#include <cstdint>

namespace attend::bounds {

constexpr std::int64_t kLayers = 1000;
constexpr std::int64_t kWidth = 1 << 16;
constexpr std::int64_t kInner = 1 << 20;
constexpr std::int64_t kVocabulary = 1 << 26;
constexpr std::int64_t kPositions = 1 << 20;
constexpr std::int64_t kPositionNumbers = 1 << 30;  // in a table of positions, which is computed and not read

}  // namespace attend::bounds
