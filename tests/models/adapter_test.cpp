#include "attend/models/adapter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "attend/models/bert.h"
#include "attend/models/causal_lm.h"
#include "attend/models/registry.h"
#include "attend/models/stored_parameter.h"
#include "attend/models/transformer.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using test::close;
using test::TempFolder;

fs::path fixture(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }

/// A case of tests/golden/lora.py.
struct Case {
  const char *name, *folder;
  std::vector<std::string> targets, saved;
};
const std::vector<Case> kCases = {
    {"gpt2", "gpt2_switches", {"c_attn", "c_proj"}, {}},
    {"phi3", "phi3", {"qkv_proj", "gate_up_proj"}, {}},
    {"gpt_neox", "gpt_neox", {"query_key_value", "dense"}, {}},
    {"bert", "bert_bert_sequenceclassification", {"query", "value"}, {"classifier"}},
    {"modernbert", "bert_modernbert_sequenceclassification", {"Wqkv", "Wi"}, {"classifier"}},
    {"marian", "marian_tied", {"q_proj", "v_proj"}, {}},
    {"t5", "t5_relu", {"q", "v", "wo"}, {}},
};

class Adapters : public testing::TestWithParam<Case> {
 protected:
  AdapterInfo info() const {
    return AdapterInfo::of({.rank = 3, .alpha = 5, .targets = GetParam().targets}, fixture(GetParam().folder), "",
                           GetParam().saved);
  }
  Tensor golden(const std::string& name) const { return golden_.get(GetParam().name + ("/" + name)); }
  /// Sets A and B, and heads, to golden values.
  void set(const std::vector<NamedTensor>& parameters, const std::string& which) const {
    constexpr std::int64_t kHeads = 3;  // of the fixture of GPT-NeoX, which stores queries, keys and values by head
    Tensor whole;                       // a B that several layers share
    const float* rest = nullptr;
    for (const auto& [name, parameter] : parameters) {
      const bool more = std::isdigit(static_cast<unsigned char>(name.back())) != 0;
      if (!more) {
        whole = golden(which + "/base_model.model." + name);
        if (name.ends_with("query_key_value.lora_B.weight")) whole = regrouped(whole, kHeads, 3);
        rest = whole.data();
      }
      std::copy_n(rest, parameter.numel(), parameter.data());
      rest += parameter.numel();
    }
  }
  Tensor logits(const Model& model) const {
    const Tensor ids = golden("ids");
    const std::int64_t B = ids.dim(0), T = ids.dim(1);
    if (const auto* gpt2 = dynamic_cast<const CausalLm*>(&model)) return (*gpt2)(ids);
    if (const auto* bert = dynamic_cast<const Bert*>(&model)) {
      const std::vector<std::int64_t> lengths(static_cast<std::size_t>(B), T);
      return bert->label_texts(bert->encode({.ids = ids.reshape({B * T}), .types = {}, .lengths = lengths}), lengths);
    }
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(B), static_cast<std::int32_t>(T));
    return dynamic_cast<const Transformer&>(model).logits(ids, Tensor::ids(lengths, {B}), golden("inputs"));
  }
  Tensor loss(const Model& model) const {
    const Tensor y = logits(model);
    const std::int64_t V = y.dim(-1);
    return cross_entropy(y.reshape({-1, V}), golden("targets").reshape({-1}));
  }
  /// A model that shares the mapped weights of the fixture.
  std::shared_ptr<Model> base() const { return ModelFolder(fixture(GetParam().folder)).model()->share(); }
  void write_golden_adapter(const fs::path& folder) const {
    const std::shared_ptr<Model> model = base();
    Generator generator(1);
    set(train_adapters(*model, info(), generator), "final");
    save_adapter(*model, info(), folder);
  }

  SafetensorsFile golden_ = test::golden("lora");
};
INSTANTIATE_TEST_SUITE_P(Families, Adapters, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(Adapters, TenStepsEqualThoseOfPyTorch) {
  const std::shared_ptr<Model> model = base();
  Generator generator(1);
  const std::vector<NamedTensor> trained = train_adapters(*model, info(), generator);
  set(trained, "initial");
  AdamW optimizer(trained, {.learning_rate = 1e-2, .weight_decay = 0.1f});
  const Tensor losses = golden("losses");
  for (std::int64_t step = 0; step < losses.numel(); ++step) {
    const Tensor now = loss(*model);
    EXPECT_NEAR(now.item(), losses.data()[step], 1e-4) << "before step " << step;
    backward(now);
    optimizer.step();
    optimizer.zero_grad();
  }
  EXPECT_TRUE(close(logits(*model), golden("logits"), {1e-3f, 2e-3f}));
}

TEST_P(Adapters, ANewAdapterChangesNothing) {
  const std::shared_ptr<Model> model = base();
  const std::vector<float> before = logits(*model).to_vector();
  Generator generator(1);
  train_adapters(*model, info(), generator);
  EXPECT_EQ(logits(*model).to_vector(), before);
}

TEST_P(Adapters, AFolderHasTheTensorsOfPeftAndLoadsAgain) {
  const TempFolder folder;
  write_golden_adapter(folder.path());
  const SafetensorsFile written(folder / "adapter_model.safetensors");
  for (const std::string& name : golden_.names()) {
    const std::string prefix = std::string(GetParam().name) + "/final/";
    if (name.starts_with(prefix)) {
      EXPECT_EQ(written.get(name.substr(prefix.size())).to_vector(), golden_.get(name).to_vector()) << name;
    }
  }
  const ModelFolder opened(folder.path());
  EXPECT_EQ(opened.path(), fixture(GetParam().folder));
  EXPECT_TRUE(close(logits(*opened.model()), golden("logits"), {1e-3f, 1e-4f}));
  const ModelFolder given(ModelFolder(fixture(GetParam().folder)), folder.path());
  EXPECT_EQ(logits(*given.model()).to_vector(), logits(*opened.model()).to_vector());
}

TEST_P(Adapters, MergedWeightsComputeTheSame) {
  const TempFolder folder, merged;
  write_golden_adapter(folder.path());
  const ModelFolder adapted(folder.path());
  const std::shared_ptr<Model> model = adapted.load();
  merge_adapters(*model);
  model->save(merged.path());
  EXPECT_TRUE(close(logits(*ModelFolder(merged.path()).model()), logits(*adapted.model()), {1e-4f, 1e-5f}));
}

TEST_P(Adapters, MergedWeightsKeepTheirPrecision) {
  for (const DType precision : {DType::bf16, DType::f16}) {
    const TempFolder base, folder, merged;
    ModelFolder(fixture(GetParam().folder)).load()->save(base.path(), {}, precision);
    EXPECT_EQ(ModelFolder(base.path()).weights().precision(), precision);
    write_golden_adapter(folder.path());
    const ModelFolder adapted(ModelFolder(base.path()), folder.path());
    const std::shared_ptr<Model> model = adapted.load();
    merge_adapters(*model);
    model->save(merged.path(), {}, precision);
    EXPECT_EQ(ModelFolder(merged.path()).weights().precision(), precision);
    const float error = precision == DType::bf16 ? 0.1f : 0.02f;
    const Tensor exact = logits(*adapted.model());
    EXPECT_TRUE(close(logits(*ModelFolder(merged.path()).model()), exact, {error, error}));
    // Also where the weights stay in the mapped file.
    const std::shared_ptr<Model> mapped = adapted.model()->share();
    merge_adapters(*mapped);
    EXPECT_TRUE(close(logits(*mapped), exact, {error, error}));
  }
}

TEST_P(Adapters, AnInt8BaseTrainsAndLoadsThem) {
  const TempFolder int8, folder;
  const std::shared_ptr<Model> full = ModelFolder(fixture(GetParam().folder)).load();
  quantise(*full);
  full->save(int8.path());
  AdapterInfo adapter = info();
  adapter.base = int8.path();
  const ModelFolder base(int8.path());
  const std::shared_ptr<Model> model = base.model()->share();
  Generator generator(1);
  const std::vector<NamedTensor> trained = train_adapters(*model, adapter, generator);
  AdamW optimizer(trained, {.learning_rate = 1e-2});
  const float before = loss(*model).item();
  for (int step = 0; step < 5; ++step) {
    backward(loss(*model));
    optimizer.step(), optimizer.zero_grad();
  }
  EXPECT_LT(loss(*model).item(), before);
  save_adapter(*model, adapter, folder.path());
  const NoGrad no_grad;
  EXPECT_EQ(logits(*ModelFolder(folder.path()).model()).to_vector(), logits(*model).to_vector());
}

TEST(Adapter, TwoAdaptersShareTheTensorsOfOneBase) {
  const TempFolder one, other;
  const ModelFolder base(fixture("gpt2_switches"));
  for (const TempFolder* folder : {&one, &other}) {
    const std::shared_ptr<Model> model = base.model()->share();
    Generator generator(1);
    AdapterInfo info = AdapterInfo::of({.rank = 2}, base.path(), "CAUSAL_LM");
    train_adapters(*model, info, generator);
    save_adapter(*model, info, folder->path());
  }
  const auto first = std::dynamic_pointer_cast<const CausalLm>(ModelFolder(base, one.path()).model());
  const auto second = std::dynamic_pointer_cast<const CausalLm>(ModelFolder(base, other.path()).model());
  const Linear &a = first->decoder.blocks[0].self_attention.query, &b = second->decoder.blocks[0].self_attention.query;
  EXPECT_EQ(a.weight.raw(), b.weight.raw());
  EXPECT_NE(a.adapter->a.raw(), b.adapter->a.raw());
  EXPECT_EQ(std::dynamic_pointer_cast<const CausalLm>(base.model())->decoder.blocks[0].self_attention.query.adapter,
            nullptr);
}

TEST(Adapter, AllLinearLeavesOutTheOutputLayer) {
  const ModelFolder base(fixture("gpt2_switches"));
  const std::shared_ptr<Model> model = base.model()->share();
  Generator generator(1);
  const std::vector<NamedTensor> trained =
      train_adapters(*model, AdapterInfo::of({.rank = 2, .targets = {"all-linear"}}, base.path(), ""), generator);
  // Four modules in each of three layers: A and B each, and two more parts of B in c_attn.
  EXPECT_EQ(trained.size(), 3u * (4 * 2 + 2));
  for (const NamedTensor& one : trained) EXPECT_FALSE(one.name.starts_with("lm_head")) << one.name;
}

TEST(Adapter, TheQueriesAndValuesOfEachFamilyAreFound) {
  const auto adapted = [](const std::string& folder) {
    const std::shared_ptr<Model> model = ModelFolder(fixture(folder)).model()->share();
    Generator generator(1);
    return train_adapters(*model, AdapterInfo::of({.rank = 2}, fixture(folder), ""), generator).front().name;
  };
  EXPECT_EQ(adapted("phi3"), "model.layers.0.self_attn.qkv_proj.lora_A.weight");
  EXPECT_EQ(adapted("gpt_neox"), "gpt_neox.layers.0.attention.query_key_value.lora_A.weight");
}

TEST(Adapter, ATargetThatNamesNoLayerIsReported) {
  const ModelFolder base(fixture("gpt2_switches"));
  const std::shared_ptr<Model> model = base.model()->share();
  Generator generator(1);
  EXPECT_ERROR(train_adapters(*model, AdapterInfo::of({.rank = 2, .targets = {"q_proj"}}, base.path(), ""), generator),
               "no linear layer is named \"q_proj\", expected all-linear, or some of c_attn, c_fc, c_proj, lm_head");
}

/// The folder of a small adapter, to be damaged.
class DamagedAdapter : public testing::Test {
 protected:
  DamagedAdapter() {
    const std::shared_ptr<Model> model = base_.model()->share();
    Generator generator(1);
    const AdapterInfo info = AdapterInfo::of({.rank = 2}, base_.path(), "CAUSAL_LM");
    train_adapters(*model, info, generator);
    save_adapter(*model, info, folder_.path());
  }
  void set(const std::string& key, const auto& value) const {
    Config config(folder_ / "adapter_config.json");
    config.set(key, value);
    config.save(folder_ / "adapter_config.json");
  }
  void change_tensors(const std::function<void(std::vector<NamedTensor>&)>& change) const {
    std::vector<NamedTensor> all;
    {
      const SafetensorsFile file(folder_ / "adapter_model.safetensors");
      for (const std::string& name : file.names()) all.push_back({name, file.get(name).copy()});
    }
    change(all);
    save_safetensors(folder_ / "adapter_model.safetensors", all);
  }
  std::string error(const std::string& base = "gpt2_switches") const {
    return test::error_of([&] { ModelFolder(ModelFolder(fixture(base)), folder_.path()).model(); });
  }
  void expect_error(const std::string& text, const std::string& base = "gpt2_switches") const {
    const std::string message = error(base);
    EXPECT_NE(message.find(text), std::string::npos) << "the error was: \"" << message << '"';
  }

  ModelFolder base_{fixture("gpt2_switches")};
  TempFolder folder_;
};

TEST_F(DamagedAdapter, SettingsThatChangeTheResultAreErrorsThatNameTheKey) {
  EXPECT_EQ(error(), "");
  const std::string config = test::contents(folder_ / "adapter_config.json");
  const auto expect_refused = [&](const std::string& key, const auto& value) {
    set(key, value);
    expect_error(key);
    std::ofstream(folder_ / "adapter_config.json") << config;
  };
  expect_refused("peft_type", "IA3");
  expect_refused("use_dora", true);
  expect_refused("bias", "lora_only");
  expect_refused("init_lora_weights", "pissa");
  expect_refused("layer_replication", std::vector<std::int64_t>{1, 2});
  expect_refused("something_new", 3);
  Config pattern;
  pattern.set("c_attn", 4);
  expect_refused("rank_pattern", pattern), expect_refused("alpha_pattern", pattern);
  expect_refused("r", 0), expect_refused("r", std::int64_t{1} << 40), expect_refused("lora_dropout", 2.0);
  set("something_new", false), set("exclude_modules", std::vector<std::string>{}), set("revision", "main");
  EXPECT_EQ(error(), "");
}

TEST_F(DamagedAdapter, AWrongRankIsReported) {
  set("r", 3);
  expect_error("has the wrong shape: got [2, 14], expected [3, 14]");
}

TEST_F(DamagedAdapter, AMissingTensorIsReported) {
  change_tensors([](std::vector<NamedTensor>& all) { all.erase(all.begin()); });
  EXPECT_NE(error(), "");
  change_tensors([](std::vector<NamedTensor>& all) { all.erase(all.begin()); });
  expect_error("has no tensors for the layer transformer.h.0.attn.c_attn");
}

TEST_F(DamagedAdapter, ATensorOfNoLayerIsReported) {
  change_tensors([](std::vector<NamedTensor>& all) {
    all.push_back({"base_model.model.transformer.h.9.attn.c_attn.lora_A.weight", Tensor::zeros({2, 14})});
  });
  expect_error("belongs to no linear layer of the base model; is it the right base model?");
  change_tensors([](std::vector<NamedTensor>& all) { all.back().name = "base_model.model.nothing.weight"; });
  expect_error("belongs to no parameter of the base model");
  change_tensors(
      [](std::vector<NamedTensor>& all) { all.back().name = "base_model.model.transformer.wte.lora_embedding_A"; });
  expect_error("is not supported");
}

TEST_F(DamagedAdapter, AnotherBaseIsReported) {
  expect_error("is for a model of type \"gpt2\"", "t5_relu");
  fs::remove(folder_ / "config.json");
  expect_error("is it the right base model?", "t5_relu");
  set("base_model_name_or_path", "openai-community/gpt2");
  EXPECT_ERROR(ModelFolder(folder_.path()), "its base model is not here: got \"openai-community/gpt2\"");
}

TEST_F(DamagedAdapter, ACutOrGarbledFileIsReported) {
  fs::resize_file(folder_ / "adapter_model.safetensors", fs::file_size(folder_ / "adapter_model.safetensors") - 5);
  EXPECT_NE(error(), "");
  fs::remove(folder_ / "adapter_model.safetensors");
  expect_error("has no adapter_model.safetensors");
  std::ofstream(folder_ / "adapter_config.json") << "[1, 2";
  EXPECT_NE(error(), "");
}

}  // namespace
}  // namespace attend
