#include "attend/tasks/stories/story_set.h"

#include <algorithm>
#include <cctype>

namespace attend {
namespace {

/// The words of these sentences.   -> int32 [sentences, J], with kNoWord behind the last word
Tensor words_of(const StorySet& set, std::span<const std::int32_t> sentences) {
  std::size_t J = 1;
  for (const std::int32_t sentence : sentences) J = std::max(J, set.words(sentence).size());
  std::vector<std::int32_t> ids(sentences.size() * J, kNoWord);
  for (std::size_t n = 0; n < sentences.size(); ++n)
    std::ranges::copy(set.words(sentences[n]), ids.begin() + static_cast<std::ptrdiff_t>(n * J));
  return Tensor::ids(ids, {std::ssize(sentences), static_cast<std::int64_t>(J)});
}

/// The times of `length` sentences, the last one first: 0, 1, …, with random gaps. All are below `times`.
std::vector<std::int32_t> times_of(std::int64_t length, std::int64_t times, const TimeNoise& noise, std::uint64_t at) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  if (noise.share <= 0) return all;
  const auto most = static_cast<std::int64_t>(noise.share * static_cast<float>(length) + 0.999f);
  const auto random = [&](std::uint64_t i) { return uniform_from(philox(noise.key, (at << 32) + i)[0]); };
  const auto empty = std::min(times - length, static_cast<std::int64_t>(random(0) * static_cast<float>(most + 1)));
  for (std::int64_t i = 0; i < empty; ++i) {
    const auto place =
        static_cast<std::int64_t>(random(static_cast<std::uint64_t>(i) + 1) * static_cast<float>(length + 1));
    for (std::int64_t s = place; s < length; ++s) ++all[static_cast<std::size_t>(s)];
  }
  return all;
}

}  // namespace

std::string without_end_mark(const std::string& sentence) {
  std::size_t end = sentence.size();
  while (end > 0) {
    const auto c = static_cast<unsigned char>(sentence[end - 1]);
    if (std::isspace(c) == 0 && c != '.' && c != '?' && c != '!') break;
    --end;
  }
  return sentence.substr(0, end);
}

StorySet::StorySet(Tokenizer tokenizer, const std::vector<std::string>& answers, std::int64_t memory)
    : tokenizer_(std::move(tokenizer)), memory_(memory) {
  for (const std::string& answer : answers) answers_.emplace(answer, static_cast<std::int32_t>(answers_.size()));
}

std::int32_t StorySet::index_of(const std::string& sentence) {
  const auto [known, added] = known_.emplace(sentence, static_cast<std::int32_t>(sentences_.size()));
  if (added) sentences_.push_back(tokenizer_.ids(without_end_mark(sentence)));
  return known->second;
}

void StorySet::add(std::span<const std::string> story, const std::string& question, const std::string& answer,
                   int task) {
  const auto found = answers_.find(answer);
  Question added{.story = {},
                 .question = index_of(question),
                 .answer = found == answers_.end() ? -1 : found->second,
                 .task = task};
  for (const std::string& sentence : story.last(std::min(story.size(), static_cast<std::size_t>(memory_))))
    added.story.push_back(index_of(sentence));
  questions_.push_back(std::move(added));
}

void StorySet::add(const Story& story) {
  for (const StoryQuestion& question : story.questions)
    add(std::span(story.sentences).first(question.sentences), question.question, joined_answer(question.answer),
        story.task);
}

std::vector<std::int32_t> StorySet::lengths() const {
  std::vector<std::int32_t> all;
  for (const Question& question : questions_) {
    std::size_t count = words(question.question).size();
    for (const std::int32_t sentence : question.story) count += words(sentence).size();
    all.push_back(static_cast<std::int32_t>(count));
  }
  return all;
}

Tensor StorySet::answers(std::span<const std::int64_t> chosen) const {
  std::vector<std::int32_t> all;
  for (const std::int64_t i : chosen) all.push_back((*this)[i].answer);
  return Tensor::ids(all, {std::ssize(all)});
}

StoryBatch story_batch(const StorySet& set, std::span<const std::int64_t> chosen, std::int64_t times,
                       const TimeNoise& noise) {
  const auto B = std::ssize(chosen);
  std::vector<std::int32_t> sentences, questions, lengths;
  std::map<std::int32_t, std::int32_t> rows;  // of the batch's sentences
  for (const std::int64_t i : chosen) {
    questions.push_back(set[i].question);
    lengths.push_back(static_cast<std::int32_t>(set[i].story.size()));
    for (const std::int32_t sentence : set[i].story)
      if (rows.emplace(sentence, static_cast<std::int32_t>(sentences.size())).second) sentences.push_back(sentence);
  }
  const std::int64_t S = *std::ranges::max_element(lengths);
  StoryBatch batch{.sentences = words_of(set, sentences),
                   .stories = Tensor::zeros({B, S}, DType::i32),
                   .times = Tensor::zeros({B, S}, DType::i32),
                   .lengths = Tensor::ids(lengths, {B}),
                   .questions = words_of(set, questions)};
  for (std::int64_t b = 0; b < B; ++b) {
    const std::vector<std::int32_t>& story = set[chosen[static_cast<std::size_t>(b)]].story;
    const std::vector<std::int32_t> ages = times_of(std::ssize(story), times, noise, static_cast<std::uint64_t>(b));
    for (std::size_t s = 0; s < story.size(); ++s) {
      const std::int64_t at = b * S + static_cast<std::int64_t>(s);
      batch.stories.data<std::int32_t>()[at] = rows[story[s]];
      batch.times.data<std::int32_t>()[at] = ages[story.size() - 1 - s];
    }
  }
  return batch;
}

TokenBatch flat_batch(const StorySet& set, std::span<const std::int64_t> chosen, const FlatStoryOptions& options) {
  std::vector<std::vector<std::int32_t>> all;
  for (const std::int64_t i : chosen) {
    std::vector<std::int32_t> ids;
    for (const std::int32_t sentence : set[i].story) {
      std::ranges::copy(set.words(sentence), std::back_inserter(ids));
      ids.push_back(options.end);
    }
    std::ranges::copy(set.words(set[i].question), std::back_inserter(ids));
    const std::int64_t most = options.max_tokens - (options.first ? 1 : 0);
    if (options.max_tokens > 0 && std::ssize(ids) > most) ids.erase(ids.begin(), ids.end() - most);
    if (options.first) ids.insert(ids.begin(), *options.first);
    all.push_back(std::move(ids));
  }
  std::vector<std::span<const std::int32_t>> views(all.begin(), all.end());
  return pad(views, options.padding);
}

}  // namespace attend
