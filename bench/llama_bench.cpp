// A Llama with the shape of SmolLM2-135M: processing of a prompt, and generation token by token, in float32 and
// bfloat16. llama_cpp.py compares them with llama.cpp.
#include "attend/core/convert.h"
#include "attend/core/random.h"
#include "attend/tasks/language_model/language_model.h"
#include "bench/job.h"
#include "tests/support/numbered_words.h"

namespace {

using namespace attend;

constexpr std::int64_t kVocabulary = 49152;

CausalLm smollm2(bool bfloat16) {
  CausalLmOptions o = CausalLmOptions::of(kLlama);
  o.vocabulary = kVocabulary, o.positions = 8192, o.width = 576, o.layers = 30, o.heads = 9, o.kv_heads = 3;
  o.inner = 1536, o.rotary->theta = 100000, o.tied_output = true, o.start = 0, o.ends = {0};
  CausalLm model(o);
  if (bfloat16)
    model.visit_matrices([](Tensor& weight, const Tensor&) {
      if (weight.defined()) weight = convert(weight, DType::bf16);
    });
  return model;
}

std::vector<std::int32_t> random_tokens(std::int64_t count) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::int32_t>(philox({1, 2}, i)[0] % std::uint32_t{kVocabulary});
  return ids;
}

/// Greedy generation of 128 tokens after a prompt of one: 128 steps of one token, as llama-bench measures it.
bench::Run generation(bool bfloat16) {
  const LanguageModel model(smollm2(bfloat16), test::numbered_words(kVocabulary));
  const std::vector<std::vector<std::int32_t>> prompts{random_tokens(1)};
  return [=] { model.generate(prompts, {{.greedy = true, .max_new_tokens = 128, .ignore_eos = true}}); };
}

bench::Run long_prompt(bool bfloat16) {
  auto model = std::make_shared<CausalLm>(smollm2(bfloat16));
  return [model, ids = random_tokens(512)] {
    CausalLmState state;
    const std::span<const std::int32_t> text(ids);
    model->start(std::span(&text, 1), state);
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("llama.decode.135m.1x128", 0, [] { return generation(false); });
  bench::job("llama.decode.135m.bf16.1x128", 0, [] { return generation(true); });
  bench::job("llama.prompt.135m.512", 0, [] { return long_prompt(false); });
  bench::job("llama.prompt.135m.bf16.512", 0, [] { return long_prompt(true); });
  return bench::serve(argc, argv);
}
