// The registry of model families, and a model's folder that is opened once. This is the only place that compares
// "model_type": a new family is one row here and one file beside it.
#pragma once
#include <filesystem>
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
  embed,      ///< states and vectors of texts
  fill_mask,  ///< predict masked tokens
  classify,   ///< label texts
  tag,        ///< label tokens
  answer,     ///< find the answer to a question in a text
};
/// "translator", "classifier" …: what a model with this ability is called in messages.
std::string_view name_of(Ability ability);

class ModelFolder;

/// One row of the registry.
struct ModelFamily {
  std::string_view type;                       ///< "model_type" in config.json
  std::vector<Ability> abilities;              ///< that models of the family can have
  std::vector<Ability> (*has)(const Config&);  ///< those of one model; null: all
  std::shared_ptr<Model> (*load)(const Config& config, const Weights& weights, bool mapped);
};
std::span<const ModelFamily> model_families();

/// A model's folder. What is read from it is read once, when it is first asked for, and shared by copies; safe to use
/// from many threads.
class ModelFolder {
 public:
  /// Reads config.json. Throws InputError where there is none, or where its "model_type" is not known.
  explicit ModelFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const;
  const Config& config() const;
  const ModelFamily& family() const;
  bool can(Ability ability) const;
  /// Throws InputError, in the name of `op`, unless the model has this ability.
  void require(const char* op, Ability ability) const;

  /// The weights, mapped.
  const Weights& weights() const;
  const Tokenizer& tokenizer(Side side = Side::source) const;

  /// The model, to be run: its weights stay in the mapped file where they can.
  std::shared_ptr<const Model> model() const;
  /// The same as the interface or class that a task needs. Throws InputError, in the name of `op`, unless it has it.
  template <typename Interface>
  std::shared_ptr<const Interface> model(const char* op, Ability ability) const {
    require(op, ability);
    auto found = std::dynamic_pointer_cast<const Interface>(model());
    if (!found) refuse(op, ability);
    return found;
  }
  /// A model of its own, in memory: to be trained, or converted.
  std::shared_ptr<Model> load() const;

 private:
  [[noreturn]] void refuse(const char* op, Ability ability) const;

  struct Content;
  std::shared_ptr<Content> content_;
};

}  // namespace attend
