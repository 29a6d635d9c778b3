#include "attend/explain/attention_page.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "attend/core/threads.h"
#include "attend/explain/head_statistics.h"
#include "attend/explain/page_assets.h"
#include "attend/explain/svg.h"
#include "attend/text/base64.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kDense = 2 << 20;        // up to this many weights, a view keeps all of them
constexpr std::int64_t kBytes = 6 << 20;        // the size of a view that keeps only the greatest of each row
constexpr std::int64_t kLeast = 8, kMost = 64;  // weights that such a view keeps of each row

/// The number of weights that are kept of each row; 0: all.
std::int64_t kept(const AttentionView& view, std::int64_t wanted) {
  const std::int64_t K = view.keys.size(),
                     rows = std::ssize(view.layers) * (std::ssize(view.heads) + 1) * view.queries.size();
  if (wanted > 0) return wanted < K ? wanted : 0;
  if (rows * K <= kDense || K <= kMost) return 0;
  return std::clamp(kBytes / (3 * rows), kLeast, kMost);
}

/// The square root keeps small weights distinct: most weights are small.
char to_byte(float weight) { return static_cast<char>(std::lround(255 * std::sqrt(std::clamp(weight, 0.f, 1.f)))); }

/// Matrices one after the other, in the format that web/src/page/data.ts describes.
std::string packed(const std::vector<const float*>& heads, std::int64_t Q, std::int64_t K, std::int64_t k) {
  const auto H = std::ssize(heads);
  if (k == 0) {
    std::string bytes(static_cast<std::size_t>(H * Q * K), '\0');
    for (std::int64_t h = 0; h < H; ++h)
      std::transform(heads[static_cast<std::size_t>(h)], heads[static_cast<std::size_t>(h)] + Q * K,
                     bytes.begin() + h * Q * K, to_byte);
    return bytes;
  }
  std::string bytes(static_cast<std::size_t>(3 * H * Q * k), '\0');
  parallel_for(H * Q, 32, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(K));
    for (std::int64_t r = begin; r < end; ++r) {
      const float* row = heads[static_cast<std::size_t>(r / Q)] + r % Q * K;
      std::iota(order.begin(), order.end(), 0);
      std::ranges::nth_element(order, order.begin() + (k - 1), [&](std::int32_t a, std::int32_t b) {
        return row[a] != row[b] ? row[a] > row[b] : a < b;
      });
      std::sort(order.begin(), order.begin() + k);
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int32_t key = order[static_cast<std::size_t>(i)];
        const auto at = static_cast<std::size_t>(r * k + i);
        bytes[2 * at] = static_cast<char>(key & 255), bytes[2 * at + 1] = static_cast<char>(key >> 8);
        bytes[static_cast<std::size_t>(2 * H * Q * k) + at] = to_byte(row[key]);
      }
    }
  });
  return bytes;
}

/// JSON that can be inside a <script>.
std::string in_script(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace), safe;
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json statistics_of(const AttentionView& view) {
  Json all = Json::array();
  const bool itself = is_self_attention(view);
  for (const HeadStatistics& s : head_statistics(view)) {
    Json& head = all.emplace_back(Json::array({rounded(s.entropy), rounded(s.distance)}));
    for (const double share : {s.previous, s.self, s.next}) head.push_back(itself ? Json(rounded(share)) : Json());
    for (const double share : {s.first, s.separator, s.same_word}) head.push_back(rounded(share));
  }
  return all;
}

/// The place of a number in a list, or -1. A negative number counts from the last.
std::int64_t place_in(const std::vector<std::int64_t>& list, std::int64_t number) {
  const auto found = std::ranges::find(list, number < 0 ? list.back() + 1 + number : number);
  return found == list.end() ? -1 : found - list.begin();
}

}  // namespace

AttentionPage::AttentionPage(std::string title, AttentionChoice first) : title_(std::move(title)), first_(first) {}

void AttentionPage::add(const AttentionMap& map) {
  Json json{{"text", map.text}, {"kind", map.kind}, {"main", map.main}, {"words", first_.words}};
  if (map.truncated > 0) json["truncated"] = map.truncated;
  if (map.translation) json["translation"] = *map.translation, json["alignments"] = map.alignments;
  if (map.score) json["score"] = rounded(*map.score);
  if (map.generated_text) json["generatedText"] = *map.generated_text, json["generated"] = map.generated;
  Json& views = json["views"] = Json::array();
  for (std::size_t v = 0; v < map.views.size(); ++v) {
    const AttentionView& view = map.views[v];
    if (first_.view == view.kind) json["main"] = v;
    const std::int64_t Q = view.queries.size(), K = view.keys.size(), k = kept(view, first_.top_k);
    const std::int64_t wanted = first_.layer ? place_in(view.layers, *first_.layer) : -1;
    Json first = wanted >= 0 ? wanted : static_cast<std::int64_t>(default_place(view));
    // All layers as one matrix, which can be chosen like a layer.
    std::vector<std::pair<std::string, AttentionChoice>> together;
    if (view.layers.size() > 1) together.push_back({"mean", {.view = view.kind, .average = true}});
    if (view.layers.size() > 1 && can_roll_out(view))
      together.push_back({"rollout", {.view = view.kind, .rollout = true}});
    Json names = Json::array();
    for (const auto& [name, choice] : together) {
      names.push_back(name);
      if ((first_.average && choice.average) || (first_.rollout && choice.rollout)) first = name;
    }
    views.push_back({{"name", name_of(view.kind)},
                     {"causal", view.causal},
                     {"sameTokens", is_self_attention(view)},
                     {"queries", view.queries.shown},
                     {"keys", view.keys.shown},
                     {"queryWords", view.queries.words},
                     {"keyWords", view.keys.words},
                     {"layers", view.layers},
                     {"heads", view.heads},
                     {"k", k},
                     {"together", names},
                     {"first", first},
                     {"firstHead", first_.head ? place_in(view.heads, *first_.head) : -1},
                     {"statistics", statistics_of(view)}});
    const auto write = [&](const std::string& layer, const std::vector<const float*>& heads) {
      weights_ += "<script type='text/plain' id='w-" + std::to_string(count_) + '-' + std::to_string(v) + '-' + layer +
                  "'>" + to_base64(packed(heads, Q, K, k)) + "</script>\n";
    };
    for (std::size_t l = 0; l < view.layers.size(); ++l) {
      std::vector<const float*> heads;
      for (std::size_t h = 0; h < view.heads.size(); ++h)
        heads.push_back(view.weights[l].data() + static_cast<std::int64_t>(h) * Q * K);
      AttentionMatrix mean;
      if (heads.size() > 1) {
        mean = matrix_of(map, {.view = view.kind, .layer = view.layers[l]});
        heads.push_back(mean.values.data());
      }
      write(std::to_string(l), heads);
    }
    for (const auto& [name, choice] : together) write(name, {matrix_of(map, choice).values.data()});
  }
  maps_ += (count_++ > 0 ? ",\n" : "") + in_script(json);
}

std::string AttentionPage::html() const {
  const std::string title = escape_markup(title_);
  std::string page =
      "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      "<meta name='viewport' content='width=device-width,initial-scale=1'>\n<title>" +
      title + "</title>\n<style>\n";
  page.append(kAttentionStyle) += "</style>\n</head>\n<body>\n<main id='app'><h1>" + title +
                                  "</h1><noscript>This page needs JavaScript.</noscript></main>\n"
                                  "<script type='application/json' id='maps'>[" +
                                  maps_ + "]</script>\n" + weights_ + "<script>\n";
  page.append(kAttentionScript) += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace attend
