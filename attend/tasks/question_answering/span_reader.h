// Reads a question and a text with any model that finds answers, and gives the logits of its tokens: a SpanModel
// (BiDAF), or a model of BERT's family with a question-answering head. Use and training are built on it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/bert.h"
#include "attend/models/registry.h"
#include "attend/models/span_model.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// A question and its text, or a part of a long text, as one sequence of tokens. The texts must outlive it.
struct SpanWindow {
  std::string_view question, text;
  std::vector<std::int32_t> ids;
  std::vector<Span> spans;          ///< of a token of the question in the question, of one of the text in the text
  std::vector<std::int32_t> words;  ///< the index of the word that each token is part of
  std::size_t begin = 0, end = 0;   ///< the tokens of the text

  std::int64_t size() const { return std::ssize(ids); }
  /// The bytes of the text from the first token to the last one, extended to whole words of this window.
  Span words_between(std::size_t first, std::size_t last) const;
};

struct SpanWindowOptions {
  std::int64_t max_tokens = 0;  ///< of question and text together; a longer text is split. 0: SpanReader::window
  std::int64_t overlap = 128;   ///< tokens of the text that two windows in a row share, at most half a window
};

/// Copies share the model.
struct SpanReader {
  Tokenizer tokenizer;
  std::string kind;             ///< the type of the model
  std::int64_t window = 0;      ///< the default length of a window
  std::int64_t max_tokens = 0;  ///< the maximum length of a window; 0: no limit
  std::int64_t word_bytes = 0;  ///< see SpanModel
  std::int32_t padding = 0;
  /// The logits of a batch. types is 1 for the tokens of the text, and 0 for all others.
  std::function<SpanLogits(const SpanInput& input, Probe* probe)> find_spans;

  /// Reads with the folder's model. Throws InputError if it holds no model that finds answers in a text.
  explicit SpanReader(const ModelFolder& folder);
  /// Read with a model in memory.
  SpanReader(const std::shared_ptr<const SpanModel>& model, const Tokenizer& tokenizer);
  SpanReader(const std::shared_ptr<const Bert>& model, const Tokenizer& tokenizer);

  /// Whether a question leaves room for a text in a window.
  bool has_room(std::string_view question, const SpanWindowOptions& options = {}) const;
  /// All windows of a text; none if the text has no tokens, or the question has none, not even special ones. Throws
  /// InputError if the question leaves no room for the text.
  std::vector<SpanWindow> windows(std::string_view question, std::string_view text,
                                  const SpanWindowOptions& options = {}) const;
  /// The batch of the chosen windows.
  SpanInput input(std::span<const SpanWindow* const> chosen) const;

 private:
  std::int64_t limit(const SpanWindowOptions& options) const;
};

}  // namespace attend
