// Upper bounds for the sizes in config.json. The file is read before the weights, so without bounds a wrong number
// could allocate all memory. The bounds are far above every published model.
#pragma once
#include <cstdint>

namespace attend::bounds {

constexpr std::int64_t kLayers = 1000;
constexpr std::int64_t kWidth = 1 << 16;
constexpr std::int64_t kInner = 1 << 20;
constexpr std::int64_t kVocabulary = 1 << 26;
constexpr std::int64_t kPositions = 1 << 20;
constexpr std::int64_t kPositionNumbers = 1 << 25;  // positions times width: 32,768 positions of width 1024

}  // namespace attend::bounds
