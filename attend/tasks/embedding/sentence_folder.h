// What a folder of sentence-transformers says beside its model: how states become one vector (modules.json and the
// folders that it names), how long a text may be, and what is put before it. A folder of Hugging Face without such
// files is read too: the mean of the states, nothing else.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attend/formats/config.h"
#include "attend/nn/linear.h"
#include "attend/nn/norm.h"

namespace attend {

/// How the states of a text's tokens become one vector, special tokens included. Several are put one behind the other,
/// in this order.
enum class Pooling : std::uint8_t {
  cls,               ///< the first token's
  max,               ///< the largest of each element
  mean,              ///< their mean
  mean_sqrt_length,  ///< their sum / √(their number)
  weighted_mean,     ///< the mean where token i of 1 … n counts i times
  last,              ///< the last token's
};
extern const std::vector<std::pair<std::string, Pooling>> kPoolingNames;  ///< as sentence-transformers names them

/// x / ‖x‖
struct UnitLength {};
struct Dense {
  Linear linear;
  Activation activation = Activation::tanh;
};
/// What is done to a pooled vector.
using SentenceLayer = std::variant<UnitLength, Dense, Norm>;

/// Where a folder has its model and tokenizer: in itself, or where its modules.json says.
std::filesystem::path transformer_in(const std::filesystem::path& folder);

struct SentenceFolder {
  std::filesystem::path model;  ///< where model and tokenizer are
  std::vector<Pooling> pooling = {Pooling::mean};
  bool pool_prompt = true;  ///< the tokens of the prompt count too
  std::vector<SentenceLayer> layers = {};
  std::int64_t max_tokens = 0;  ///< 0: not said
  bool lower_case = false;      ///< before the tokenizer does what it does
  Config prompts = {};          ///< texts by name
  std::string default_prompt = {};

  /// Throws InputError, naming file and key, for a module that is not known here.
  static SentenceFolder read(const std::filesystem::path& folder);
};

}  // namespace attend
