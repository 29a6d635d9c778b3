// Predicts masked tokens with a model of BERT's family, as Hugging Face's fill-mask pipeline does.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/models/registry.h"
#include "attend/tasks/encoder/bert_reader.h"

namespace attend {

struct FillOptions {
  std::int64_t top = 5;         ///< number of candidates for each mask
  std::int64_t max_tokens = 0;  ///< the maximum length of a text; 0: only the model's limit
  /// truncate: masks after the cut are lost. split: the text is read in windows that overlap by half; each mask is
  /// filled in the window where it has the most context on both sides.
  LongText long_text = LongText::error;
  std::int64_t batch_tokens = kBertBatchTokens;
};

struct MaskCandidate {
  std::int32_t id;
  std::string token;  ///< decoded alone: "capital", " capital", "##ing"
  float probability;
  bool joins = false;  ///< it continues the word before it
};

struct FilledMask {
  std::int64_t position = 0;  ///< index among the tokens of its window, including special tokens
  Span span;  ///< byte range in FilledText::text; includes the white space before the mask if the tokenizer does so
  std::vector<MaskCandidate> candidates;
};

struct FilledText {
  std::string text;               ///< with the tokenizer's own mask token
  std::vector<FilledMask> masks;  ///< in the order of the text; each is predicted while the others stay masked
  std::int64_t truncated = 0;     ///< the number of dropped tokens
  std::int64_t lost_masks = 0;    ///< the number of masks among them

  /// The text in which one mask is replaced by a candidate.
  std::string with(const FilledMask& mask, const MaskCandidate& candidate) const;
};

/// Immutable and cheap to copy.
class MaskFiller {
 public:
  /// Throws InputError if the folder holds no masked language model, or if its tokenizer has no mask token.
  explicit MaskFiller(const ModelFolder& folder);
  explicit MaskFiller(const std::filesystem::path& folder) : MaskFiller(ModelFolder(folder)) {}

  /// Fills the masks of texts, in order. A mask is the tokenizer's own mask token, "[MASK]" or "<mask>". Throws
  /// TextError if a text is too long, with LongText::error.
  std::vector<FilledText> operator()(std::span<const std::string> texts, const FillOptions& options = {},
                                     const Progress& progress = {}) const;

 private:
  std::shared_ptr<const BertReader> reader_;
};

}  // namespace attend
