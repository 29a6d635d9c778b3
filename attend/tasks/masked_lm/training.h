// Training an encoder of texts (BERT) from plain text with masked tokens, and fine-tuning one:
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
#include "attend/models/bert.h"
#include "attend/tasks/masked_lm/masking.h"
#include "attend/train/trainer.h"

namespace attend {

struct MaskedLmTrainingOptions {
  std::vector<std::filesystem::path> train, validation = {};  ///< plain text; sentences are found in it
  DocumentEnd document_end = DocumentEnd::empty_line;
  std::filesystem::path from = {};       ///< the folder of a model to fine-tune; empty: a new one
  std::filesystem::path tokenizer = {};  ///< the folder of a tokenizer to use; empty: the model's own, or a learned one
  std::int64_t vocab_size = 8000;        ///< subwords to learn at most
  bool lowercase = true;                 ///< learned subwords are of lower case
  std::int64_t max_tokens = 0;           ///< of an example; 0: 128, or the positions of the model if it has fewer
  std::int64_t batch_tokens = 4096;      ///< tokens of a batch
  bool next_sentence = true;             ///< learn whether a text follows another, too
  MaskingOptions masking = {};           ///< the tokens are set by train_masked_lm()
  BertOptions model = small_bert();
  TrainerOptions trainer = {.epochs = 20, .learning_rate = 5e-4, .warmup = 200};

  /// The defaults of fine-tuning a folder's model.
  static MaskedLmTrainingOptions finetune(std::filesystem::path from);
  /// The options that must not change on resume, beside the model's and the tokenizer's.
  void visit(auto&& v) const {
    v("document_end", document_end), v("max_tokens", max_tokens), v("batch_tokens", batch_tokens);
    v("next_sentence", next_sentence), v("share", masking.share), v("masked", masking.masked);
    v("random", masking.random), v("whole_words", masking.whole_words), v("trainer", trainer);
  }

 private:
  static BertOptions small_bert();
};

/// Trains, and saves the model into options.trainer.output. Scores: see PreTrainee. Throws InputError for files and
/// options that do not fit.
TrainingResult train_masked_lm(const MaskedLmTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
