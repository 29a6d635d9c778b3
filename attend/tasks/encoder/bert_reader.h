// Runs texts through a model of BERT's family: it tokenises them, cuts or splits long ones, and computes the states in
// batches of packed sequences. TextEncoder, Classifier, MaskFiller, Answerer and Tagger are built on it.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/core/progress.h"
#include "attend/core/text_error.h"
#include "attend/core/threads.h"
#include "attend/models/bert.h"
#include "attend/models/registry.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// The default number of tokens in a batch. It is enough for efficient matrix products; BERT-base then needs about 30
/// MB for its states.
constexpr std::int64_t kBertBatchTokens = 1024;

/// The tokens of a text, or of a part of a long text. It has at least one token.
struct BertWindow {
  std::size_t text = 0;  ///< the index of the text
  Encoding encoding;     ///< its spans are in the whole text; for a pair, in the line with both texts
  bool whole = true;     ///< false: the text has several windows
};

/// The index of the first token of the second text: it follows the special tokens after the first text.
std::size_t second_text(const Encoding& pair);

struct BertWindowOptions {
  std::int64_t max_tokens = 0;  ///< of a window, including special tokens; 0: only the model's limit
  LongText long_text = LongText::truncate;
  std::int64_t overlap = 0;  ///< tokens that two windows in a row share; limited by the size of a window
  bool pairs = false;        ///< each text is a pair of texts, separated by a tab
};

/// A batch of windows and their states.
struct BertBatch {
  std::vector<std::size_t> windows;   ///< the index of each window
  std::vector<std::int64_t> begins;   ///< the first row of each window in `states`
  std::vector<std::int64_t> lengths;  ///< of each window in tokens
  Tensor states;                      ///< [sum of lengths, width]
};

struct BertReader {
  Bert model;
  Tokenizer tokenizer;
  std::int64_t max_tokens = 0;  ///< the limit of model and tokenizer

  /// Uses the folder's model, which is shared with other users of the folder unless another head is needed. Throws
  /// InputError if the folder holds no model of BERT's family, or one with another head.
  BertReader(const ModelFolder& folder, BertHead head);
  /// Uses a model in memory and shares its parameters.
  BertReader(Bert model, const Tokenizer& tokenizer);

  /// Tokenises texts, in order. Throws TextError if a text is too long (with LongText::error), or if a pair has no tab.
  std::vector<BertWindow> windows(std::span<const std::string> texts, const BertWindowOptions& options = {}) const;

  /// Computes the states of all windows. Windows of similar length form a batch, which is passed to `take`. Progress is
  /// counted in tokens. Throws ModelError if the states are not finite.
  void read(std::span<const BertWindow> windows, std::int64_t batch_tokens, FunctionRef<void(const BertBatch&)> take,
            const Progress& progress = {}) const;
  /// The states of one window.   -> [tokens, width]
  Tensor read(const Encoding& encoding, Probe* probe = nullptr) const;

  /// The attention weights of a text, or of a pair with options.pairs. Throws InputError if the text is blank, or too
  /// long with LongText::error.
  AttentionMap attention_map(const std::string& text, const BertWindowOptions& options = {.long_text = LongText::error},
                             const AttentionSelection& selection = {}) const;
};

}  // namespace attend
