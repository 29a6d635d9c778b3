// The attention page of the longest text of BERT-base: 512 tokens × 12 layers × 12 heads. Measures the time to write
// it, its size, and the time that Chromium needs to open the file and draw the first figure.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

#include "attend/core/error.h"
#include "attend/core/random.h"
#include "attend/explain/attention_page.h"
#include "bench/job.h"

namespace {

using namespace attend;

constexpr std::int64_t kTokens = 512, kLayers = 12, kHeads = 12;

/// A map for an almost empty page, to measure the time of the browser itself.
AttentionMap short_map() {
  AttentionMap map;
  map.kind = std::string("bert"), map.text = std::string("a");
  AttentionView view{AttentionKind::self};
  view.queries = view.keys = {{"a"}, {"a"}, {0}};
  view.layers = view.heads = {0};
  view.weights = {Tensor::full({1, 1, 1}, 1.f)};
  map.views.push_back(std::move(view));
  return map;
}

/// Realistic heads: some attend to near tokens, some to the first token, some to random tokens.
AttentionMap long_map() {
  AttentionMap map;
  map.kind = "bert", map.text = "a text of 512 tokens";
  AttentionView view{AttentionKind::self};
  for (std::int64_t t = 0; t < kTokens; ++t) {
    view.keys.shown.push_back("token" + std::to_string(t)), view.keys.written.push_back(view.keys.shown.back());
    view.keys.words.push_back(static_cast<std::int32_t>(t / 2));
  }
  view.queries = view.keys;
  Generator generator(1);
  for (std::int64_t h = 0; h < kHeads; ++h) view.heads.push_back(h);
  for (std::int64_t l = 0; l < kLayers; ++l) {
    view.layers.push_back(l);
    const Tensor layer = Tensor::empty({kHeads, kTokens, kTokens});
    const PhiloxKey key = generator.next();
    for (std::int64_t row = 0; row < kHeads * kTokens; ++row) {
      float* weights = layer.data() + row * kTokens;
      const auto q = row % kTokens, kind = (row / kTokens + l) % 3;
      float sum = 0;
      for (std::int64_t k = 0; k < kTokens; ++k) {
        const auto mixed = static_cast<std::uint64_t>(row * kTokens + k + 1) * 0x9E3779B97F4A7C15ull ^ key.seed;
        const float noise = static_cast<float>(mixed >> 40) / static_cast<float>(1 << 24);
        const auto away = static_cast<float>(std::abs(q - k));
        sum += weights[k] = kind == 0   ? std::exp(-away) + 1e-3f * noise
                            : kind == 1 ? (k == 0 ? 5.f : 1e-2f * noise)
                                        : std::exp(6 * noise);
      }
      for (std::int64_t k = 0; k < kTokens; ++k) weights[k] /= sum;
    }
    view.weights.push_back(layer);
  }
  map.views.push_back(std::move(view));
  return map;
}

std::string page_of(const AttentionMap& map) {
  AttentionPage page("512 tokens");
  page.add(map);
  return page.html();
}

bool has_chromium() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

/// Milliseconds from the start of the navigation until the figure is drawn, as recorded by the page itself.
double open_in_chromium(const std::filesystem::path& page) {
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --dump-dom 'file://" + page.string() + "' 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string dom;
  std::array<char, 1 << 16> buffer{};
  for (std::size_t read; (read = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) dom.append(buffer.data(), read);
  pclose(pipe);
  const std::string mark = "data-ready=\"";
  const std::size_t at = dom.find(mark);
  if (at == dom.npos) fail("attention_page", "chromium did not draw the page");
  return std::stod(dom.substr(at + mark.size()));
}

}  // namespace

int main(int argc, char** argv) {
  bench::figure("attention_page.write.512x12x12", "s", 2, [] {
    const AttentionMap map = long_map();
    return bench::best_seconds([&] { page_of(map); });
  });
  bench::figure("attention_page.size.512x12x12", "MB", 12,
                [] { return static_cast<double>(page_of(long_map()).size()) / 1e6; });
  const auto open = [](const std::string& page) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "attend-attention-page.html";
    std::ofstream(path) << page;
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) best = std::min(best, open_in_chromium(path));
    std::filesystem::remove(path);
    return best;
  };
  if (!has_chromium()) {
    std::cerr << "attention_page.open: left out, as chromium is not installed (scripts/setup web installs it)\n";
    return bench::serve(argc, argv);
  }
  bench::figure("attention_page.open.1x1x1", "ms", 0, [open] { return open(page_of(short_map())); });
  bench::figure("attention_page.open.512x12x12", "ms", 2000, [open] { return open(page_of(long_map())); });
  return bench::serve(argc, argv);
}
