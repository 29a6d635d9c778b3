// Questions about stories as token ids, and their batches for memory networks and for models that read one sequence.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/data/babi.h"
#include "attend/data/batches.h"
#include "attend/models/memory_network.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Encoded questions with their stories. Every different sentence is stored once.
class StorySet {
 public:
  struct Question {
    std::vector<std::int32_t> story;  ///< the sentences before the question, as indices for words()
    std::int32_t question = 0;        ///< an index for words()
    std::int32_t answer = -1;         ///< an index into the model's answers; -1: not among them
    int task = 0;
  };

  /// At most `memory` sentences of each story are kept, the last ones.
  StorySet(Tokenizer tokenizer, const std::vector<std::string>& answers, std::int64_t memory);

  void add(std::span<const std::string> story, const std::string& question, const std::string& answer = {},
           int task = 0);
  /// Adds all questions of a story.
  void add(const Story& story);

  std::int64_t size() const { return std::ssize(questions_); }
  const Question& operator[](std::int64_t i) const { return questions_[static_cast<std::size_t>(i)]; }
  /// The token ids of a sentence, without the mark at its end.
  const std::vector<std::int32_t>& words(std::int32_t sentence) const {
    return sentences_[static_cast<std::size_t>(sentence)];
  }
  /// The number of words of each story with its question, for BatchSampler.
  std::vector<std::int32_t> lengths() const;
  /// int32 [B], for the chosen questions.
  Tensor answers(std::span<const std::int64_t> chosen) const;

 private:
  std::int32_t index_of(const std::string& sentence);

  Tokenizer tokenizer_;
  std::int64_t memory_;
  std::map<std::string, std::int32_t> answers_, known_;  // known_: the indices of sentences
  std::vector<std::vector<std::int32_t>> sentences_;
  std::vector<Question> questions_;
};

/// A sentence without white space and punctuation at its end.
std::string without_end_mark(const std::string& sentence);

/// Time noise (Sukhbaatar et al. 2015, section 4.1): up to `share` of a story's sentences are empty memories at random
/// times. An empty memory is left out of the batch, and the times of the sentences before it grow by one.
struct TimeNoise {
  float share = 0.f;
  PhiloxKey key = {};
};
/// The chosen questions for a memory network that knows `times` different times.
StoryBatch story_batch(const StorySet& set, std::span<const std::int64_t> chosen, std::int64_t times,
                       const TimeNoise& noise = {});

/// How a story and its question become one sequence: `first`, the words of the sentences, each with `end` behind it,
/// and the words of the question.
struct FlatStoryOptions {
  std::optional<std::int32_t> first = {};
  std::int32_t end = 0, padding = 0;
  std::int64_t max_tokens = 0;  ///< longer stories lose their first tokens; 0: no limit
};
TokenBatch flat_batch(const StorySet& set, std::span<const std::int64_t> chosen, const FlatStoryOptions& options);

}  // namespace attend
