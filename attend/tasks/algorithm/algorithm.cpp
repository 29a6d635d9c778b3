#include "attend/tasks/algorithm/algorithm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>
#include <sstream>

#include "attend/core/error.h"
#include "attend/core/random.h"

namespace attend {

const std::vector<std::pair<std::string, AlgorithmTask>> kAlgorithmTaskNames = {
    {"copy", AlgorithmTask::copy},
    {"repeat-copy", AlgorithmTask::repeat_copy},
    {"recall", AlgorithmTask::recall},
    {"sort", AlgorithmTask::sort},
    {"ngrams", AlgorithmTask::ngrams}};

namespace {

constexpr std::int64_t kMostBits = 64, kMostLength = 10'000, kMostRepeats = 1000, kMostContext = 12;

/// Random numbers of one sequence.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t index) : key_{seed, index} {}
  std::uint32_t next() {
    if (used_ % 4 == 0) block_ = philox(key_, used_ / 4);
    return block_[used_++ % 4];
  }
  float uniform() { return uniform_from(next()); }
  bool bit() { return (next() >> 31) != 0; }
  /// From least to most, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  PhiloxKey key_;
  std::uint64_t used_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

using Bits = std::vector<int>;
Bits random_bits(std::int64_t count, Draws& draws) {
  Bits bits;
  for (std::int64_t i = 0; i < count; ++i) bits.push_back(draws.bit() ? 1 : 0);
  return bits;
}
std::vector<Bits> random_vectors(std::int64_t count, std::int64_t bits, Draws& draws) {
  std::vector<Bits> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(random_bits(bits, draws));
  return all;
}

/// Fills a sequence step by step.
class Writer {
 public:
  explicit Writer(const AlgorithmOptions& options) {
    sequence_.inputs = options.inputs(), sequence_.outputs = options.outputs();
  }
  /// A new step without input and target.
  Writer& step() {
    ++sequence_.steps;
    sequence_.input.resize(static_cast<std::size_t>(sequence_.steps * sequence_.inputs));
    sequence_.target.resize(static_cast<std::size_t>(sequence_.steps * sequence_.outputs),
                            AlgorithmSequence::kNoTarget);
    return *this;
  }
  Writer& input(const Bits& bits) {
    std::ranges::transform(bits, sequence_.input.end() - sequence_.inputs,
                           [](int bit) { return bit == 1 ? 1.f : -1.f; });
    return *this;
  }
  Writer& channel(std::int64_t which, float value) {
    *(sequence_.input.end() - sequence_.inputs + which) = value;
    return *this;
  }
  Writer& target(const Bits& bits) {
    std::copy(bits.begin(), bits.end(), sequence_.target.end() - sequence_.outputs);
    return *this;
  }
  AlgorithmSequence& sequence() { return sequence_; }

 private:
  AlgorithmSequence sequence_;
};

AlgorithmSequence copy_of(const AlgorithmOptions& o, const std::vector<Bits>& vectors) {
  Writer writer(o);
  for (const Bits& vector : vectors) writer.step().input(vector);
  writer.step().channel(o.bits, 1);
  for (const Bits& vector : vectors) writer.step().target(vector);
  return writer.sequence();
}

AlgorithmSequence repeated_copy_of(const AlgorithmOptions& o, const std::vector<Bits>& vectors, std::int64_t repeats) {
  // The mean and the deviation of a uniform number of repeats.
  const double count = static_cast<double>(o.max_repeats - o.min_repeats + 1);
  const double mean = 0.5 * static_cast<double>(o.max_repeats + o.min_repeats);
  const double deviation = std::max(std::sqrt((count * count - 1) / 12), 1.0);
  Writer writer(o);
  for (const Bits& vector : vectors) writer.step().input(vector);
  writer.step().channel(o.bits, 1).channel(o.bits + 1,
                                           static_cast<float>((static_cast<double>(repeats) - mean) / deviation));
  for (std::int64_t i = 0; i < repeats; ++i)
    for (Bits vector : vectors) {
      vector.push_back(0);
      writer.step().target(vector);
    }
  Bits end(static_cast<std::size_t>(o.bits + 1));
  end.back() = 1;
  writer.step().target(end);
  writer.sequence().repeats = repeats;
  return writer.sequence();
}

AlgorithmSequence recall_of(const AlgorithmOptions& o, const std::vector<std::vector<Bits>>& items, std::size_t query) {
  Writer writer(o);
  for (const auto& item : items) {
    writer.step().channel(o.bits, 1);
    for (const Bits& vector : item) writer.step().input(vector);
  }
  writer.step().channel(o.bits + 1, 1);
  for (const Bits& vector : items[query]) writer.step().input(vector);
  writer.step().channel(o.bits + 1, 1);
  for (const Bits& vector : items[query + 1]) writer.step().target(vector);
  return writer.sequence();
}

AlgorithmSequence sort_of(const AlgorithmOptions& o, const std::vector<Bits>& vectors,
                          const std::vector<float>& priorities) {
  Writer writer(o);
  for (std::size_t i = 0; i < vectors.size(); ++i) writer.step().input(vectors[i]).channel(o.bits, priorities[i]);
  writer.step().channel(o.bits + 1, 1);
  std::vector<std::size_t> order(vectors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return priorities[i]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(o.sorted)));
  for (const std::size_t i : order) writer.step().target(vectors[i]);
  return writer.sequence();
}

/// The optimal estimator (Graves et al. 2014, eq. 10): P(1 | context) = (N_1 + ½) / (N_0 + N_1 + 1).
AlgorithmSequence ngrams_of(const AlgorithmOptions& o, const Bits& bits) {
  Writer writer(o);
  std::vector<std::array<double, 2>> seen(std::size_t{1} << o.context);
  const std::size_t mask = seen.size() - 1;
  std::size_t context = 0;
  AlgorithmSequence& sequence = writer.sequence();
  for (std::size_t i = 0; i + 1 < bits.size(); ++i) {
    context = ((context << 1) | static_cast<std::size_t>(bits[i])) & mask;
    writer.step().input({bits[i]});
    sequence.optimal.push_back(0.f);
    if (static_cast<std::int64_t>(i) + 1 < o.context) continue;
    const auto next = static_cast<std::size_t>(bits[i + 1]);
    auto& counts = seen[context];
    const double one = (counts[1] + 0.5) / (counts[0] + counts[1] + 1);
    sequence.optimal.back() = static_cast<float>(one);
    sequence.optimal_bits -= std::log2(next == 1 ? one : 1 - one);
    counts[next] += 1;
    writer.target({bits[i + 1]});
  }
  return sequence;
}

}  // namespace

AlgorithmOptions AlgorithmOptions::of(AlgorithmTask task) {
  AlgorithmOptions o{.task = task};
  switch (task) {
    case AlgorithmTask::copy:
      break;
    case AlgorithmTask::repeat_copy:
      o.max_length = 10, o.max_repeats = 10;
      break;
    case AlgorithmTask::recall:
      o.bits = 6, o.min_length = 2, o.max_length = 6;
      break;
    case AlgorithmTask::sort:
      o.min_length = o.max_length = 20;
      break;
    case AlgorithmTask::ngrams:
      o.bits = 1, o.min_length = o.max_length = 200;
      break;
  }
  return o;
}

std::int64_t AlgorithmOptions::inputs() const {
  switch (task) {
    case AlgorithmTask::copy:
      return bits + 1;
    case AlgorithmTask::repeat_copy:
    case AlgorithmTask::recall:
    case AlgorithmTask::sort:
      return bits + 2;
    case AlgorithmTask::ngrams:
      return 1;
  }
  return 0;
}

std::int64_t AlgorithmOptions::outputs() const {
  return task == AlgorithmTask::repeat_copy ? bits + 1 : task == AlgorithmTask::ngrams ? 1 : bits;
}

void AlgorithmOptions::check() const {
  const auto within = [](const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most)
      fail<InputError>("algorithm", what, " is out of range: got ", value, ", expected ", least, " to ", most);
  };
  within("the number of bits", bits, 1, kMostBits);
  if (task == AlgorithmTask::ngrams && bits != 1)
    fail<InputError>("algorithm", "n-grams are sequences of single bits: got ", bits, " bits");
  within("the number of bits of a context", context, 1, kMostContext);
  const std::int64_t least = task == AlgorithmTask::recall ? 2 : task == AlgorithmTask::ngrams ? context + 1 : 1;
  within("the longest length", max_length, least, kMostLength);
  within("the shortest length", min_length, least, max_length);
  within("the largest number of repeats", max_repeats, 1, kMostRepeats);
  within("the smallest number of repeats", min_repeats, 1, max_repeats);
  within("the number of vectors in an item", item_length, 1, kMostLength);
  within("the number of sorted vectors", sorted, 1, kMostLength);
  if (max_length * std::max(max_repeats, task == AlgorithmTask::recall ? item_length : 1) > 10 * kMostLength)
    fail<InputError>("algorithm", "the sequences would be too long: got length ", max_length, ", ", max_repeats,
                     " repeats and items of ", item_length);
}

AlgorithmOptions AlgorithmOptions::read(const Config& config) {
  AlgorithmOptions o;
  o.task = config.choice("name", kAlgorithmTaskNames);
  o.bits = config.integer_in("bits", 1, kMostBits);
  o.min_length = config.integer_in("min_length", 1, kMostLength);
  o.max_length = config.integer_in("max_length", 1, kMostLength);
  o.min_repeats = config.integer_in("min_repeats", 1, kMostRepeats);
  o.max_repeats = config.integer_in("max_repeats", 1, kMostRepeats);
  o.item_length = config.integer_in("item_length", 1, kMostLength);
  o.sorted = config.integer_in("sorted", 1, kMostLength);
  o.context = config.integer_in("context", 1, kMostContext);
  o.check();
  return o;
}

Config AlgorithmOptions::config() const {
  Config config;
  config.set("name", name_of(task, kAlgorithmTaskNames));
  config.set("bits", bits);
  config.set("min_length", min_length);
  config.set("max_length", max_length);
  config.set("min_repeats", min_repeats);
  config.set("max_repeats", max_repeats);
  config.set("item_length", item_length);
  config.set("sorted", sorted);
  config.set("context", context);
  return config;
}

std::int64_t AlgorithmSequence::targets() const {
  return std::ranges::count_if(target, [](std::int32_t bit) { return bit != kNoTarget; });
}

AlgorithmSequence make_sequence(const AlgorithmOptions& o, std::uint64_t seed, std::uint64_t index,
                                std::int64_t longest) {
  Draws draws(seed, index);
  const std::int64_t most = longest > 0 ? std::clamp(longest, o.min_length, o.max_length) : o.max_length;
  const std::int64_t length = draws.between(o.min_length, most);
  AlgorithmSequence sequence;
  switch (o.task) {
    case AlgorithmTask::copy:
      sequence = copy_of(o, random_vectors(length, o.bits, draws));
      break;
    case AlgorithmTask::repeat_copy: {
      const std::int64_t repeats = draws.between(o.min_repeats, o.max_repeats);
      sequence = repeated_copy_of(o, random_vectors(length, o.bits, draws), repeats);
      break;
    }
    case AlgorithmTask::recall: {
      const auto query = static_cast<std::size_t>(draws.between(0, length - 2));
      std::vector<std::vector<Bits>> items;
      for (std::int64_t i = 0; i < length; ++i) items.push_back(random_vectors(o.item_length, o.bits, draws));
      sequence = recall_of(o, items, query);
      break;
    }
    case AlgorithmTask::sort: {
      std::vector<float> priorities;
      for (std::int64_t i = 0; i < length; ++i) priorities.push_back(2 * draws.uniform() - 1);
      sequence = sort_of(o, random_vectors(length, o.bits, draws), priorities);
      break;
    }
    case AlgorithmTask::ngrams: {
      std::vector<float> table;  // Beta(½, ½) is the arcsine distribution
      for (std::size_t i = 0; i < std::size_t{1} << o.context; ++i) {
        const float half = std::sin(0.5f * std::numbers::pi_v<float> * draws.uniform());
        table.push_back(half * half);
      }
      Bits bits = random_bits(o.context, draws);
      std::size_t context = 0;
      for (const int bit : bits) context = (context << 1) | static_cast<std::size_t>(bit);
      while (std::ssize(bits) < length) {
        bits.push_back(draws.uniform() < table[context & (table.size() - 1)] ? 1 : 0);
        context = (context << 1) | static_cast<std::size_t>(bits.back());
      }
      sequence = ngrams_of(o, bits);
      break;
    }
  }
  sequence.length = length;
  return sequence;
}

namespace {

Bits parse_bits(const AlgorithmOptions& o, const std::string& word) {
  Bits bits;
  for (const char c : word) {
    if (c != '0' && c != '1')
      fail<InputError>("algorithm", "a vector consists of the digits 0 and 1: got \"", word, "\"");
    bits.push_back(c - '0');
  }
  if (o.task != AlgorithmTask::ngrams && std::ssize(bits) != o.bits)
    fail<InputError>("algorithm", "a vector has the wrong number of bits: got ", bits.size(), " in \"", word,
                     "\", expected ", o.bits);
  return bits;
}

template <typename Number>
Number parse_number(const std::string& word, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    fail<InputError>("algorithm", "expected ", what, ": got \"", word, "\"");
  return value;
}

}  // namespace

AlgorithmSequence parse_sequence(const AlgorithmOptions& o, const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  if (all.empty()) fail<InputError>("algorithm", "the input is empty");
  if (std::ssize(all) > kMostLength)
    fail<InputError>("algorithm", "the input is too long: got ", all.size(), " words, expected at most ", kMostLength);
  std::vector<Bits> vectors;
  AlgorithmSequence sequence;
  switch (o.task) {
    case AlgorithmTask::copy:
      for (const std::string& word : all) vectors.push_back(parse_bits(o, word));
      sequence = copy_of(o, vectors);
      sequence.length = std::ssize(vectors);
      break;
    case AlgorithmTask::repeat_copy: {
      if (all.size() < 2 || !all.back().starts_with('x'))
        fail<InputError>("algorithm", "expected vectors and the number of repeats, such as x3, at the end: got \"",
                         all.back(), "\"");
      const auto repeats = parse_number<std::int64_t>(all.back().substr(1), "a number of repeats after x");
      if (repeats < 1 || repeats > kMostRepeats)
        fail<InputError>("algorithm", "the number of repeats is out of range: got ", repeats, ", expected 1 to ",
                         kMostRepeats);
      all.pop_back();
      for (const std::string& word : all) vectors.push_back(parse_bits(o, word));
      sequence = repeated_copy_of(o, vectors, repeats);
      sequence.length = std::ssize(vectors);
      break;
    }
    case AlgorithmTask::recall: {
      std::vector<std::vector<Bits>> items(1);
      bool query = false;
      for (const std::string& word : all) {
        if (word == "|" || word == "?") {
          if (query) fail<InputError>("algorithm", "the query after ? must be the last item: got \"", word, "\"");
          query = word == "?";
          items.emplace_back();
        } else {
          items.back().push_back(parse_bits(o, word));
        }
      }
      for (const auto& item : items)
        if (std::ssize(item) != o.item_length)
          fail<InputError>("algorithm", "an item has the wrong number of vectors: got ", item.size(), ", expected ",
                           o.item_length);
      if (!query || items.size() < 3)
        fail<InputError>("algorithm", "expected at least two items, separated by |, and after ? the one to look for");
      const std::vector<Bits> wanted = items.back();
      items.pop_back();
      const auto found = std::find(items.begin(), items.end() - 1, wanted);
      if (found == items.end() - 1)
        fail<InputError>("algorithm", "the item after ? must be one of the items before it, except the last");
      sequence = recall_of(o, items, static_cast<std::size_t>(found - items.begin()));
      sequence.length = std::ssize(items);
      break;
    }
    case AlgorithmTask::sort: {
      std::vector<float> priorities;
      for (const std::string& word : all) {
        const std::size_t colon = word.find(':');
        if (colon == std::string::npos)
          fail<InputError>("algorithm", "expected BITS:PRIORITY, such as 0110:0.5: got \"", word, "\"");
        vectors.push_back(parse_bits(o, word.substr(0, colon)));
        priorities.push_back(parse_number<float>(word.substr(colon + 1), "a priority after the colon"));
        if (!(std::abs(priorities.back()) <= 1))
          fail<InputError>("algorithm", "a priority is out of range: got ", priorities.back(), ", expected -1 to 1");
      }
      sequence = sort_of(o, vectors, priorities);
      sequence.length = std::ssize(vectors);
      break;
    }
    case AlgorithmTask::ngrams: {
      Bits bits;
      for (const std::string& word : all) {
        const Bits more = parse_bits(o, word);
        bits.insert(bits.end(), more.begin(), more.end());
      }
      if (std::ssize(bits) <= o.context || std::ssize(bits) > kMostLength)
        fail<InputError>("algorithm", "wrong number of bits: got ", bits.size(), ", expected ", o.context + 1, " to ",
                         kMostLength);
      sequence = ngrams_of(o, bits);
      sequence.length = std::ssize(bits);
      break;
    }
  }
  return sequence;
}

AlgorithmBatch batch_of(std::span<const AlgorithmSequence> sequences) {
  const auto B = static_cast<std::int64_t>(sequences.size());
  const std::int64_t I = sequences[0].inputs, O = sequences[0].outputs;
  std::int64_t T = 0;
  for (const AlgorithmSequence& one : sequences) T = std::max(T, one.steps);
  AlgorithmBatch batch{.input = Tensor::zeros({B, T, I}), .target = Tensor::empty({B, T, O}, DType::i32)};
  std::ranges::fill(batch.target.span<std::int32_t>(), AlgorithmSequence::kNoTarget);
  for (std::int64_t b = 0; b < B; ++b) {
    const AlgorithmSequence& one = sequences[static_cast<std::size_t>(b)];
    std::ranges::copy(one.input, batch.input.data() + b * T * I);
    std::ranges::copy(one.target, batch.target.data<std::int32_t>() + b * T * O);
    batch.targets += one.targets(), batch.steps += one.steps;
  }
  return batch;
}

}  // namespace attend
