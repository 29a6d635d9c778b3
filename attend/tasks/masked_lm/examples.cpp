#include "attend/tasks/masked_lm/examples.h"

#include <algorithm>

#include "attend/core/error.h"
#include "attend/tasks/masked_lm/random_sequence.h"

namespace attend {
namespace {

using Run = std::vector<TokenRange>;

/// Groups the sentences of a document into runs of at most `room` tokens. Longer sentences are cut.
std::vector<Run> runs_of(const SentenceStore& sentences, std::int64_t document, std::int64_t room) {
  std::vector<Run> runs;
  std::int64_t filled = room;  // of the last run
  for (std::int64_t s = 0; s < sentences.sentences(document); ++s) {
    const TokenRange sentence = sentences.sentence(document, s);
    for (std::int64_t begin = sentence.begin; begin < sentence.end; begin += room) {
      const TokenRange part{begin, std::min(begin + room, sentence.end)};
      if (filled + part.size() > room) runs.emplace_back(), filled = 0;
      filled += part.size();
      runs.back().push_back(part);
    }
  }
  return runs;
}

}  // namespace

Sentence to_sentence(const Encoding& encoding) {
  Sentence sentence;
  std::int32_t word = -1;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.special[i]) continue;
    sentence.ids.push_back(encoding.ids[i]);
    const bool begins = encoding.words[i] != word || encoding.words[i] < 0;
    sentence.begins.push_back(begins ? kBeginOfWord : kInsideWord);
    word = encoding.words[i];
  }
  return sentence;
}

SentenceStore::SentenceStore(TokenStore store) : store_(std::move(store)) {
  for (std::int64_t d = 0; d < store_->documents(); ++d)
    if (store_->document(d).size() == 0) begins_.push_back(d + 1);
}

std::vector<std::int32_t> SentenceStore::packed(const Sentence& sentence) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < sentence.ids.size(); ++i)
    ids.push_back(2 * sentence.ids[i] + (sentence.begins[i] == kBeginOfWord ? 1 : 0));
  return ids;
}

std::int64_t SentenceStore::sentences(std::int64_t document) const {
  const auto d = static_cast<std::size_t>(document);
  const std::int64_t end = d + 1 < begins_.size() ? begins_[d + 1] - 1 : store_->documents();
  return end - begins_[d];
}

TokenRange SentenceStore::sentence(std::int64_t document, std::int64_t index) const {
  return store_->document(begins_[static_cast<std::size_t>(document)] + index);
}

Sentence SentenceStore::read(TokenRange range) const {
  Sentence sentence{store_->read(range), {}};
  for (std::int32_t& id : sentence.ids) {
    sentence.begins.push_back(id % 2 == 1 ? kBeginOfWord : kInsideWord);
    id /= 2;
  }
  return sentence;
}

PreTrainingExamples::PreTrainingExamples(SentenceStore sentences, const ExampleOptions& options)
    : sentences_(std::move(sentences)), options_(options) {
  const std::int64_t special = options.next_sentence ? 3 : 2;
  if (options.max_tokens < special + 2)
    fail<InputError>("pre_training", "max_tokens must be at least ", special + 2, ": got ", options.max_tokens);
  const std::int64_t room = options.max_tokens - special, documents = sentences_.documents();
  RandomSequence random({options.seed, 0x6578616D});
  for (std::int64_t d = 0; d < documents; ++d) {
    for (const Run& run : runs_of(sentences_, d, room)) {
      if (!options.next_sentence) {
        places_.push_back({.first = {run.front().begin, run.back().end}});
        continue;
      }
      if (run.size() < 2) continue;
      const std::size_t split = 1 + random.below(run.size() - 1);
      const TokenRange first{run.front().begin, run[split - 1].end};
      TokenRange second{run[split].begin, run.back().end};
      const bool elsewhere = documents > 1 && random.uniform() < 0.5f;
      if (elsewhere) {  // the second text begins with a random sentence of another document and fills the example
        auto other = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(documents - 1)));
        other += other >= d;
        second = {};
        if (const std::int64_t count = sentences_.sentences(other); count > 0) {
          const auto from = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(count)));
          second.begin = sentences_.sentence(other, from).begin;
          second.end = std::min(second.begin + room - first.size(), sentences_.sentence(other, count - 1).end);
        }
      }
      if (second.size() > 0)
        places_.push_back({.first = first,
                           .second = second.begin,
                           .second_size = static_cast<std::int32_t>(second.size()),
                           .random = elsewhere});
    }
  }
}

PreTrainingExample PreTrainingExamples::operator[](std::int64_t i) const {
  const Place& place = places_.at(static_cast<std::size_t>(i));
  PreTrainingExample example;
  const auto add_special = [&](std::int32_t id) { example.ids.push_back(id), example.begins.push_back(kSpecialToken); };
  const auto add = [&](TokenRange range) {
    const Sentence text = sentences_.read(range);
    example.ids.insert(example.ids.end(), text.ids.begin(), text.ids.end());
    example.begins.insert(example.begins.end(), text.begins.begin(), text.begins.end());
    add_special(options_.separator);
  };
  add_special(options_.classify);
  add(place.first);
  example.second = static_cast<std::int64_t>(example.ids.size());
  if (place.second_size > 0) add({place.second, place.second + place.second_size});
  example.random = place.random;
  return example;
}

std::vector<std::int32_t> PreTrainingExamples::lengths() const {
  std::vector<std::int32_t> lengths;
  lengths.reserve(places_.size());
  for (const Place& place : places_) {
    const std::int64_t texts = place.first.size() + place.second_size;
    lengths.push_back(static_cast<std::int32_t>(texts + (place.second_size > 0 ? 3 : 2)));
  }
  return lengths;
}

}  // namespace attend
