// One training step of a recurrent translator with additive attention: GRUs with 2 + 2 layers of 256 units, embeddings
// of 256, 128 pairs of 10 tokens. The keys are projected once. The peer is translator_torch.py.
#include "attend/core/random.h"
#include "attend/models/recurrent_translator.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"

namespace {

using namespace attend;

constexpr std::int64_t kBatch = 128, kWords = 10;

Tensor random_ids(std::int64_t vocabulary, Generator& generator) {
  const PhiloxKey key = generator.next();
  Tensor ids = Tensor::empty({kBatch, kWords}, DType::i32);
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    ids.data<std::int32_t>()[i] = static_cast<std::int32_t>(philox(key, static_cast<std::uint64_t>(i))[0] %
                                                            static_cast<std::uint32_t>(vocabulary));
  return ids;
}

bench::Run step(std::int64_t vocabulary) {
  RecurrentTranslatorOptions options;
  options.source_vocabulary = options.target_vocabulary = vocabulary;
  options.encoder_layers = options.decoder_layers = 2;
  options.bidirectional = options.deep_output = false;
  auto model = std::make_shared<RecurrentTranslator>(options);
  train_parameters(*model);
  auto adam = std::make_shared<AdamW>(parameters(*model), AdamWOptions{.learning_rate = 3e-4});
  Generator generator(1);
  const Tensor source = random_ids(vocabulary, generator), words = random_ids(vocabulary, generator),
               targets = random_ids(vocabulary, generator);
  const Tensor lengths = Tensor::empty({kBatch}, DType::i32);
  std::fill_n(lengths.data<std::int32_t>(), kBatch, static_cast<std::int32_t>(kWords));
  return [=] {
    const Training training;
    backward(cross_entropy(model->decode(model->encode(source, lengths), words), targets));
    adam->step();
    adam->zero_grad();
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::job("translator.step.vocabulary300", 1.8, [] { return step(300); });
  bench::job("translator.step.vocabulary5000", 1.8, [] { return step(5000); });
  return bench::serve(argc, argv);
}
