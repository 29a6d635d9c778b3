// Trains a masked language model (BERT) on plain text, or fine-tunes one:
//
//   attend::MaskedLmTrainingOptions options;
//   options.train = {"texts.txt"};
//   options.trainer.output = "encoder";
//   attend::train_masked_lm(options);
//   attend::MaskFiller filler("encoder");
//
// The texts are tokenised once, into files in the output folder, and read from there.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "attend/data/tokenized_texts.h"
#include "attend/models/adapter.h"
#include "attend/models/bert.h"
#include "attend/tasks/masked_lm/masking.h"
#include "attend/train/trainer.h"

namespace attend {

struct MaskedLmTrainingOptions {
  std::vector<std::filesystem::path> train, validation = {};  ///< files of plain text, which is split into sentences
  DocumentEnd document_end = DocumentEnd::empty_line;
  std::filesystem::path from = {};       ///< the folder of a model to fine-tune; empty: a new one
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer to use; empty: the model's own, or a learned one
  std::int64_t vocab_size = 8000;        ///< the maximum number of subwords to learn
  bool lowercase = true;                 ///< convert texts to lower case before learning subwords
  std::int64_t max_tokens = 0;           ///< of an example; 0: 128, or the positions of the model if it has fewer
  std::int64_t batch_tokens = 4096;      ///< tokens in a batch
  bool next_sentence = true;             ///< also train next-sentence prediction
  MaskingOptions masking = {};           ///< train_masked_lm() sets its token ids
  BertOptions model = small_bert();
  LoraOptions lora = {};  ///< for fine-tuning: train adapters only
  TrainerOptions trainer = {.epochs = 20, .learning_rate = 5e-4, .warmup = 200};

  /// The defaults for fine-tuning the model of a folder.
  static MaskedLmTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("document_end", document_end), v("max_tokens", max_tokens), v("batch_tokens", batch_tokens);
    v("next_sentence", next_sentence), v("share", masking.share), v("masked", masking.masked);
    v("random", masking.random), v("whole_words", masking.whole_words), v("trainer", trainer);
    if (lora.on()) v("lora", lora);
  }

 private:
  static BertOptions small_bert();
};

/// Trains a model and saves it to options.trainer.output. Scores: see PreTrainingTask. Throws InputError if a file or
/// an option is wrong.
TrainingResult train_masked_lm(const MaskedLmTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
