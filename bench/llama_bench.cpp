// A Llama with the shape of SmolLM2-135M: processing of a prompt, and generation token by token, in float32 and
// bfloat16, which llama_cpp.py compares with llama.cpp; and training steps of adapters compared with full ones.
#include "attend/core/convert.h"
#include "attend/tasks/language_model/language_model.h"
#include "bench/job.h"
#include "bench/language_model_steps.h"
#include "tests/support/numbered_words.h"

namespace {

using namespace attend;

constexpr std::int64_t kVocabulary = 49152;

CausalLmOptions smollm2_options() {
  CausalLmOptions o = CausalLmOptions::of(kLlama);
  o.vocabulary = kVocabulary, o.positions = 8192, o.width = 576, o.layers = 30, o.heads = 9, o.kv_heads = 3;
  o.inner = 1536, o.rotary->theta = 100000, o.tied_output = true, o.start = 0, o.ends = {0};
  return o;
}

CausalLm smollm2(bool bfloat16) {
  CausalLm model(smollm2_options());
  if (bfloat16)
    model.visit_matrices([](Tensor& weight, const Tensor&) {
      if (weight.defined()) weight = convert(weight, DType::bf16);
    });
  return model;
}

/// Greedy generation of 128 tokens after a prompt of one: 128 steps of one token, as llama-bench measures it.
bench::Run generation(bool bfloat16) {
  const LanguageModel model(smollm2(bfloat16), test::numbered_words(kVocabulary));
  const std::vector<std::vector<std::int32_t>> prompts{bench::random_ids(1, kVocabulary)};
  return [=] { model.generate(prompts, {{.greedy = true, .max_new_tokens = 128, .ignore_eos = true}}); };
}

bench::Run long_prompt(bool bfloat16, std::int64_t tokens) {
  auto model = std::make_shared<CausalLm>(smollm2(bfloat16));
  return [model, ids = bench::random_ids(tokens, kVocabulary)] {
    const GenerationInput input{.prompt = ids};
    model->start(std::span(&input, 1));
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("llama.decode.135m.1x128", 0, [] { return generation(false); });
  bench::job("llama.decode.135m.bf16.1x128", 0, [] { return generation(true); });
  bench::job("llama.prompt.135m.512", 0, [] { return long_prompt(false, 512); });
  bench::job("llama.prompt.135m.2048", 0, [] { return long_prompt(false, 2048); });
  bench::job("llama.prompt.135m.bf16.512", 0, [] { return long_prompt(true, 512); });
  bench::figure("llama.lora.135m.speed", "x", -1.5, [] { return bench::lora_speed(smollm2_options(), 4, 256); });
  bench::figure("llama.lora.135m.memory", "%", 60, [] { return bench::lora_memory(smollm2_options(), 4, 256); });
  return bench::serve(argc, argv);
}
