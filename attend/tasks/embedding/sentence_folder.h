// Reads the configuration of a sentence-transformers folder: the modules that turn states into one vector (modules.json
// and the folders that it names), the maximum length, and the prompts. A Hugging Face folder without these files is
// read too; its vector is the mean of the states.
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

/// How the states of all tokens, including special tokens, are pooled to one vector. If a folder has several modes,
/// their vectors are concatenated in this order.
enum class Pooling : std::uint8_t {
  cls,               ///< the state of the first token
  max,               ///< the maximum of each element
  mean,              ///< the mean of the states
  mean_sqrt_length,  ///< the sum of the states, divided by √(number of tokens)
  weighted_mean,     ///< the weighted mean, where token i of 1 … n has the weight i
  last,              ///< the state of the last token
};
extern const std::vector<std::pair<std::string, Pooling>> kPoolingNames;  ///< as sentence-transformers names them

/// x / ‖x‖
struct UnitLength {};
struct Dense {
  Linear linear;
  Activation activation = Activation::tanh;
};
/// A module after the pooling.
using SentenceLayer = std::variant<UnitLength, Dense, Norm>;

/// The folder of the model and tokenizer: `folder` itself, or the one that modules.json names.
std::filesystem::path transformer_in(const std::filesystem::path& folder);

struct SentenceFolder {
  std::filesystem::path model;  ///< the folder of the model and tokenizer
  std::vector<Pooling> pooling = {Pooling::mean};
  bool pool_prompt = true;  ///< whether the tokens of the prompt are pooled too
  std::vector<SentenceLayer> layers = {};
  std::int64_t max_tokens = 0;  ///< 0: not set
  bool lower_case = false;      ///< convert texts to lower case before tokenisation
  Config prompts = {};          ///< prompts by name
  std::string default_prompt = {};

  /// Throws InputError, naming the file and the key, if a module is not supported.
  static SentenceFolder read(const std::filesystem::path& folder);
};

}  // namespace attend
