// The words that a BERT would put where a text hides them.
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
  std::int64_t top = 5;         ///< candidates of each mask
  std::int64_t max_tokens = 0;  ///< of a text; 0: no limit but the model's
  /// truncate: masks behind the cut are lost. split: windows that overlap by half; each mask is filled in the one that
  /// shows most around it.
  LongText long_text = LongText::error;
  std::int64_t batch_tokens = kBertBatchTokens;
};

struct MaskCandidate {
  std::int32_t id;
  std::string token;  ///< decoded alone: "capital", " capital", "##ing"
  float probability;
  bool joins = false;  ///< it goes on with the word before it
};

struct FilledMask {
  std::int64_t position = 0;  ///< among the tokens of its window, special ones counted
  Span span;  ///< in FilledText::text; with the white space before it where a tokenizer's mask takes that
  std::vector<MaskCandidate> candidates;
};

struct FilledText {
  std::string text;               ///< with the tokenizer's own mask token
  std::vector<FilledMask> masks;  ///< in the order of the text; each as if the others stayed hidden
  std::int64_t truncated = 0;     ///< tokens that were dropped
  std::int64_t lost_masks = 0;    ///< masks among them

  /// The text with one candidate in place of its mask.
  std::string with(const FilledMask& mask, const MaskCandidate& candidate) const;
};

/// Immutable and cheap to copy.
class MaskFiller {
 public:
  /// Throws InputError when the folder holds no model for hidden words, or no mask token.
  explicit MaskFiller(const ModelFolder& folder);
  explicit MaskFiller(const std::filesystem::path& folder) : MaskFiller(ModelFolder(folder)) {}
  /// A model in memory; the parameters are shared.
  MaskFiller(Bert model, const Tokenizer& tokenizer);

  /// Masks are the tokenizer's own token, "[MASK]" or "<mask>". In the order of the texts. Throws TextError for a text
  /// that is too long.
  std::vector<FilledText> operator()(std::span<const std::string> texts, const FillOptions& options = {},
                                     const Progress& progress = {}) const;

 private:
  std::shared_ptr<const BertReader> reader_;
};

}  // namespace attend
