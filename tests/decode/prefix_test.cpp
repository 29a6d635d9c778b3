// Prompts whose beginning was read before: the same bits as without that, in all kinds of language models.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "attend/core/convert.h"
#include "attend/decode/engine.h"
#include "attend/models/adapter.h"
#include "attend/models/causal_lm.h"
#include "attend/models/model.h"
#include "attend/ops/tape.h"

namespace attend {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int32_t kVocabulary = 61;

CausalLm small_model(const CausalLmFamily& family, const std::function<void(CausalLmOptions&)>& change = {}) {
  CausalLmOptions o = CausalLmOptions::of(family);
  o.vocabulary = kVocabulary, o.positions = 600, o.width = 24, o.layers = 2, o.heads = 4, o.inner = 40;
  o.deviation = 0.3f, o.ends = {0}, o.start = 0;
  if (change) change(o);
  Generator generator(5);
  return CausalLm(o, generator);
}

std::map<std::string, CausalLm> small_models() {
  std::map<std::string, CausalLm> all;
  all.emplace("gpt2", small_model(kGpt2));
  all.emplace("llama, grouped heads", small_model(kLlama, [](CausalLmOptions& o) { o.kv_heads = 2; }));
  all.emplace("parallel", small_model(kLlama, [](CausalLmOptions& o) { o.parallel = true; }));
  all.emplace("head norms", small_model(kQwen3, [](CausalLmOptions& o) { o.head_norm = true, o.head_dim = 10; }));
  all.emplace("windows and caps", small_model(kGemma2, [](CausalLmOptions& o) {
                o.windows = {9, -1}, o.score_cap = 3.f, o.logit_cap = 5.f, o.output_norm = true;
              }));
  all.emplace("some layers rotate", small_model(kSmolLm3, [](CausalLmOptions& o) { o.rotates = {true, false}; }));
  all.emplace("other frequencies of long texts", small_model(kPhi3, [](CausalLmOptions& o) {
                o.rotary->scaling = RotaryScaling::longrope, o.rotary->original_positions = 90;
                o.rotary->short_factors = {1, 1.5, 2}, o.rotary->long_factors = {2, 3, 4};
              }));
  quantise(all.emplace("int8", small_model(kLlama)).first->second);
  all.emplace("bfloat16", small_model(kLlama)).first->second.visit_matrices([](Tensor& weight, const Tensor&) {
    if (weight.defined()) weight = convert(weight, DType::bf16);
  });
  Generator generator(9);
  AdapterInfo info;
  info.lora = {.rank = 3, .targets = {"all-linear"}};
  CausalLm& adapted = all.emplace("adapter", small_model(kLlama)).first->second;
  for (const auto& [name, tensor] : train_adapters(adapted, info, generator))
    init::normal(const_cast<Tensor&>(tensor), 0.5f, generator);
  return all;
}

/// Texts with common beginnings; some are short.
std::vector<Ids> prompts() {
  std::vector<Ids> all;
  for (const auto& [common, length] : {std::pair{0, 70},
                                       {70, 75},
                                       {64, 130},
                                       {130, 131},
                                       {30, 64},
                                       {0, 5},
                                       {550, 560},
                                       {556, 570},
                                       {130, 130},
                                       {5, 66}}) {
    Ids& text = all.emplace_back();
    for (int t = 0; t < length; ++t) text.push_back(t < common ? 1 + t * 7 % 60 : 1 + (t * t + 3 * length) % 60);
  }
  return all;
}

TEST(Prefixes, DoNotChangeTheBitsOfTheLogits) {
  for (const auto& [name, model] : small_models()) {
    PrefixCache prefixes(64 << 20);
    for (int round = 0; round < 2; ++round) {
      std::int64_t reused = 0;
      for (const Ids& prompt : prompts()) {
        GenerationInput input{.prompt = prompt};
        StartedGeneration alone = model.start(std::span(&input, 1));
        input.prefixes = &prefixes;
        const std::int64_t unread = model.unread(input);
        StartedGeneration with = model.start(std::span(&input, 1));
        if (!with.reused.empty()) {
          EXPECT_EQ(std::ssize(prompt) - unread, with.reused[0]);
          reused += with.reused[0];
        }
        ASSERT_EQ(with.logits.to_vector(), alone.logits.to_vector()) << name << ", " << prompt.size();
        for (std::int32_t token = 1; token < 4; ++token) {
          const Tensor ids = Tensor::ids({token}, {1});
          ASSERT_EQ(model.step(ids, *with.state).to_vector(), model.step(ids, *alone.state).to_vector()) << name;
        }
      }
      EXPECT_GT(reused, round == 0 ? 700 : 1400) << name;
    }
  }
}

TEST(Prefixes, DoNotChangeWhatABatchGenerates) {
  for (const auto& [name, network] : small_models()) {
    const auto model = std::make_shared<CausalLm>(network);
    std::vector<SearchOptions> searches{{.max_new_tokens = 4, .ends = {0}}};
    if (name == "gpt2" || name == "windows and caps") {
      searches.push_back({.beam = 3, .nbest = 2, .max_new_tokens = 3, .ends = {0}});
      searches.push_back({.nbest = 2, .sample = true, .seed = 4, .max_new_tokens = 3, .ends = {0}});
    }
    for (const SearchOptions& options : searches) {
      std::vector<SearchInput> inputs;
      std::vector<std::vector<Hypothesis>> alone;
      for (const Ids& prompt : prompts()) {
        inputs.push_back({.prompt = prompt});
        alone.push_back(search(*model, {inputs.back()}, options).front());
      }
      const PrefixCache prefixes(1 << 20);
      for (int round = 0; round < 2; ++round) {
        Engine engine(model, {.rows = 0}, {}, prefixes);
        std::vector<std::vector<Hypothesis>> together(inputs.size());
        std::int64_t reused = 0;
        std::vector<EngineRequest> requests = make_requests(*model, options, inputs);
        for (std::size_t i = 0; i < requests.size(); ++i)
          engine.join(std::move(requests[i]), {.read = [&reused](std::int64_t tokens) { reused += tokens; },
                                               .done = [&together, i](auto&& found) { together[i] = found; }});
        while (engine.step()) continue;
        EXPECT_GT(reused, 0);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          ASSERT_EQ(together[i].size(), alone[i].size());
          for (std::size_t n = 0; n < alone[i].size(); ++n) {
            EXPECT_EQ(together[i][n].ids, alone[i][n].ids) << name << ", " << i;
            EXPECT_EQ(together[i][n].log_probability, alone[i][n].log_probability) << name << ", " << i;
          }
        }
      }
    }
  }
}

TEST(Prefixes, LongPromptsGiveTheLogitsOfAWholePass) {
  for (const auto& [name, model] : small_models()) {
    const NoGrad no_grad;
    for (const Ids& prompt : prompts()) {
      const GenerationInput input{.prompt = prompt};
      const std::span<const std::int32_t> text(prompt);
      CausalLmState state;
      const std::vector<float> whole = model.start(std::span(&text, 1), state).to_vector();
      const std::vector<float> parts = model.start(std::span(&input, 1)).logits.to_vector();
      for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(parts[i], whole[i], 2e-3) << name << ", " << i;
    }
  }
}

TEST(Prefixes, AreNotKeptOfTextsThatSlide) {
  const auto model = std::make_shared<CausalLm>(small_model(kLlama, [](CausalLmOptions& o) { o.positions = 100; }));
  PrefixCache prefixes(1 << 20);
  Engine engine(model, {}, {}, prefixes);
  Ids prompt = prompts()[2];
  prompt.resize(90);
  std::vector<EngineRequest> requests = make_requests(*model, {.max_new_tokens = 80, .ends = {}}, {{.prompt = prompt}});
  requests[0].slide = true;
  std::int64_t size = 0;
  engine.join(std::move(requests[0]), {.done = [&size](auto&& found) { size = std::ssize(found[0].ids); }});
  while (engine.step()) continue;
  EXPECT_EQ(size, 80);
  EXPECT_EQ(prefixes.bytes(), 80 * model->sequence_bytes().token) << "the five whole blocks of the prompt";
}

}  // namespace
}  // namespace attend
