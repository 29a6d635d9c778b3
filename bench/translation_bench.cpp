// Translation with a Transformer: sentences of 25 tokens to 25 tokens, with greedy and beam search, in batches and one
// by one. The weights are random, and mapped from a file as for a downloaded model. The peer is Hugging Face
// transformers. Some bars are derived from CTranslate2: 1.7, 1.2 and 1.5 times its speed, multiplied by its measured
// ratio to transformers.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "attend/decode/engine.h"
#include "attend/decode/search.h"
#include "attend/models/transformer.h"
#include "attend/nn/module.h"
#include "attend/ops/tape.h"
#include "bench/job.h"

namespace {

using namespace attend;

constexpr std::int64_t kWords = 25;

TransformerOptions base() {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = 58101;
  o.padding = o.start = 58100;
  return o;
}

TransformerOptions tiny() {
  TransformerOptions o;
  o.source_vocabulary = o.target_vocabulary = 32000;
  o.width = 256, o.decoder_layers = 2, o.encoder_inner = o.decoder_inner = 1536;
  o.padding = o.start = 31999;
  return o;
}

/// A model whose weights are mapped from a file, which is deleted immediately. Only one model is kept.
std::shared_ptr<const Transformer> mapped(const TransformerOptions& options) {
  static std::shared_ptr<Transformer> model;
  if (model && model->options.width == options.width) return model;
  model.reset();
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("translation_bench." + std::to_string(getpid()) + ".safetensors");
  {
    Transformer random(options);
    save_parameters(random, file);
  }
  release_cached_memory();
  const init::Skipped skipped;
  model = std::make_shared<Transformer>(options);
  borrow_parameters(*model, file);
  std::filesystem::remove(file);
  return model;
}

std::vector<SearchInput> sources(std::int64_t sentences, std::int64_t vocabulary) {
  std::vector<SearchInput> inputs(static_cast<std::size_t>(sentences));
  for (std::int64_t i = 0; i < sentences * kWords; ++i)
    inputs[static_cast<std::size_t>(i / kWords)].source.push_back(
        static_cast<std::int32_t>(1 + i * 7919 % (vocabulary - 2)));
  return inputs;
}

bench::Run translate(const TransformerOptions& options, std::int64_t sentences, std::int64_t batch, std::int64_t beam) {
  const std::shared_ptr<const Transformer> model = mapped(options);
  const std::vector<SearchInput> inputs = sources(sentences, options.source_vocabulary);
  SearchOptions search_options{.beam = beam, .max_new_tokens = kWords, .start = options.start, .ends = {}};
  return [=] {
    for (std::int64_t first = 0; first < sentences; first += batch) {
      search(*model, {inputs.begin() + first, inputs.begin() + first + batch}, search_options);
    }
  };
}

}  // namespace

int main(int argc, char** argv) {
  // Resident memory after a translation, as a multiple of the size of the weights. It is the first job, so that others
  // do not affect it.
  bench::figure("marian_base.memory.greedy.batch1", "x weights", 1.3, [] {
    translate(base(), 1, 1, 1)();
    Transformer model = *mapped(base());
    return bench::resident_bytes() / (4.0 * static_cast<double>(count_parameters(model)));
  });
  // One or two batches of 32, or a few single sentences, so that a run takes about a second.
  bench::job("marian_base.greedy.batch32", 2.0, [] { return translate(base(), 32, 32, 1); });
  bench::job("marian_base.beam4.batch32", 1.7 * 237 / 156, [] { return translate(base(), 32, 32, 4); });
  bench::job("marian_base.greedy.batch1", 1.2 * 77 / 65, [] { return translate(base(), 4, 1, 1); });
  bench::job("marian_base.beam4.batch1", 1.5 * 51 / 39, [] { return translate(base(), 4, 1, 4); });
  bench::job("marian_tiny.greedy.batch32", 0, [] { return translate(tiny(), 64, 32, 1); });
  bench::job("marian_tiny.beam4.batch32", 0, [] { return translate(tiny(), 64, 32, 4); });
  bench::job("marian_tiny.greedy.batch1", 0, [] { return translate(tiny(), 8, 1, 1); });
  bench::job("marian_tiny.beam4.batch1", 0, [] { return translate(tiny(), 8, 1, 4); });
  return bench::serve(argc, argv);
}
