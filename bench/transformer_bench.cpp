// One training step of a Transformer for translation: forward, backward, AdamW. transformer_torch.py has the peers:
// PyTorch's nn.Transformer, and Marian of Hugging Face transformers.
#include "attend/core/random.h"
#include "attend/models/transformer.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"

namespace {

using namespace attend;

Tensor random_ids(std::int64_t B, std::int64_t T, std::int64_t vocabulary, Generator& generator) {
  const PhiloxKey key = generator.next();
  Tensor ids = Tensor::empty({B, T}, DType::i32);
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    ids.data<std::int32_t>()[i] = static_cast<std::int32_t>(philox(key, static_cast<std::uint64_t>(i))[0] %
                                                            static_cast<std::uint32_t>(vocabulary));
  return ids;
}

bench::Run step(const TransformerOptions& options, std::int64_t B, std::int64_t T, float smoothing) {
  auto model = std::make_shared<Transformer>(options);
  train_parameters(*model);
  auto adam = std::make_shared<AdamW>(parameters(*model), AdamWOptions{.learning_rate = 3e-4});
  Generator generator(1);
  const std::int64_t V = options.source_vocabulary;
  const Tensor source = random_ids(B, T, V, generator), words = random_ids(B, T, V, generator),
               targets = random_ids(B, T, V, generator);
  const Tensor lengths = Tensor::empty({B}, DType::i32);
  std::fill_n(lengths.data<std::int32_t>(), B, static_cast<std::int32_t>(T));
  return [=] {
    const Training training;
    backward(cross_entropy(model->decode(model->encode(source, lengths), lengths, words), targets,
                           {.label_smoothing = smoothing}));
    adam->step();
    adam->zero_grad();
  };
}

TransformerOptions sized(std::int64_t vocabulary, std::int64_t width, std::int64_t layers, std::int64_t inner) {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = vocabulary;
  o.width = width, o.encoder_layers = o.decoder_layers = layers;
  o.encoder_heads = o.decoder_heads = 4;
  o.encoder_inner = o.decoder_inner = inner;
  return o;
}

/// The architecture of nn.Transformer: dropout everywhere, no shared weights.
bench::Run tiny() {
  TransformerOptions o = sized(10000, 128, 4, 256);
  o.activation = Activation::relu;
  o.shared_embeddings = o.tied_output = false;
  o.final_norm = true;
  o.attention_dropout = o.activation_dropout = 0.1f;
  return step(o, 128, 32, 0.1f);
}

bench::Run small_marian() { return step(sized(8000, 256, 3, 1024), 64, 24, 0.f); }

}  // namespace

int main(int argc, char** argv) {
  bench::job("transformer.step.d128", 2.2, tiny);
  bench::job("transformer.step.d256.marian", 1.5, small_marian);
  return bench::serve(argc, argv);
}
