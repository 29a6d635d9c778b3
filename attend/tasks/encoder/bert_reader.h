// Texts through a BERT: a folder's model with its tokenizer, texts cut to what it takes, and batches without padding,
// small enough that the weights stay the largest thing in memory. What is made of the states is the business of those
// who use it: TextEncoder, Classifier, MaskFiller, Answerer and Tagger.
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

/// Tokens that are read at once unless somebody says otherwise: enough for whole matrix products, and of BERT-base some
/// 30 MB of states.
constexpr std::int64_t kBertBatchTokens = 1024;

/// A text, or a part of one that is too long, as the model takes it. Never without tokens.
struct BertWindow {
  std::size_t text = 0;  ///< which of them
  Encoding encoding;     ///< spans are in the whole text; of a pair, in the line that has both
  bool whole = true;     ///< nothing of the text is in another window
};

/// Where in a pair's tokens the second text begins: behind the special ones that follow the first.
std::size_t second_text(const Encoding& pair);

struct BertWindowOptions {
  std::int64_t max_tokens = 0;  ///< special ones included; 0: no limit but the model's
  LongText long_text = LongText::truncate;
  std::int64_t overlap = 0;  ///< tokens that neighbouring windows share, less where they have not as many
  bool pairs = false;        ///< each text is two, with a tab between
};

/// Some windows and what the model made of them.
struct BertBatch {
  std::vector<std::size_t> windows;   ///< which of them
  std::vector<std::int64_t> begins;   ///< where in the states each begins
  std::vector<std::int64_t> lengths;  ///< in tokens
  Tensor states;                      ///< [tokens, width]
};

struct BertReader {
  Bert model;
  Tokenizer tokenizer;
  std::int64_t max_tokens = 0;  ///< that model and tokenizer take

  /// The folder's model, shared with whoever else uses the folder unless it needs another head. Throws InputError when
  /// the folder holds no BERT, or one for another purpose.
  BertReader(const ModelFolder& folder, BertHead head);
  /// A model in memory; the parameters are shared.
  BertReader(Bert model, const Tokenizer& tokenizer);

  /// The tokens of texts, in their order. Throws TextError for one that is too long where the options say so, and for a
  /// pair without its tab.
  std::vector<BertWindow> windows(std::span<const std::string> texts, const BertWindowOptions& options = {}) const;

  /// Reads all windows, those of like length together, and gives each batch to `take`. Progress counts tokens.
  void read(std::span<const BertWindow> windows, std::int64_t batch_tokens, FunctionRef<void(const BertBatch&)> take,
            const Progress& progress = {}) const;
  /// One window.   -> [tokens, width]
  Tensor read(const Encoding& encoding, Probe* probe = nullptr) const;

  /// Where the tokens of a text look, or with options.pairs of two with a tab between. Throws InputError for one that
  /// is blank, or too long unless it may be cut.
  AttentionMap look(const std::string& text, const BertWindowOptions& options = {.long_text = LongText::error},
                    const AttentionSelection& selection = {}) const;
};

}  // namespace attend
