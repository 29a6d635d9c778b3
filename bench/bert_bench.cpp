// Encoding of texts with BERT, MPNet and ModernBERT, and one step of BERT's pre-training. bert_torch.py has the peers:
// Hugging Face transformers and ONNX Runtime, with models of the same size. Weights are mapped from a file, as for a
// downloaded model.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "attend/core/random.h"
#include "attend/models/bert.h"
#include "attend/nn/module.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/linear.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"
#include "bench/job.h"

namespace {

using namespace attend;

BertOptions base() { return {}; }
BertOptions mini_lm() {
  BertOptions o;
  o.width = 384, o.layers = 6, o.inner = 1536;
  return o;
}

/// MPNet-base and ModernBERT-base, whose sizes are the defaults of transformers.
BertOptions of_type(const char* type) {
  Config config;
  config.set("model_type", type);
  return BertOptions::read(config);
}

/// A model whose weights are mapped from a file, which is deleted immediately. Only one model is kept.
std::shared_ptr<const Bert> mapped(const BertOptions& options) {
  static std::shared_ptr<Bert> model;
  if (model && model->options.width == options.width && model->options.variant == options.variant) return model;
  model.reset();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bert_bench." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  {
    Bert random(options);
    random.save(folder);
  }
  release_cached_memory();
  model = std::make_shared<Bert>(load_bert(folder, {.mapped = true}));
  std::filesystem::remove_all(folder);
  return model;
}

BertInput random_texts(const std::vector<std::int64_t>& lengths, std::int64_t vocabulary) {
  std::vector<std::int32_t> ids;
  for (const std::int64_t length : lengths)
    for (std::int64_t i = 0; i < length; ++i)
      ids.push_back(static_cast<std::int32_t>(philox({1, 2}, ids.size())[0] % static_cast<std::uint32_t>(vocabulary)));
  return {Tensor::ids(ids, {static_cast<std::int64_t>(ids.size())}), {}, lengths};
}

/// Tokens of a batch, as in the program: about 1,024, so that the activations stay in the cache.
constexpr std::int64_t kTokens = 1024;
bench::Run encode(const BertOptions& options, const std::vector<std::int64_t>& lengths) {
  const std::shared_ptr<const Bert> model = mapped(options);
  std::vector<BertInput> batches;
  std::vector<std::int64_t> batch;
  std::int64_t tokens = 0;
  const auto finish = [&] {
    if (!batch.empty()) batches.push_back(random_texts(batch, options.vocabulary));
    batch.clear(), tokens = 0;
  };
  for (const std::int64_t length : lengths) {
    if (tokens + length > kTokens) finish();
    batch.push_back(length), tokens += length;
  }
  finish();
  return [=] {
    const NoGrad no_grad;
    for (const BertInput& input : batches) model->encode(input);
  };
}

bench::Run encode_equal(const BertOptions& options, std::int64_t texts, std::int64_t length) {
  return encode(options, std::vector<std::int64_t>(static_cast<std::size_t>(texts), length));
}

/// The time of the matrix products with the weights alone, in percent of the whole time. The rest is an upper bound for
/// further improvements outside of the products.
double share_of_products(const BertOptions& options, std::int64_t texts, std::int64_t length) {
  const bench::Run all = encode_equal(options, texts, length);
  const std::shared_ptr<const Bert> model = mapped(options);
  const std::int64_t rows = std::min<std::int64_t>(texts * length, kTokens), times = texts * length / rows;
  const Tensor x = Tensor::full({rows, options.width}, 0.5f), inner = Tensor::full({rows, options.inner}, 0.5f);
  const auto products = [&] {
    const NoGrad no_grad;
    for (std::int64_t i = 0; i < times; ++i)
      for (const TransformerBlock& layer : model->encoder.blocks) {
        linear(
            x,
            layer.feed_forward.up.weight);  // instead of the four products of attention, which have the same total size
        linear(x, layer.feed_forward.up.weight);
        linear(inner, layer.feed_forward.down.weight);
      }
  };
  double seconds = 1e30, of_products = 1e30;
  for (int round = 0; round < 3; ++round) {
    seconds = std::min(seconds, bench::best_seconds(all));
    of_products = std::min(of_products, bench::best_seconds(products));
  }
  return 100 * of_products / seconds;
}

/// 1,000 sentences of 5 to 128 tokens, in random order; packed sequences need no padding.
bench::Run encode_mixed() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 1000; ++i) lengths.push_back(5 + i * 37 % 124);
  return encode(mini_lm(), lengths);
}

bench::Run pre_training_step() {
  BertOptions options = base();
  options.head = BertHead::masked_lm;
  auto model = std::make_shared<Bert>(options);
  train_parameters(*model);
  auto adam = std::make_shared<AdamW>(parameters(*model), AdamWOptions{.learning_rate = 1e-4});
  const BertInput input = random_texts(std::vector<std::int64_t>(8, 128), options.vocabulary);
  std::vector<std::int32_t> rows, tokens;
  for (std::int32_t row = 0; row < 8 * 128; ++row)
    if (row * 7 % 20 < 3) rows.push_back(row), tokens.push_back(row % 1000);  // 15 %
  const auto count = static_cast<std::int64_t>(rows.size());
  const Tensor masked = Tensor::ids(rows, {count}), targets = Tensor::ids(tokens, {count});
  return [=] {
    const Training training;
    backward(cross_entropy(model->predict_tokens(model->encode(input), masked), targets));
    adam->step();
    adam->zero_grad();
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::figure("bert_base.memory.32x128", "x weights", 1.2, [] {
    encode_equal(base(), 32, 128)();
    Bert model = *mapped(base());
    return bench::resident_bytes() / (4.0 * static_cast<double>(count_parameters(model)));
  });
  for (const char* peer : {".hf", ".ort"}) {
    const std::string name = peer;
    bench::job("bert_base.32x128" + name, 1.25, [] { return encode_equal(base(), 32, 128); });
    bench::job("bert_base.1x128" + name, 1.25, [] { return encode_equal(base(), 1, 128); });
    bench::job("mini_lm.32x64" + name, 1.3, [] { return encode_equal(mini_lm(), 32, 64); });
  }
  bench::figure("bert_base.32x128.share_of_products", "%", 0, [] { return share_of_products(base(), 32, 128); });
  bench::figure("mini_lm.32x64.share_of_products", "%", 0, [] { return share_of_products(mini_lm(), 32, 64); });
  bench::job("mpnet_base.32x128.hf", 1.2, [] { return encode_equal(of_type("mpnet"), 32, 128); });
  bench::job("modernbert_base.32x128.hf", 1.2, [] { return encode_equal(of_type("modernbert"), 32, 128); });
  bench::job("mini_lm.mixed.hf", 2.0, encode_mixed);
  bench::job("bert_base.step.8x128", 1.35, pre_training_step);
  return bench::serve(argc, argv);
}
