#include "attend/tasks/masked_lm/training.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/ops/arithmetic.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/reduce.h"

namespace attend {
namespace {

constexpr std::uint8_t kSpecial = 2;  // in PreTrainingExample::begins

std::vector<std::int32_t> lengths_of(const std::vector<PreTrainingExample>& examples) {
  std::vector<std::int32_t> lengths;
  for (const PreTrainingExample& example : examples) lengths.push_back(static_cast<std::int32_t>(example.ids.size()));
  return lengths;
}

/// Draws whole numbers from a stream, one after the other.
class Dice {
 public:
  explicit Dice(PhiloxKey key) : key_(key) {}
  std::uint32_t bits() { return philox(key_, next_++)[0]; }
  /// In [0, count).
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(bits()) * count >> 32);
  }
  float uniform() { return uniform_from(bits()); }

 private:
  PhiloxKey key_;
  std::uint64_t next_ = 0;
};

void append(Sentence& to, const Sentence& from) {
  to.ids.insert(to.ids.end(), from.ids.begin(), from.ids.end());
  to.begins.insert(to.begins.end(), from.begins.begin(), from.begins.end());
}

Sentence part_of(const Sentence& sentence, std::size_t begin, std::size_t end) {
  const auto cut = [&](const auto& list) {
    return std::remove_cvref_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(begin),
                                               list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return {cut(sentence.ids), cut(sentence.begins)};
}

/// [CLS] first [SEP] second [SEP]
PreTrainingExample example_of(const Sentence& first, const Sentence& second, const ExampleOptions& options) {
  PreTrainingExample example;
  const auto add_special = [&](std::int32_t id) { example.ids.push_back(id), example.begins.push_back(kSpecial); };
  const auto add = [&](const Sentence& text) {
    example.ids.insert(example.ids.end(), text.ids.begin(), text.ids.end());
    example.begins.insert(example.begins.end(), text.begins.begin(), text.begins.end());
    add_special(options.separator);
  };
  add_special(options.classify);
  add(first);
  example.second = static_cast<std::int64_t>(example.ids.size());
  if (!second.ids.empty()) add(second);
  return example;
}

/// Documents as runs of sentences of `room` tokens at most.
std::vector<Document> runs_of(const Document& document, std::size_t room) {
  std::vector<Document> runs;
  std::size_t filled = room;  // of the last run
  const auto add = [&](Sentence sentence) {
    if (filled + sentence.ids.size() > room) runs.emplace_back(), filled = 0;
    filled += sentence.ids.size();
    runs.back().push_back(std::move(sentence));
  };
  for (const Sentence& sentence : document)
    for (std::size_t begin = 0; begin < sentence.ids.size(); begin += room)
      add(part_of(sentence, begin, std::min(begin + room, sentence.ids.size())));
  return runs;
}

}  // namespace

Sentence to_sentence(const Encoding& encoding) {
  Sentence sentence;
  std::int32_t word = -1;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.special[i]) continue;
    sentence.ids.push_back(encoding.ids[i]);
    sentence.begins.push_back(encoding.words[i] != word || encoding.words[i] < 0);
    word = encoding.words[i];
  }
  return sentence;
}

std::vector<PreTrainingExample> make_examples(const std::vector<Document>& documents, const ExampleOptions& options) {
  const std::int64_t special = options.next_sentence ? 3 : 2;
  if (options.max_tokens < special + 2)
    fail<InputError>("pre_training", "an example has room for ", special + 2, " tokens at least: got ",
                     options.max_tokens);
  const auto room = static_cast<std::size_t>(options.max_tokens - special);
  std::vector<PreTrainingExample> examples;
  Dice dice({options.seed, 0x6578616D});
  for (std::size_t d = 0; d < documents.size(); ++d) {
    for (const Document& run : runs_of(documents[d], room)) {
      Sentence first, second;
      if (!options.next_sentence) {
        for (const Sentence& sentence : run) append(first, sentence);
        examples.push_back(example_of(first, {}, options));
        continue;
      }
      if (run.size() < 2) continue;
      const std::size_t split = 1 + dice.below(run.size() - 1);
      for (std::size_t i = 0; i < run.size(); ++i) append(i < split ? first : second, run[i]);
      const bool random = documents.size() > 1 && dice.uniform() < 0.5f;
      if (random) {  // as many tokens from a place in another document
        std::size_t other = dice.below(documents.size() - 1);
        other += other >= d;
        const std::size_t wanted = room - first.ids.size();
        const Document& from = documents[other];
        second = {};
        for (std::size_t i = from.empty() ? 0 : dice.below(from.size()); i < from.size() && second.ids.size() < wanted;
             ++i)
          append(second, from[i]);
        second = part_of(second, 0, std::min(second.ids.size(), wanted));
      }
      if (second.ids.empty()) continue;
      examples.push_back(example_of(first, second, options));
      examples.back().random = random;
    }
  }
  return examples;
}

Hidden hide(std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& begins, const MaskingOptions& options,
            PhiloxKey key) {
  // Units that are hidden together: places [starts[i], starts[i + 1]) that are no special tokens.
  std::vector<std::pair<std::size_t, std::size_t>> units;
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (begins[i] == kSpecial) continue;
    ++tokens;
    const bool joins = options.whole_words && begins[i] == 0 && !units.empty() && units.back().second == i;
    if (joins)
      ++units.back().second;
    else
      units.emplace_back(i, i + 1);
  }
  Hidden hidden;
  if (tokens == 0) return hidden;
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<float>(tokens) * options.share + 0.5f));
  Dice dice(key);
  for (std::size_t left = units.size(); left > 0 && hidden.places.size() < wanted; --left) {
    const std::size_t choice = dice.below(left);
    std::swap(units[choice], units[left - 1]);
    for (std::size_t i = units[left - 1].first; i < units[left - 1].second; ++i)
      hidden.places.push_back(static_cast<std::int32_t>(i));
  }
  std::ranges::sort(hidden.places);
  for (const std::int32_t place : hidden.places) {
    std::int32_t& id = ids[static_cast<std::size_t>(place)];
    hidden.words.push_back(id);
    const float what = dice.uniform();
    if (what < options.masked)
      id = options.mask;
    else if (what < options.masked + options.random && !options.words.empty())
      id = options.words[dice.below(options.words.size())];
  }
  return hidden;
}

PreTrainee::PreTrainee(const Bert& model, std::vector<NamedTensor> parameters, SaveModel save,
                       std::vector<PreTrainingExample> training, std::vector<PreTrainingExample> validation,
                       PreTrainingOptions options)
    : SampledTrainee(std::move(parameters), std::move(save), BatchSampler(lengths_of(training), options.batches)),
      model_(model),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(std::move(options)) {}

PreTrainee::Batch PreTrainee::make_batch(const std::vector<PreTrainingExample>& from,
                                         std::span<const std::int64_t> chosen, PhiloxKey key) const {
  std::vector<std::int32_t> ids, types, rows, words, random;
  Batch batch;
  for (const std::int64_t i : chosen) {
    const PreTrainingExample& example = from[static_cast<std::size_t>(i)];
    std::vector<std::int32_t> text = example.ids;
    const PhiloxKey own{key.seed, key.stream * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(i)};
    const Hidden hidden = hide(text, example.begins, options_.masking, own);
    for (const std::int32_t place : hidden.places) rows.push_back(static_cast<std::int32_t>(ids.size()) + place);
    words.insert(words.end(), hidden.words.begin(), hidden.words.end());
    random.push_back(example.random);
    ids.insert(ids.end(), text.begin(), text.end());
    for (std::int64_t t = 0; t < static_cast<std::int64_t>(text.size()); ++t) types.push_back(t >= example.second);
    batch.input.lengths.push_back(static_cast<std::int64_t>(text.size()));
  }
  const auto tensor = [](const std::vector<std::int32_t>& values) {
    return Tensor::ids(values, {static_cast<std::int64_t>(values.size())});
  };
  batch.input.ids = tensor(ids);
  if (model_.options.types > 1) batch.input.types = tensor(types);
  batch.rows = tensor(rows), batch.words = tensor(words), batch.random = tensor(random);
  return batch;
}

Trainee::Loss PreTrainee::next() {
  const std::vector<std::int64_t> chosen = choose();
  const Batch batch = make_batch(training_, chosen, default_generator().next());
  const Tensor states = model_.encode(batch.input);
  const std::int64_t targets = batch.words.numel();
  Tensor sum = cross_entropy(model_.predict_tokens(states, batch.rows), batch.words, {.reduction = Reduction::sum});
  // Both losses are means, and are added; the trainer divides by the targets.
  if (next_sentence())
    sum = sum + cross_entropy(model_.follows(states, batch.input.lengths), batch.random) * static_cast<float>(targets);
  return {sum, targets, batch.input.ids.numel()};
}

Scores PreTrainee::judge() {
  if (validation_.empty()) return {};
  BatchOptions all = options_.batches;
  all.shuffle = false;
  BatchSampler sampler(lengths_of(validation_), all);
  double word_loss = 0, next_loss = 0;
  std::int64_t words = 0, right_words = 0, right_next = 0;
  const auto count_right = [](const Tensor& logits, const Tensor& expected) {
    const Tensor best = argmax(logits, -1);
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < best.numel(); ++i)
      right += best.data<std::int32_t>()[i] == expected.data<std::int32_t>()[i];
    return right;
  };
  for (std::int64_t i = sampler.batches(); i > 0; --i) {
    const Batch batch = make_batch(validation_, sampler.next(), {0, 0});
    const Tensor states = model_.encode(batch.input), logits = model_.predict_tokens(states, batch.rows);
    right_words += count_right(logits, batch.words), words += batch.words.numel();
    word_loss += cross_entropy(logits, batch.words, {.reduction = Reduction::sum}).item();
    if (!next_sentence()) continue;
    const Tensor next = model_.follows(states, batch.input.lengths);
    right_next += count_right(next, batch.random);
    next_loss += cross_entropy(next, batch.random, {.reduction = Reduction::sum}).item();
  }
  const auto mean = [](double sum, std::int64_t count) {
    return sum / static_cast<double>(std::max<std::int64_t>(count, 1));
  };
  const auto count = static_cast<std::int64_t>(validation_.size());
  const double word = mean(word_loss, words), following = mean(next_loss, count);
  Scores scores{{"loss", word + following},
                {"word_loss", word},
                {"word_accuracy", mean(static_cast<double>(right_words), words)}};
  if (next_sentence())
    scores.insert(scores.end(),
                  {{"next_loss", following}, {"next_accuracy", mean(static_cast<double>(right_next), count)}});
  return scores;
}

}  // namespace attend
