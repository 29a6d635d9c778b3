// Extractive question answering: finds the answer to a question in a text, as Hugging Face's question-answering
// pipeline does.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/models/registry.h"
#include "attend/tasks/question_answering/span_reader.h"

namespace attend {

struct AnswerOptions {
  std::int64_t top = 1;                 ///< the maximum number of answers
  std::int64_t max_answer_tokens = 15;  ///< the maximum length of an answer
  bool may_lack = false;                ///< the text may have no answer: an empty answer competes with the others
  SpanWindowOptions windows = {};       ///< how a long text is split
  std::int64_t batch_tokens = 1024;     ///< tokens in a batch, including padding
};

struct Answer {
  Span span;         ///< byte range in the text, extended to whole words; empty: the text has no answer
  double score = 0;  ///< P(the answer begins here) · P(it ends there), with the probabilities of its window
  Span window = {};  ///< byte range of the part of the text that was read together; empty if the text has no answer
};

/// A question about a text. Both must outlive it.
struct TextQuestion {
  std::string_view question, text;
};

/// For each token of a window, the probabilities that the answer begins and ends there. Those of the first token mean
/// "no answer".
struct SpanProbabilities {
  std::vector<double> start, end;
};
/// Called for each window of a question, in any order.
using SeeWindow =
    std::function<void(std::size_t question, const SpanWindow& window, const SpanProbabilities& probabilities)>;

/// Immutable and cheap to copy.
class Answerer {
 public:
  /// Throws InputError if the folder holds no model that finds answers in a text.
  explicit Answerer(const ModelFolder& folder) : Answerer(SpanReader(folder)) {}
  explicit Answerer(const std::filesystem::path& folder) : Answerer(ModelFolder(folder)) {}
  explicit Answerer(SpanReader reader) : reader_(std::make_shared<const SpanReader>(std::move(reader))) {}

  /// The best answers, best first; none if the text is blank. Throws InputError if the question leaves no room for the
  /// text within max_tokens.
  std::vector<Answer> operator()(const std::string& question, const std::string& text,
                                 const AnswerOptions& options = {}) const;
  /// The best answers of each question. Questions of similar length form a batch. Progress counts questions.
  std::vector<std::vector<Answer>> operator()(std::span<const TextQuestion> questions,
                                              const AnswerOptions& options = {}, const Progress& progress = {},
                                              const SeeWindow& see = {}) const;

  const SpanReader& reader() const { return *reader_; }

 private:
  std::shared_ptr<const SpanReader> reader_;
};

}  // namespace attend
