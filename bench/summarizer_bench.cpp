// One training step of a summarizer that can copy: 24 texts of 100 tokens with summaries of 8, forward, backward,
// AdamW. The peer is summarizer_torch.py.
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

constexpr std::int64_t kTexts = 24, kSource = 100, kSummary = 8, kVocabulary = 8000;

Tensor random_ids(std::int64_t T, Generator& generator) {
  const PhiloxKey key = generator.next();
  Tensor ids = Tensor::empty({kTexts, T}, DType::i32);
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    ids.data<std::int32_t>()[i] =
        static_cast<std::int32_t>(philox(key, static_cast<std::uint64_t>(i))[0] % std::uint32_t{kVocabulary});
  return ids;
}

bench::Run step(std::int64_t recurrent_layers, std::int64_t encoder_layers) {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = kVocabulary;
  o.width = 192, o.encoder_layers = encoder_layers, o.decoder_layers = 1, o.encoder_heads = o.decoder_heads = 4;
  o.encoder_inner = o.decoder_inner = 512, o.activation = Activation::relu, o.dropout = 0.3f;
  o.pre_norm = o.final_norm = o.pointer = true, o.recurrent_layers = recurrent_layers;
  auto model = std::make_shared<Transformer>(o);
  train_parameters(*model);
  auto adam = std::make_shared<AdamW>(parameters(*model), AdamWOptions{.learning_rate = 3e-4});
  Generator generator(1);
  const Tensor source = random_ids(kSource, generator), words = random_ids(kSummary, generator),
               targets = random_ids(kSummary, generator);
  const Tensor lengths = Tensor::empty({kTexts}, DType::i32);
  std::fill_n(lengths.data<std::int32_t>(), kTexts, static_cast<std::int32_t>(kSource));
  return [=] {
    const Training training;
    backward(cross_entropy(model->predict(source, lengths, words).logits, targets, {.label_smoothing = 0.1f}));
    adam->step();
    adam->zero_grad();
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("summarizer.step.attention", 1.5, [] { return step(0, 2); });
  bench::job("summarizer.step.recurrent", 1.5, [] { return step(1, 1); });
  return bench::serve(argc, argv);
}
