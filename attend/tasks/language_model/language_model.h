// Generates and scores texts with a language model:
//
//   attend::LanguageModel model("gpt2");
//   std::string text = model("Once upon a time").text;
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
#include "attend/decode/generation_options.h"
#include "attend/models/causal_lm.h"
#include "attend/models/registry.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// What to do if a text becomes longer than the model's context.
enum class LongContext : std::uint8_t {
  refuse,  ///< throw InputError
  slide,   ///< drop its beginning: the model continues from the last tokens, which fill three quarters of the context
};

struct GenerateOptions {
  GenerationOptions search = {};  ///< if nbest > 1 is given without a beam, texts are sampled
  LongContext long_context = LongContext::refuse;
  std::int64_t batch_rows = 64;          ///< the maximum number of sequences in a batch
  std::vector<std::int32_t> ends = {};   ///< tokens that end a text, besides those of the folder
  std::vector<std::int32_t> begin = {};  ///< tokens that each text begins with; a grammar is of what follows them
  /// The beginnings of prompts that were read in earlier calls with the same model, and a place for those of this call.
  std::optional<PrefixCache> prefixes = {};
};

/// Why generation ended: end-of-text token, maximum length, or stop string.
enum class Finish : std::uint8_t { eos, length, stop };

struct Generation {
  std::string text;               ///< the generated text, without the prompt and without the stop string
  std::vector<std::int32_t> ids;  ///< all generated ids, including the end-of-text token and the stop string
  Finish finish = Finish::length;
  double log_probability = 0;              ///< of `ids`, given the prompt
  std::optional<std::uint64_t> seed = {};  ///< the seed that repeats it, if it was sampled
  std::int64_t truncated = 0;  ///< the number of tokens of the prompt that were dropped, as the context is too short
  std::int64_t reused = 0;     ///< the number of tokens of the prompt that a PrefixCache had
  std::int64_t invalid = 0;    ///< the number of invalid UTF-8 sequences in the prompt
};

/// Called with each new part of a generated text as soon as it is final. `prompt` and `sample` are indices. The
/// concatenation of all parts is the text. Not called for beam search. May throw to stop the generation.
using GenerationStream = std::function<void(std::size_t prompt, std::size_t sample, const std::string& text)>;

/// The log-probabilities of a text.
struct TextLikelihood {
  std::vector<std::int32_t> ids;
  /// The natural logarithm of the probability of each token. The first is NaN unless LikelihoodOptions::start is set.
  std::vector<double> logprobs;
  std::vector<std::vector<NextToken>> best;  ///< the most likely tokens at each position, best first; if requested
  double logprob = 0;                        ///< the sum of `logprobs`
  std::int64_t windows = 1;  ///< the number of windows; more than 1 if the text is longer than the model's context
  std::int64_t invalid = 0;  ///< the number of invalid UTF-8 sequences
};

struct LikelihoodOptions {
  bool start = false;                ///< put the start token before each text
  std::int64_t alternatives = 0;     ///< the number of tokens in TextLikelihood::best
  std::int64_t batch_tokens = 2048;  ///< tokens in a batch
};

/// Immutable and cheap to copy.
class LanguageModel {
 public:
  /// Throws InputError if the folder holds no language model.
  explicit LanguageModel(const ModelFolder& folder);
  explicit LanguageModel(const std::filesystem::path& folder) : LanguageModel(ModelFolder(folder)) {}
  /// Uses a model in memory, for example one in training, and shares its parameters.
  LanguageModel(CausalLm model, Tokenizer tokenizer);

  /// Generates nbest texts for each prompt, in the order of the prompts. An empty prompt is replaced by the start
  /// token. Throws TextError if a prompt leaves no room for new tokens, with LongContext::refuse.
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

  /// Scores texts. A text that is longer than the context is read in windows that overlap by half, so that each token
  /// of the later windows has at least half a window of context.
  std::vector<TextLikelihood> score(std::span<const std::string> texts, const LikelihoodOptions& options = {}) const;
  /// The same from ids.
  std::vector<TextLikelihood> score(std::vector<std::vector<std::int32_t>> texts,
                                    const LikelihoodOptions& options = {}) const;

  /// The attention weights of a text and of the tokens that were generated after it (Generation::ids). With
  /// LongText::truncate, only the end of a text that is too long is used. Throws InputError if the text is empty, or
  /// too long with LongText::error.
  AttentionMap attention_map(const std::string& text, std::span<const std::int32_t> generated = {},
                             const AttentionSelection& selection = {}, LongText long_text = LongText::error) const;

  const Tokenizer& tokenizer() const;
  /// The grammar (GBNF) or the JSON Schema of the options for the tokens of this model; null if they have none. The
  /// last ones are kept, with all that was computed for them. Throws InputError for an invalid grammar or schema.
  std::shared_ptr<const TokenGrammar> grammar(const GenerationOptions& options) const;
  /// The ids of the model that the tokenizer does not have. Embedding tables are often padded to a round size; such ids
  /// are never generated.
  std::vector<std::int32_t> ids_without_tokens() const;
  const CausalLm& network() const;
  std::shared_ptr<const GenerativeModel> generator() const;  ///< network(), for an engine
  const GenerationConfig& generation() const;                ///< the folder's generation_config.json
  std::int64_t positions() const;                            ///< the size of the context in tokens
  std::int32_t start() const;
  std::int32_t end() const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
