// Extractive question answering: finds the answer to a question in a text, as Hugging Face's question-answering
// pipeline does.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/models/registry.h"
#include "attend/tasks/encoder/bert_reader.h"

namespace attend {

struct AnswerOptions {
  std::int64_t top = 1;                 ///< the maximum number of answers
  std::int64_t max_answer_tokens = 15;  ///< the maximum length of an answer
  bool may_lack = false;                ///< the text may have no answer: an empty answer competes with the others
  std::int64_t max_tokens = 384;        ///< of question and text together; a longer text is split into windows
  std::int64_t overlap = 128;           ///< tokens of the text that two windows in a row share, at most half a window
  std::int64_t batch_tokens = kBertBatchTokens;
};

struct Answer {
  Span span;         ///< byte range in the text, extended to whole words; empty: the text has no answer
  double score = 0;  ///< P(the answer begins here) · P(it ends there), with the probabilities of its window
};

/// Immutable and cheap to copy.
class Answerer {
 public:
  /// Throws InputError if the folder holds no model for question answering.
  explicit Answerer(const ModelFolder& folder);
  explicit Answerer(const std::filesystem::path& folder) : Answerer(ModelFolder(folder)) {}

  /// The best answers, best first; none if the text is blank. Throws InputError if the question leaves no room for the
  /// text within max_tokens.
  std::vector<Answer> operator()(const std::string& question, const std::string& text,
                                 const AnswerOptions& options = {}) const;

 private:
  std::shared_ptr<const BertReader> reader_;
};

}  // namespace attend
