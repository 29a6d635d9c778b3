// The registry of model families, and ModelFolder, which opens the folder of a model. Only the registry compares
// "model_type": a new family is one row in registry.cpp and one source file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/core/error.h"
#include "attend/formats/config.h"
#include "attend/formats/weights.h"
#include "attend/models/model.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// What a model can be used for.
enum class Ability : std::uint8_t {
  generate,   ///< continue a text
  translate,  ///< generate a text from a source
  embed,      ///< encode texts as vectors
  fill_mask,  ///< predict masked tokens
  classify,   ///< label texts
  tag,        ///< label tokens
  answer,     ///< find the answer to a question in a text
  stories,    ///< answer questions about stories
  compute,    ///< run a learned algorithm on vectors
};
/// The name of a model with this ability in messages: "a translator", "a classifier", …
std::string_view name_of(Ability ability);

class GgufMetadata;
class ModelFolder;

/// One row of the registry.
struct ModelFamily {
  std::string_view type;                       ///< "model_type" in config.json
  std::vector<Ability> abilities;              ///< all abilities that a model of the family may have
  std::vector<Ability> (*has)(const Config&);  ///< the abilities of one model; null: all of `abilities`
  std::shared_ptr<Model> (*load)(const Config& config, const Weights& weights, bool mapped);
};

/// Saves a model with its tokenizer. The weights record a digest of the vocabulary, by which ModelFolder recognises the
/// tokenizer of another model. To replace a model that is in the folder already, write to a FolderUpdate.
void save_model(Model& model, const Tokenizer& tokenizer, const std::filesystem::path& folder);
/// The digest of the first `most` tokens: their number, and a hash of them and their ids.
std::string vocabulary_digest(const Tokenizer& tokenizer, std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// The folder of a model, its GGUF file, or the folder of an adapter for a model (see adapter.h). Weights, tokenizers
/// and the model are read when they are first needed. Copies of this object share them. Thread-safe. Throws InputError
/// if the model is replaced by another one before all of it is read.
class ModelFolder {
 public:
  /// Reads config.json, or the metadata of a GGUF file. Throws InputError if there is none, or if its "model_type" is
  /// not known. The folder of an adapter names that of its base model.
  explicit ModelFolder(const std::filesystem::path& path);
  /// The base model with an adapter. Models of several adapters share the tensors of one base.
  ModelFolder(const ModelFolder& base, const std::filesystem::path& adapter);

  const std::filesystem::path& path() const;  ///< of the base model, if there is an adapter
  const Config& config() const;
  const ModelFamily& family() const;
  bool can(Ability ability) const;
  /// Throws InputError, prefixed with `op`, unless the model has this ability.
  void require(const char* op, Ability ability) const { require(op, std::span(&ability, 1)); }
  /// The same for a model that has at least one of these abilities.
  void require(const char* op, std::span<const Ability> abilities) const;

  /// The mapped weights.
  const Weights& weights() const;
  /// Throws InputError if it is not the tokenizer that the weights were saved with (see save_model()).
  const Tokenizer& tokenizer(Side side = Side::source) const;

  /// The model for inference, shared by all callers. Its weights stay in the mapped file if possible.
  std::shared_ptr<const Model> model() const;
  /// The same model as the interface or class that a task needs. Throws InputError, prefixed with `op`, if the model
  /// does not have the ability or the interface.
  template <typename Interface>
  std::shared_ptr<const Interface> model(const char* op, Ability ability) const {
    require(op, ability);
    auto found = std::dynamic_pointer_cast<const Interface>(model());
    if (!found) refuse(op, std::span(&ability, 1));
    return found;
  }
  /// A new copy of the model in memory, for training or conversion.
  std::shared_ptr<Model> load() const;
  /// Gives a model that was made of config() and weights() the adapter, if there is one.
  void attach_adapter(Model& model) const;
  bool has_adapter() const;
  std::filesystem::path adapter_path() const;  ///< empty if there is none
  const GgufMetadata* gguf_metadata() const;   ///< null if the model is not a GGUF file

 private:
  void read_config(const std::filesystem::path& folder);
  const Weights& weights_locked() const;
  void check_unchanged() const;
  [[noreturn]] void refuse(const char* op, std::span<const Ability> expected) const;

  struct Content;
  std::shared_ptr<Content> content_;
};

}  // namespace attend
