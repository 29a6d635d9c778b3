// A language model: it continues prompts and scores texts. The program and the server use this class; so can your
// programs.
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
#include "attend/models/gpt2.h"
#include "attend/models/registry.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// How to treat a text that becomes longer than the model's context.
enum class LongContext : std::uint8_t {
  refuse,  ///< throw InputError
  slide,   ///< drop its beginning: the model reads the last tokens again, as many as fill three quarters of the context
};

struct GenerateOptions {
  GenerationOptions search = {};  ///< nbest > 1 without a beam samples
  LongContext long_context = LongContext::refuse;
  std::int64_t batch_rows = 64;  ///< sequences that are generated at once
};

/// Why a text ended.
enum class Finish : std::uint8_t { eos, length, stop };

struct Generation {
  std::string text;               ///< what was generated, without the prompt, and without what it stopped at
  std::vector<std::int32_t> ids;  ///< all of them, with the end and with what it stopped at
  Finish finish = Finish::length;
  double log_probability = 0;              ///< of the ids after the prompt
  std::optional<std::uint64_t> seed = {};  ///< that repeats it, if it was sampled
  std::int64_t truncated = 0;              ///< tokens of the prompt that the model did not see, for lack of positions
  std::int64_t invalid = 0;                ///< invalid UTF-8 sequences of the prompt
};

/// Called with new text as soon as it cannot change any more: of which prompt, and of which of its samples. The parts
/// join to the text. Not called for beam search. May throw, which stops the generation.
using GenerationStream = std::function<void(std::size_t prompt, std::size_t sample, const std::string& text)>;

/// How likely a text is.
struct TextLikelihood {
  std::vector<std::int32_t> ids;
  /// Natural logarithms of the tokens' probabilities. NaN for the first token, unless the start token precedes it.
  std::vector<double> logprobs;
  std::vector<std::vector<NextToken>> best;  ///< the most likely tokens at each place, if asked for; best first
  double logprob = 0;                        ///< their sum
  std::int64_t windows = 1;  ///< in which it was read: several, if it has more tokens than the model has positions
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

  /// `nbest` texts for each prompt, in the order of the prompts. An empty prompt stands for the start token. Throws
  /// TextError for a prompt that leaves no room for new tokens, unless the context may slide.
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
  /// A model may have more rows than there are tokens, so that its table has a round size: those are never generated.
  std::vector<std::int32_t> ids_without_tokens() const;
  const Gpt2& network() const;
  std::shared_ptr<const GenerativeModel> generator() const;  ///< the same, for an engine
  const GenerationConfig& generation() const;                ///< the folder's generation options
  std::int64_t positions() const;                            ///< largest number of tokens that it sees at once
  std::int32_t start() const;
  std::int32_t end() const;

  struct Model;

 private:
  std::shared_ptr<const Model> model_;
};

}  // namespace attend
