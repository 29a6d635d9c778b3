// A counter-based random number generator (Philox4x32-10, Salmon et al. 2011). Number i of a stream is a pure function
// of the seed, the stream and i. So threads can compute parts of a stream independently, and a backward pass can
// recompute the numbers of the forward pass.
#pragma once
#include <array>
#include <cstdint>

namespace attend {

/// Selects a stream of random numbers. The same key and counter always give the same number.
struct PhiloxKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// The four 32-bit numbers at `counter`: Philox4x32-10 with key = seed and counter words (counter, stream).
std::array<std::uint32_t, 4> philox(PhiloxKey key, std::uint64_t counter);

/// Gives each operation that needs random numbers a stream of its own. Its state is two integers, which checkpoints
/// store. Not thread-safe; each thread has its own default_generator().
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : seed_(seed) {}
  PhiloxKey next() { return {seed_, streams_++}; }

  std::uint64_t seed() const { return seed_; }
  std::uint64_t streams_used() const { return streams_; }
  void restore(std::uint64_t seed, std::uint64_t streams_used) { seed_ = seed, streams_ = streams_used; }

 private:
  std::uint64_t seed_;
  std::uint64_t streams_ = 0;
};

/// The generator of the calling thread. The seed is 0 in every thread; threads that train at the same time should set
/// different seeds with restore().
Generator& default_generator();

/// Converts 32 random bits to a uniform float in [0, 1) with a resolution of 2^-24.
inline float uniform_from(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

class Tensor;
/// Fills a float32 tensor with random values: uniform in [low, high), or normal with the given mean and standard
/// deviation (Box–Muller).
void fill_uniform(Tensor& tensor, float low, float high, Generator& generator = default_generator());
void fill_normal(Tensor& tensor, float mean, float deviation, Generator& generator = default_generator());

}  // namespace attend
