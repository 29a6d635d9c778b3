// A translation model's folder as one object: text in, text out.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/core/progress.h"
#include "attend/decode/search.h"
#include "attend/models/recurrent_translator.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct TranslateOptions {
  std::int64_t beam = 4;                 ///< 1 is greedy
  std::int64_t nbest = 1;                ///< translations of each text
  double length_penalty = 1.0;           ///< see SearchOptions
  std::int64_t max_new_tokens = 0;       ///< 0: twice the source's tokens, and 20
  std::int64_t max_tokens = 0;           ///< of a source; 0: no limit but the model's
  LongText long_text = LongText::error;  ///< what becomes of a longer one; split translates the pieces one by one
  std::int64_t batch_tokens = 2048;      ///< source tokens that are translated at once
  bool attention = false;                ///< fill Translation::attention
};

struct Translation {
  std::string text;
  double score = 0;
  std::vector<std::int32_t> ids;
  bool finished = true;                                   ///< false: cut at max_new_tokens
  std::int64_t truncated = 0;                             ///< source tokens that were dropped
  std::vector<std::string> source_tokens, target_tokens;  ///< with attention only, both with the end of sentence
  std::vector<std::vector<float>> attention;              ///< a row for each target token, over the source tokens
};

/// Immutable and cheap to copy.
class Translator {
 public:
  /// Throws InputError when the folder holds no translation model.
  explicit Translator(const std::filesystem::path& folder);
  /// A model in memory, one in training, say: the parameters are shared. Source and target have one tokenizer, whose
  /// end of sentence also stands before the first word.
  Translator(RecurrentTranslator model, const Tokenizer& tokenizer);

  /// The nbest translations of each text, in the order of the texts. Texts of like length are translated together.
  std::vector<std::vector<Translation>> operator()(std::span<const std::string> texts,
                                                   const TranslateOptions& options = {},
                                                   const Progress& progress = {}) const;
  Translation operator()(const std::string& text, const TranslateOptions& options = {}) const;

  const Tokenizer& source_tokenizer() const;
  const Tokenizer& target_tokenizer() const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
