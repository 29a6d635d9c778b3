// A language model's folder as one object: prompts in, texts out, and how likely texts are. What the program, a program
// of yours and the server call.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/map.h"
#include "attend/core/progress.h"
#include "attend/core/text_error.h"
#include "attend/decode/generation_config.h"
#include "attend/models/gpt2.h"
#include "attend/models/registry.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// What becomes of a text that grows beyond the positions that a model has.
enum class LongContext : std::uint8_t {
  refuse,  ///< InputError
  slide,   ///< its beginning is forgotten: the last three quarters of the positions are read anew
};

/// What is not given is as the model's folder says (GenerationConfig), and where that says nothing the likeliest token
/// each time (greedy), 128 of them at most.
struct GenerateOptions {
  bool greedy = false;                     ///< the likeliest token, whatever the folder says
  bool sample = false;                     ///< draw tokens by chance; see SamplingOptions
  std::int64_t samples = 1;                ///< texts for each prompt; of a beam, its best
  std::optional<double> temperature = {};  ///< this and the following mean sampling; see SamplingOptions
  std::optional<std::int64_t> top_k = {};
  std::optional<double> top_p = {};
  std::optional<double> min_p = {};
  std::uint64_t seed = 0;                 ///< same seed and prompt, same samples, whatever else is generated
  std::optional<std::int64_t> beam = {};  ///< this and the following: see SearchOptions
  std::optional<double> length_penalty = {};
  std::optional<std::int64_t> max_new_tokens = {};
  std::optional<std::int64_t> min_new_tokens = {};
  std::optional<std::int64_t> no_repeat_ngram = {};
  std::optional<double> repetition_penalty = {};
  std::optional<double> presence_penalty = {};
  std::optional<double> frequency_penalty = {};
  std::vector<LogitBias> biases = {};
  std::vector<std::string> stop = {};  ///< a text ends before the first of these
  bool ignore_eos = false;             ///< the end of a text is never said
  LongContext long_context = LongContext::refuse;
  std::int64_t batch_rows = 64;  ///< texts that are written at once

  /// Whether something was given that only sampling has.
  bool samples_by_chance() const {
    return sample || temperature || top_k || top_p || min_p || (samples > 1 && !beam && !greedy);
  }
};

/// Why a text ended.
enum class Finish : std::uint8_t { eos, length, stop };

struct Generation {
  std::string text;               ///< what was generated, without the prompt, and without what it stopped at
  std::vector<std::int32_t> ids;  ///< all of them, with the end and with what it stopped at
  Finish finish = Finish::length;
  double log_probability = 0;  ///< of the ids after the prompt
  std::int64_t truncated = 0;  ///< tokens of the prompt that the model did not see, as it has no positions for them
  std::int64_t invalid = 0;    ///< sequences of the prompt that were no UTF-8
};

/// Told of text as soon as it is settled: which prompt, which of its samples, what is new. Pieces join to the text. Not
/// called for beams. May throw to stop it all.
using GenerationStream = std::function<void(std::size_t prompt, std::size_t sample, const std::string& text)>;

/// How likely a text is.
struct TextLikelihood {
  std::vector<std::int32_t> ids;
  /// Of each token, natural logarithm; the first has none (NaN) unless the start stood before it.
  std::vector<double> logprobs;
  std::vector<std::vector<NextWord>> best;  ///< what was likeliest in place of each, if asked for; best first
  double logprob = 0;                       ///< their sum
  std::int64_t windows = 1;  ///< in which it was read, as it has more tokens than the model has positions
  std::int64_t invalid = 0;  ///< sequences that were no UTF-8
};

struct LikelihoodOptions {
  bool start = false;                ///< the model's start stands before each text
  std::int64_t alternatives = 0;     ///< of TextLikelihood::best
  std::int64_t batch_tokens = 2048;  ///< tokens that are read at once
};

/// Immutable and cheap to copy.
class LanguageModel {
 public:
  /// Throws InputError when the folder holds no language model.
  explicit LanguageModel(const ModelFolder& folder);
  explicit LanguageModel(const std::filesystem::path& folder) : LanguageModel(ModelFolder(folder)) {}
  /// A model in memory, one in training, say: the parameters are shared.
  LanguageModel(Gpt2 model, Tokenizer tokenizer);

  /// `samples` texts for each prompt, in the order of the prompts. An empty prompt is the model's start. Throws
  /// TextError for a prompt that leaves no room, unless it may slide.
  std::vector<std::vector<Generation>> generate(std::span<const std::string> prompts,
                                                const GenerateOptions& options = {},
                                                const GenerationStream& stream = {},
                                                const Progress& progress = {}) const;
  /// The same from ids.
  std::vector<std::vector<Generation>> generate(std::vector<std::vector<std::int32_t>> prompts,
                                                const GenerateOptions& options = {},
                                                const GenerationStream& stream = {},
                                                const Progress& progress = {}) const;
  Generation operator()(const std::string& prompt, const GenerateOptions& options = {}) const;

  /// Of each text. Long ones are read in windows that overlap by half, so that each token has at least so much before
  /// it.
  std::vector<TextLikelihood> score(std::span<const std::string> texts, const LikelihoodOptions& options = {}) const;
  /// The same from ids.
  std::vector<TextLikelihood> score(std::vector<std::vector<std::int32_t>> texts,
                                    const LikelihoodOptions& options = {}) const;

  /// Where the tokens of a text look, and those that were generated behind it (Generation::ids); what each of them saw
  /// when it was written, as nothing sees what follows. Of a text with more tokens than positions, with
  /// LongText::truncate, the end. Throws InputError for one that is too long otherwise, or empty.
  AttentionMap look(const std::string& text, std::span<const std::int32_t> generated = {},
                    const AttentionSelection& selection = {}, LongText long_text = LongText::error) const;

  const Tokenizer& tokenizer() const;
  /// A model may have more rows than there are tokens, so that its table has a round size: those that are never said.
  std::vector<std::int32_t> words_without_tokens() const;
  const Gpt2& network() const;
  const GenerationConfig& generation() const;  ///< what the folder says
  std::int64_t positions() const;              ///< tokens that it sees at once
  std::int32_t start() const;
  std::int32_t end() const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
