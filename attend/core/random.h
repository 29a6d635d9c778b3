// Random numbers from a counter (Philox4x32-10, Salmon et al. 2011): number i of a stream is a pure function of the
// seed, the stream and i, so any thread can make any part of it, and a backward pass can make it again.
#pragma once
#include <array>
#include <cstdint>

namespace attend {

/// What selects a stream. Two draws with the same key and counter are the same number.
struct PhiloxKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// The four 32-bit numbers at `counter`: Philox4x32-10 with key = seed and counter words (counter, stream).
std::array<std::uint32_t, 4> philox(PhiloxKey key, std::uint64_t counter);

/// Hands out streams: each op that needs randomness takes one. Two integers are its whole state, so a checkpoint can
/// keep it. Not thread-safe; each thread has its own default_generator().
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

/// This thread's own. Each starts at seed 0: threads that train at the same time should restore() theirs to different
/// seeds.
Generator& default_generator();

/// u in [0, 1) with 24 bits.
inline float uniform_from(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

class Tensor;
/// Fills a float32 tensor: uniform in [low, high), or normal with the given mean and deviation (Box–Muller).
void fill_uniform(Tensor& tensor, float low, float high, Generator& generator = default_generator());
void fill_normal(Tensor& tensor, float mean, float deviation, Generator& generator = default_generator());

}  // namespace attend
