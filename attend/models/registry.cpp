#include "attend/models/registry.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <span>

#include "attend/core/folder.h"
#include "attend/data/fingerprint.h"
#include "attend/models/adapter.h"
#include "attend/models/bert.h"
#include "attend/models/bidaf.h"
#include "attend/models/causal_lm.h"
#include "attend/models/check_weights.h"
#include "attend/models/decomposable_attention.h"
#include "attend/models/esim.h"
#include "attend/models/gguf_model.h"
#include "attend/models/hierarchical_classifier.h"
#include "attend/models/memory_network.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/models/recurrent_translator.h"
#include "attend/models/transformer.h"
#include "attend/models/turing_machine.h"

namespace attend {
namespace {

using enum Ability;

template <const BertVariant& variant>
std::vector<Ability> abilities_of_bert(const Config& config) {
  std::vector<Ability> all{embed};
  switch (BertOptions::read(config, variant).head) {
    case BertHead::none:
    case BertHead::next_sentence:
      break;
    case BertHead::pre_training:
    case BertHead::masked_lm:
      all.push_back(fill_mask);
      break;
    case BertHead::sequence_classification:
      all.push_back(classify);
      if (config.has("stories")) all.push_back(stories);
      break;
    case BertHead::token_classification:
      all.push_back(tag);
      break;
    case BertHead::question_answering:
      all.push_back(answer);
      break;
  }
  return all;
}

/// Classifiers that were trained on stories have the key "stories".
std::vector<Ability> abilities_of_classifier(const Config& config) {
  return config.has("stories") ? std::vector{classify, stories} : std::vector{classify};
}

template <const CausalLmFamily& family>
std::vector<Ability> abilities_of_causal_lm(const Config& config) {
  return {CausalLmOptions::read(config, family).labels.empty() ? generate : classify};
}

template <const TransformerFamily& family>
std::shared_ptr<Model> transformer(const Config& config, const Weights& weights, bool mapped) {
  return std::make_shared<Transformer>(load_transformer(config, weights, family, mapped));
}
template <const BertVariant& variant>
std::shared_ptr<Model> bert(const Config& config, const Weights& weights, bool mapped) {
  return std::make_shared<Bert>(load_bert(config, weights, variant, {.mapped = mapped}));
}
template <const BertVariant& variant>
ModelFamily bert_row() {
  return {variant.type, {embed, fill_mask, classify, tag, answer}, abilities_of_bert<variant>, bert<variant>};
}
template <const CausalLmFamily& family>
std::shared_ptr<Model> causal_lm(const Config& config, const Weights& weights, bool mapped) {
  return std::make_shared<CausalLm>(load_causal_lm(config, weights, family, mapped));
}
template <const CausalLmFamily& family>
ModelFamily causal_lm_row() {
  return {family.type, {generate, classify}, abilities_of_causal_lm<family>, causal_lm<family>};
}
/// A network that only Attend has, by the type of its options.
template <typename Options>
std::shared_ptr<Model> network(const Config& config, const Weights& weights, bool mapped) {
  const auto options = Options::read(config);
  check_parameters("load", config, weights, options.least_parameters());
  const init::Skipped skipped;
  auto model = std::make_shared<typename Options::Network>(options);
  expect_precision("load", config, mapped, *model);
  std::vector<NamedTensor> all = parameters(*model);
  load_parameters(all, weights);
  return model;
}

const std::vector<ModelFamily>& rows() {
  static const std::vector<ModelFamily> all = {
      {"marian", {translate}, nullptr, transformer<kMarian>},
      {"attend-transformer", {translate}, nullptr, transformer<kAttendTransformer>},
      {"bart", {translate}, nullptr, transformer<kBart>},
      {"mbart", {translate}, nullptr, transformer<kMbart>},
      {"m2m_100", {translate}, nullptr, transformer<kM2m100>},
      {"pegasus", {translate}, nullptr, transformer<kPegasus>},
      {"t5", {translate}, nullptr, transformer<kT5>},
      {"mt5", {translate}, nullptr, transformer<kMt5>},
      {"attend-recurrent-translator", {translate}, nullptr, network<RecurrentTranslatorOptions>},
      causal_lm_row<kGpt2>(),
      causal_lm_row<kGptNeox>(),
      causal_lm_row<kLlama>(),
      causal_lm_row<kMistral>(),
      causal_lm_row<kQwen2>(),
      causal_lm_row<kQwen3>(),
      causal_lm_row<kSmolLm3>(),
      causal_lm_row<kGemma2>(),
      causal_lm_row<kPhi3>(),
      bert_row<kBert>(),
      bert_row<kDistilBert>(),
      bert_row<kRoberta>(),
      bert_row<kXlmRoberta>(),
      bert_row<kCamembert>(),
      bert_row<kElectra>(),
      bert_row<kMpnet>(),
      bert_row<kAlbert>(),
      bert_row<kModernBert>(),
      {"attend-recurrent-classifier", {classify}, abilities_of_classifier, network<RecurrentClassifierOptions>},
      {"attend-decomposable-attention", {classify}, nullptr, network<DecomposableAttentionOptions>},
      {"attend-esim", {classify}, nullptr, network<EsimOptions>},
      {"attend-hierarchical-classifier", {classify}, nullptr, network<HierarchicalClassifierOptions>},
      {"attend-bidaf", {answer}, nullptr, network<BidafOptions>},
      {"attend-memory-network", {stories}, nullptr, network<MemoryNetworkOptions>},
      {"attend-turing-machine", {compute}, nullptr, network<TuringMachineOptions>},
  };
  return all;
}

/// The types of all families, or of those that may have an ability: "marian, gpt2".
std::string listed_types(std::optional<Ability> ability) {
  std::string all;
  for (const ModelFamily& family : rows()) {
    if (ability && std::ranges::find(family.abilities, *ability) == family.abilities.end()) continue;
    all += (all.empty() ? "" : ", ") + std::string(family.type);
  }
  return all;
}

}  // namespace

std::string_view name_of(Ability ability) {
  switch (ability) {
    case generate:
      return "a language model";
    case translate:
      return "a translator";
    case embed:
      return "an encoder";
    case fill_mask:
      return "a model that predicts masked tokens";
    case classify:
      return "a classifier";
    case tag:
      return "a tagger";
    case answer:
      return "a model that finds the answer in a text";
    case stories:
      return "a model that answers questions about stories";
    case compute:
      return "a Turing machine";
  }
  return "";
}

std::string vocabulary_digest(const Tokenizer& tokenizer, std::int64_t most) {
  Fingerprint all;
  const auto size = static_cast<std::int32_t>(std::min<std::int64_t>(most, tokenizer.size()));
  for (std::int32_t id = 0; id < size; ++id) all.add(tokenizer.token(id));
  return std::to_string(size) + ":" + std::to_string(all.value());
}

void save_model(Model& model, const Tokenizer& tokenizer, const std::filesystem::path& folder) {
  model.save(folder, vocabulary_digest(tokenizer));
  save_tokenizer(tokenizer, folder);
}

namespace {

/// Changes when a file is replaced or written.
using FileState = std::array<std::int64_t, 5>;
FileState state_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), status.st_size,
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

}  // namespace

struct ModelFolder::Content {
  std::filesystem::path path;
  std::optional<GgufFile> gguf;       // if the path is such a file
  std::filesystem::path config_file;  // config.json or the GGUF file
  FileState config_state;             // an update removes config.json first and writes it last
  Config config;
  const ModelFamily* family = nullptr;
  std::vector<Ability> abilities;
  std::optional<ModelFolder> base;       // with an adapter
  std::optional<AdapterFolder> adapter;  //

  std::mutex mutex;
  std::optional<Weights> weights;
  std::optional<Tokenizer> source, target;
  std::shared_ptr<const Model> model;
};

ModelFolder::ModelFolder(const std::filesystem::path& folder) : content_(std::make_shared<Content>()) {
  const std::filesystem::path path = current_folder(folder);
  if (holds_adapter(path)) {
    *this = ModelFolder(ModelFolder(AdapterFolder(path).base()), path);
    return;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) && !std::filesystem::exists(path / "config.json", ignored))
    fail<InputError>("model", path.string(), ": holds no model: there is no config.json",
                     std::filesystem::exists(path / "checkpoint.safetensors", ignored)
                         ? "; it holds a training run that was stopped, which --resume continues"
                         : "");
  content_->path = path;
  read_config(path);
}

ModelFolder::ModelFolder(const ModelFolder& base, const std::filesystem::path& adapter)
    : content_(std::make_shared<Content>()) {
  if (base.has_adapter()) fail<InputError>("adapter", adapter.string(), ": its base model is an adapter itself");
  content_->base = base, content_->adapter.emplace(adapter);
  content_->gguf = base.content_->gguf;
  content_->path = base.path();
  const std::filesystem::path own = content_->adapter->path();
  std::error_code unreadable;
  read_config(std::filesystem::exists(own / "config.json", unreadable) ? own : base.path());
  if (family().type != base.family().type)
    fail<InputError>("adapter", own.string(), ": is for a model of type \"", family().type, "\", but ",
                     base.path().string(), " holds one of type \"", base.family().type, "\"");
}

void ModelFolder::read_config(const std::filesystem::path& path) {
  const bool gguf = is_gguf(path);
  content_->config_file = gguf ? path : path / "config.json";
  content_->config_state = state_of(content_->config_file);
  if (gguf) content_->gguf.emplace(path);
  content_->config = gguf ? gguf_config(*content_->gguf) : Config(content_->config_file);
  const std::string type = content_->config.text("model_type", "");
  const auto row = std::ranges::find(rows(), type, &ModelFamily::type);
  if (row == rows().end())
    fail<InputError>("model", path.string(), ": holds a model of type \"", type, "\", expected one of ",
                     listed_types({}));
  content_->family = &*row;
  content_->abilities = row->has ? row->has(content_->config) : row->abilities;
}

const std::filesystem::path& ModelFolder::path() const { return content_->path; }
const Config& ModelFolder::config() const { return content_->config; }
const ModelFamily& ModelFolder::family() const { return *content_->family; }

bool ModelFolder::can(Ability ability) const {
  return std::ranges::find(content_->abilities, ability) != content_->abilities.end();
}

void ModelFolder::require(const char* op, std::span<const Ability> abilities) const {
  if (std::ranges::none_of(abilities, [&](Ability one) { return can(one); })) refuse(op, abilities);
}

void ModelFolder::refuse(const char* op, std::span<const Ability> expected) const {
  const auto family_can = [&](Ability one) {
    return std::ranges::find(family().abilities, one) != family().abilities.end();
  };
  std::string there, wanted;
  for (const Ability one : content_->abilities) there += (there.empty() ? "" : ", ") + std::string(name_of(one));
  for (const Ability one : expected)
    wanted += (wanted.empty() ? "" : ", or ") + std::string(name_of(one)) +
              (family_can(one) ? "" : " (" + listed_types(one) + ")");
  if (std::ranges::any_of(expected, family_can))
    fail<InputError>(op, path().string(), ": is ", there, ", expected ", wanted);
  fail<InputError>(op, path().string(), ": holds a model of type \"", family().type, "\", expected ", wanted);
}

void ModelFolder::check_unchanged() const {
  if (state_of(content_->config_file) != content_->config_state)
    fail<InputError>("model", path().string(), ": was changed while it was being read; try again");
}

const Weights& ModelFolder::weights_locked() const {
  if (!content_->weights) {
    Weights opened = content_->base   ? content_->base->weights()
                     : content_->gguf ? gguf_weights(*content_->gguf)
                                      : Weights(path());
    if (content_->adapter) content_->adapter->add_saved(opened);
    check_unchanged();
    content_->weights.emplace(std::move(opened));
  }
  return *content_->weights;
}

const Weights& ModelFolder::weights() const {
  const std::lock_guard lock(content_->mutex);
  return weights_locked();
}

const Tokenizer& ModelFolder::tokenizer(Side side) const {
  const std::lock_guard lock(content_->mutex);
  std::optional<Tokenizer>& one = side == Side::source ? content_->source : content_->target;
  if (!one) {
    Tokenizer loaded = content_->gguf ? gguf_tokenizer(content_->gguf->metadata()) : load_tokenizer(path(), side);
    check_unchanged();
    const SafetensorsMetadata& metadata = weights_locked().metadata();
    // Tokens that were added behind the recorded ones change no id: add_tokens() of transformers does this.
    if (const auto recorded = metadata.find(kVocabularyKey);
        recorded != metadata.end() &&
        recorded->second != vocabulary_digest(loaded, std::strtoll(recorded->second.c_str(), nullptr, 10)))
      fail<InputError>("model", path().string(),
                       ": the tokenizer is not the one that the weights were trained with: its tokens differ; copy the "
                       "right files, or use `attend convert` to write the model with this tokenizer");
    one.emplace(std::move(loaded));
  }
  return *one;
}

std::shared_ptr<const Model> ModelFolder::model() const {
  const Weights& mapped = weights();
  const std::lock_guard lock(content_->mutex);
  if (content_->model) return content_->model;
  // Without layers of its own, an adapter needs no more memory than its tensors.
  const bool shares = content_->adapter && content_->adapter->info().saved.empty();
  const std::shared_ptr<Model> made =
      shares ? content_->base->model()->share() : family().load(config(), mapped, /*mapped=*/true);
  attach_adapter(*made);
  return content_->model = made;
}

std::shared_ptr<Model> ModelFolder::load() const {
  std::shared_ptr<Model> model = family().load(config(), weights(), /*mapped=*/false);
  attach_adapter(*model);
  return model;
}

const GgufMetadata* ModelFolder::gguf_metadata() const {
  return content_->gguf ? &content_->gguf->metadata() : nullptr;
}

bool ModelFolder::has_adapter() const { return content_->adapter.has_value(); }
std::filesystem::path ModelFolder::adapter_path() const {
  return has_adapter() ? content_->adapter->path() : std::filesystem::path();
}
void ModelFolder::attach_adapter(Model& model) const {
  if (content_->adapter) content_->adapter->attach(model);
}

// ---- loading functions for callers that know the class ----

namespace {

const TransformerFamily* const kTransformers[] = {&kMarian, &kAttendTransformer, &kBart, &kMbart,
                                                  &kM2m100, &kPegasus,           &kT5,   &kMt5};
const BertVariant* const kBerts[] = {&kBert,    &kDistilBert, &kRoberta, &kXlmRoberta, &kCamembert,
                                     &kElectra, &kMpnet,      &kAlbert,  &kModernBert};

const CausalLmFamily* const kCausalLms[] = {&kGpt2,  &kGptNeox, &kLlama,  &kMistral, &kQwen2,
                                            &kQwen3, &kSmolLm3, &kGemma2, &kPhi3};

template <typename Kind>
const Kind& find_kind(const char* op, const Config& config, std::span<const Kind* const> kinds) {
  const std::string type = config.text("model_type", "");
  std::string expected;
  for (const Kind* kind : kinds) {
    if (kind->type == type) return *kind;
    expected += (expected.empty() ? "" : ", ") + std::string(kind->type);
  }
  fail<InputError>(op, "\"model_type\" of config.json is \"", type, "\", expected one of ", expected);
}

}  // namespace

TransformerOptions TransformerOptions::read(const Config& config) {
  TransformerOptions options;
  options.family = &find_kind<TransformerFamily>("transformer", config, kTransformers);
  options.family->read(config, options);
  return options;
}

Transformer load_transformer(const std::filesystem::path& path, bool mapped) {
  const ModelFolder folder(path);
  const auto& family = find_kind<TransformerFamily>("transformer", folder.config(), kTransformers);
  Transformer model = load_transformer(folder.config(), folder.weights(), family, mapped);
  folder.attach_adapter(model);
  return model;
}

BertOptions BertOptions::read(const Config& config) {
  return read(config, find_kind<BertVariant>("bert", config, kBerts));
}

Bert load_bert(const std::filesystem::path& path, const BertLoading& loading) {
  const ModelFolder folder(path);
  const auto& variant = find_kind<BertVariant>("bert", folder.config(), kBerts);
  Bert model = load_bert(folder.config(), folder.weights(), variant, loading);
  folder.attach_adapter(model);
  return model;
}

CausalLmOptions CausalLmOptions::read(const Config& config) {
  return read(config, find_kind<CausalLmFamily>("language model", config, kCausalLms));
}

CausalLm load_causal_lm(const std::filesystem::path& path, bool mapped) {
  const ModelFolder opened(path);
  const auto& family = find_kind<CausalLmFamily>("language model", opened.config(), kCausalLms);
  CausalLm model = load_causal_lm(opened.config(), opened.weights(), family, mapped);
  opened.attach_adapter(model);
  return model;
}

}  // namespace attend
