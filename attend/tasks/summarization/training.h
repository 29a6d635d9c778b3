// Trains a summarizer on texts and their summaries, or fine-tunes one:
//
//   attend::SummaryTrainingOptions options;
//   options.train = "texts.tsv";        // text TAB summary
//   options.validation = "held-out.tsv";
//   options.trainer.output = "summarizer";
//   attend::train_summarizer(options);
//   attend::Summarizer summarizer("summarizer");
//
// A new summarizer is a Transformer that can copy tokens of the text (See, Liu and Manning 2017).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "attend/models/adapter.h"
#include "attend/models/transformer.h"
#include "attend/train/trainer.h"

namespace attend {

struct SummaryTrainingOptions {
  std::filesystem::path train = {}, validation = {};  ///< a text, a tab and its summary on each line
  std::filesystem::path from = {};                    ///< the folder of a model to fine-tune; empty: a new one
  std::filesystem::path tokenizer = {};               ///< the folder of a tokenizer to use; empty: see vocab_size
  std::int64_t vocab_size = 8000;  ///< subwords of texts and summaries to learn; 0 for fine-tuning: the model's own
  bool lowercase = false;          ///< the tokenizer converts text to lower case, and so do summaries; the model sees
                                   ///< which words of the text were capitalized
  std::int64_t max_source_tokens = 256;           ///< longer texts are cut, in training and in use
  std::int64_t max_tokens = 64;                   ///< pairs with a longer summary are left out
  std::optional<std::string> source_prefix = {};  ///< text before each source; empty: that of the folder `from`
  std::int64_t batch_tokens = 4096;               ///< tokens in a batch, including padding
  float label_smoothing = 0.1f;
  float coverage = 0;  ///< weight of the coverage loss, against attending to the same tokens again; needs a pointer
  /// In the first epochs, learn to generate the sentence of each text that has most words in common with the others,
  /// from the text without it (gap sentences, Zhang et al. 2020).
  std::int64_t gap_sentence_epochs = 0;
  /// Recorded in the folder (see SummarizeOptions); empty: that of the folder `from`, otherwise 1.
  std::optional<std::int64_t> candidates = {};
  std::int64_t validation_summaries = 500;  ///< texts that are summarized for ROUGE in each evaluation
  TransformerOptions model = {.width = 256,
                              .encoder_layers = 3,
                              .decoder_layers = 2,
                              .encoder_heads = 4,
                              .decoder_heads = 4,
                              .encoder_inner = 1024,
                              .decoder_inner = 1024,
                              .activation = Activation::relu,
                              .pointer = true};  ///< of a new summarizer
  LoraOptions lora = {};                         ///< for fine-tuning: train adapters only
  std::optional<float> dropout = {};             ///< for fine-tuning: replaces the model's dropout
  TrainerOptions trainer = {.epochs = 20, .warmup = 200, .patience = 5};

  /// The defaults for fine-tuning the model of a folder.
  static SummaryTrainingOptions finetune(std::filesystem::path from);
  /// Visits the options that must not change when a run is resumed, besides those of the model and the tokenizer.
  void visit(auto&& v) const {
    v("max_source_tokens", max_source_tokens), v("max_tokens", max_tokens);
    v("source_prefix", source_prefix.value_or("")), v("batch_tokens", batch_tokens);
    v("label_smoothing", label_smoothing), v("coverage", coverage), v("gap_sentence_epochs", gap_sentence_epochs);
    v("validation_summaries", validation_summaries), v("trainer", trainer);
    if (lora.on()) v("lora", lora);
  }
};

/// Trains a model and saves it to options.trainer.output. Scores: "rougeL", "rouge1", "rouge2" and "loss"; the first
/// one decides which model is best. Throws InputError if a file or an option is wrong.
TrainingResult train_summarizer(const SummaryTrainingOptions& options, const TrainingObserver& observer = {});

}  // namespace attend
