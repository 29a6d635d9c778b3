// Where in a text the answer to a question stands, as the question-answering pipeline of Hugging Face finds it.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/models/registry.h"
#include "attend/tasks/encoder/bert_reader.h"

namespace attend {

struct AnswerOptions {
  std::int64_t top = 1;
  std::int64_t longest = 15;      ///< tokens of an answer at most
  bool may_lack = false;          ///< the text may hold no answer: then an empty one is among them
  std::int64_t max_tokens = 384;  ///< of question and text together; a longer text is read in windows
  std::int64_t overlap = 128;     ///< tokens of the text that neighbouring windows share, at most half a window
  std::int64_t batch_tokens = kBertBatchTokens;
};

struct Answer {
  Span span;         ///< in the text, whole words; empty: there is none
  double score = 0;  ///< P(begins here) · P(ends there), within the window that it was found in
};

/// Immutable and cheap to copy.
class Answerer {
 public:
  /// Throws InputError when the folder holds no model for answers.
  explicit Answerer(const ModelFolder& folder);
  explicit Answerer(const std::filesystem::path& folder) : Answerer(ModelFolder(folder)) {}
  /// A model in memory; the parameters are shared.
  Answerer(Bert model, const Tokenizer& tokenizer);

  /// The best answers, best first; none in a text without words. Throws InputError for a question that leaves no room
  /// for the text.
  std::vector<Answer> operator()(const std::string& question, const std::string& text,
                                 const AnswerOptions& options = {}) const;

 private:
  std::shared_ptr<const BertReader> reader_;
};

}  // namespace attend
