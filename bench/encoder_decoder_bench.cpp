// Generation with the encoder–decoders T5 and BART, and encoding with them. The weights are random, and mapped from a
// folder as for a downloaded model. Each text gets 64 tokens, because no token ends it. encoder_decoder_torch.py has
// the peer: Hugging Face transformers, with models of the same size and the same search.
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "attend/core/memory.h"
#include "attend/decode/engine.h"
#include "attend/decode/search.h"
#include "attend/models/transformer.h"
#include "attend/ops/tape.h"
#include "bench/job.h"

namespace {

using namespace attend;

constexpr std::int64_t kTokens = 64;

/// The size of t5-small; the other keys have the defaults of transformers.
Config t5_small() {
  Config config;
  config.set("model_type", "t5");
  config.set("vocab_size", 32128);
  config.set("d_model", 512), config.set("d_kv", 64), config.set("d_ff", 2048);
  config.set("num_layers", 6), config.set("num_heads", 8);
  return config;
}

/// The size of bart-base.
Config bart_base() {
  Config config;
  config.set("model_type", "bart");
  config.set("vocab_size", 50265);
  config.set("d_model", 768), config.set("max_position_embeddings", 1024);
  for (const char* side : {"encoder", "decoder"}) {
    const std::string name = side;
    config.set(name + "_layers", 6), config.set(name + "_attention_heads", 12), config.set(name + "_ffn_dim", 3072);
  }
  config.set("activation_function", "gelu");
  config.set("pad_token_id", 1), config.set("decoder_start_token_id", 2), config.set("eos_token_id", 2);
  return config;
}

/// A model whose weights are mapped from a file, which is deleted immediately. Only one model is kept.
std::shared_ptr<const Transformer> mapped(const Config& config) {
  static std::shared_ptr<Transformer> model;
  static std::string type;
  if (type == config.text("model_type")) return model;
  model.reset(), type = config.text("model_type");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("encoder_decoder_bench." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  {
    Transformer random(TransformerOptions::read(config));
    random.save(folder);
  }
  release_cached_memory();
  model = std::make_shared<Transformer>(load_transformer(folder, /*mapped=*/true));
  std::filesystem::remove_all(folder);
  return model;
}

std::int32_t token(std::int64_t i, std::int64_t vocabulary) {
  return static_cast<std::int32_t>(3 + i * 7919 % (vocabulary - 3));
}

bench::Run generate(const Config& config, std::int64_t texts, std::int64_t length, std::int64_t beam) {
  const std::shared_ptr<const Transformer> model = mapped(config);
  std::vector<SearchInput> inputs(static_cast<std::size_t>(texts));
  for (std::int64_t i = 0; i < texts * length; ++i)
    inputs[static_cast<std::size_t>(i / length)].source.push_back(token(i, model->vocabulary()));
  const SearchOptions options{.beam = beam, .max_new_tokens = kTokens, .start = model->options.start, .ends = {}};
  return [=] {
    for (const std::vector<Hypothesis>& found : search(*model, inputs, options))
      if (std::ssize(found.front().ids) != kTokens) fail("encoder_decoder_bench", "a text has too few tokens");
  };
}

bench::Run encode(const Config& config, std::int64_t texts, std::int64_t length) {
  const std::shared_ptr<const Transformer> model = mapped(config);
  const Tensor ids = Tensor::empty({texts, length}, DType::i32);
  for (std::int64_t i = 0; i < ids.numel(); ++i) ids.data<std::int32_t>()[i] = token(i, model->vocabulary());
  const Tensor lengths =
      Tensor::ids(std::vector(static_cast<std::size_t>(texts), static_cast<std::int32_t>(length)), {texts});
  return [=] {
    const NoGrad no_grad;
    model->encode(ids, lengths);
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("t5_small.greedy.32x128", 3.0, [] { return generate(t5_small(), 32, 128, 1); });
  bench::job("t5_small.encode.32x128", 0, [] { return encode(t5_small(), 32, 128); });
  bench::job("bart_base.beam4.8x512", 2.5, [] { return generate(bart_base(), 8, 512, 4); });
  bench::job("bart_base.encode.8x512", 0, [] { return encode(bart_base(), 8, 512); });
  return bench::serve(argc, argv);
}
