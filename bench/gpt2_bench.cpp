// GPT-2: training steps, processing of a prompt, and generation token by token. gpt2_torch.py has the peers: PyTorch
// and
// Hugging Face transformers.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "attend/core/memory.h"
#include "attend/core/random.h"
#include "attend/models/adapter.h"
#include "attend/nn/module.h"
#include "attend/nn/quantise.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/recompute.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/text/bpe.h"
#include "attend/text/byte_level.h"
#include "attend/text/grammar/json_schema.h"
#include "attend/text/tokenizer_parts.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"
#include "bench/language_model_steps.h"
#include "tests/support/numbered_words.h"

namespace {

using namespace attend;
using bench::random_ids, bench::step;

/// 124 million parameters.
CausalLmOptions base(float dropout) {
  CausalLmOptions o;
  o.dropout = o.embedding_dropout = o.attention_dropout = dropout;
  return o;
}

/// The size of nanoGPT's character-level Shakespeare model.
CausalLmOptions mini(float dropout) {
  CausalLmOptions o = base(dropout);
  o.vocabulary = 65, o.positions = 256, o.width = 384, o.layers = o.heads = 6, o.set_biases(false), o.start = 0,
  o.ends = {0};
  return o;
}

/// The size of the recipe shakespeare-char.
CausalLmOptions tiny() {
  CausalLmOptions o = mini(0.f);
  o.positions = 64, o.width = 128, o.layers = o.heads = 4;
  return o;
}

/// Greedy generation of 128 tokens after a prompt, for several sequences at once. A prompt of one token gives 128 steps
/// of one token, as llama-bench measures it.
bench::Run write(std::int64_t texts, bool int8 = false, std::int64_t prompt = 32) {
  CausalLm network(base(0.f));
  if (int8) quantise(network);
  const std::int64_t vocabulary = network.options.vocabulary;
  const LanguageModel model(std::move(network), test::numbered_words(vocabulary));
  const std::vector<std::vector<std::int32_t>> prompts(static_cast<std::size_t>(texts), random_ids(prompt, vocabulary));
  return [=] { model.generate(prompts, {{.greedy = true, .max_new_tokens = 128, .ignore_eos = true}}); };
}

/// The time to read the weights from memory, in percent of the time to generate a token.
double share_of_bandwidth() {
  CausalLm network(base(0.f));
  const std::int64_t read = count_parameters(network) - network.options.positions * network.options.width;
  const Tensor weights = Tensor::full({read}, 1.f);
  const LanguageModel model(std::move(network), test::numbered_words(base(0.f).vocabulary));
  const std::vector<std::vector<std::int32_t>> prompts{random_ids(32, 50257)};
  const auto seconds = [&](std::int64_t tokens) {
    return bench::best_seconds(
        [&] { model.generate(prompts, {{.greedy = true, .max_new_tokens = tokens, .ignore_eos = true}}); });
  };
  double reading = 1e30, one = 1e30, many = 1e30;
  for (int round = 0; round < 3; ++round) {
    const NoGrad no_grad;
    reading = std::min(reading, bench::best_seconds([&] { sum(weights); }));
    one = std::min(one, seconds(1));
    many = std::min(many, seconds(129));
  }
  return 100 * reading / ((many - one) / 128);
}

/// A byte-level tokenizer of GPT-2's size. Its tokens are random, but as long as those of GPT-2.
Tokenizer random_bytes(std::int64_t count) {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.add(to_byte_letters(std::string(1, static_cast<char>(byte))), byte);
  for (std::uint64_t n = 0; vocabulary.count() < count - 1; ++n) {
    const auto random = philox({3, 4}, n);
    std::string text = random[0] % 3 > 0 ? " " : "";
    for (std::uint32_t i = 0, length = 2 + random[1] % 6 + random[2] % 4; i < length; ++i) {
      // Letters are not equally likely, so that tokens share beginnings.
      const std::uint32_t a = philox({5, n}, i)[0] % 26, b = philox({6, n}, i)[0] % 26;
      text += static_cast<char>((random[3] % 8 == 0 ? 'A' : 'a') + std::min(a, b));
    }
    const std::string token = to_byte_letters(text);
    if (!vocabulary.id(token)) vocabulary.add(token, static_cast<std::int32_t>(vocabulary.count()));
  }
  vocabulary.add("<|endoftext|>", static_cast<std::int32_t>(count - 1));
  Tokenizer::Parts parts;
  parts.model = Bpe(std::move(vocabulary), {});
  parts.decoder = {decoder::ByteLevel{}};
  parts.added_tokens = {{.content = "<|endoftext|>", .id = static_cast<std::int32_t>(count - 1), .special = true}};
  return Tokenizer(std::move(parts));
}

/// How much longer a token takes with a JSON Schema, in percent. Each text has a new grammar: its compilation counts.
double cost_of_grammar(const std::string& schema) {
  const LanguageModel model(CausalLm(base(0.f)), random_bytes(base(0.f).vocabulary));
  const std::vector<std::vector<std::int32_t>> prompts{random_ids(32, 50256)};
  const auto seconds_per_token = [&](const GenerationOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t tokens = model.generate(prompts, {options}).front().front().ids.size();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           static_cast<double>(tokens);
  };
  const GenerationOptions free{.temperature = 1.0, .seed = 1, .max_new_tokens = 128, .ignore_eos = true};
  GenerationOptions held{.temperature = 1.0, .seed = 1, .max_new_tokens = 128};
  double without = 1e30, with = 1e30;
  for (int round = 0; round < 6; ++round) {
    held.grammar = json_schema_grammar(schema).gbnf + "# " + std::to_string(round) + "\n";
    without = std::min(without, seconds_per_token(free));
    with = std::min(with, seconds_per_token(held));
  }
  return 100 * (with / without - 1);
}

bench::Run prompt() {
  auto model = std::make_shared<CausalLm>(base(0.f));
  return [model, ids = random_ids(512, 50257)] {
    CausalLmState state;
    const std::span<const std::int32_t> text(ids);
    model->start(std::span(&text, 1), state);
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("gpt2.step.shakespeare", 0, [] { return step(tiny(), 12, 64); });
  bench::job("gpt2.step.mini.dropout", 1.9, [] { return step(mini(0.2f), 12, 256); });
  bench::job("gpt2.step.mini", 1.25, [] { return step(mini(0.f), 12, 256); });
  bench::job("gpt2.step.124m.dropout", 1.4, [] { return step(base(0.1f), 4, 256); });
  bench::job("gpt2.step.124m", 1.25, [] { return step(base(0.f), 4, 256); });
  bench::figure("gpt2.step.124m.peak", "GB", 0.8 * 4.3, [] {
    return bench::peak_bytes([] {
             const bench::Run once = step(base(0.1f), 4, 256);
             for (int i = 0; i < 3; ++i) once();
           }) /
           1e9;
  });
  bench::figure("gpt2.lora.124m.speed", "x", -1.5, [] { return bench::lora_speed(base(0.1f), 4, 256); });
  bench::figure("gpt2.lora.124m.memory", "%", 60, [] { return bench::lora_memory(base(0.1f), 4, 256); });
  bench::figure("gpt2.lora.124m.recompute.memory", "%", 50,
                [] { return bench::lora_memory(base(0.1f), 4, 256, true); });
  bench::figure("gpt2.write.124m.share_of_bandwidth", "%", -90, share_of_bandwidth);
  bench::job("gpt2.write.124m.1x128", 1.3, [] { return write(1); });
  bench::job("gpt2.write.124m.16x128", 1.3, [] { return write(16); });
  bench::job("gpt2.write.124m.32x128", 0, [] { return write(32); });
  bench::job("gpt2.write.124m.int8.1x128", 0, [] { return write(1, true); });
  bench::job("gpt2.decode.124m.1x128", 0, [] { return write(1, false, 1); });
  bench::job("gpt2.decode.124m.int8.1x128", 0, [] { return write(1, true, 1); });
  bench::figure("gpt2.write.124m.json_object", "% more time", 5,
                [] { return cost_of_grammar(R"({"type": "object"})"); });
  bench::figure("gpt2.write.124m.json_schema", "% more time", 5, [] {
    return cost_of_grammar(R"({"type": "array", "minItems": 2, "items": {"type": "object", "properties": {
      "name": {"type": "string", "minLength": 10, "maxLength": 40}, "age": {"type": "integer", "minimum": 0, "maximum": 120},
      "kind": {"enum": ["person", "company", "place"]}}, "required": ["name", "age", "kind"]}})");
  });
  bench::job("gpt2.prompt.124m.512", 1.6, prompt);
  return bench::serve(argc, argv);
}
