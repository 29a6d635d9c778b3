#include "attend/explain/attention_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "attend/explain/attention_matrix.h"

namespace attend {
namespace {

/// Writes the text directly: a JSON tree of a 512-token text would take gigabytes.
class Writer {
 public:
  explicit Writer(const AttentionJsonOptions& options) : options_(options) {}

  std::string map(const AttentionMap& map) {
    out_ += '{';
    if (!options_.model.empty()) key("model"), text(options_.model);
    key("kind"), text(map.kind);
    key("text"), text(map.text);
    if (map.truncated > 0) key("truncated"), number(map.truncated);
    if (map.translation) key("translation"), text(*map.translation);
    if (map.score) key("score"), number(*map.score);
    if (map.translation) {
      key("alignments");
      list(map.alignments,
           [&](const auto& pair) { out_ += '[', number(pair.first), out_ += ',', number(pair.second), out_ += ']'; });
    }
    if (map.generated_text) key("generated"), number(map.generated), key("generated_text"), text(*map.generated_text);
    if (!map.logprobs.empty()) key("logprobs"), list(map.logprobs, [&](double value) { number(value); });
    const AttentionView& main = map.view();
    if (!within_one_text(main.kind) && main.kind != AttentionKind::memory) {
      key("source_tokens"), texts(main.keys.written);
      key("target_tokens"), texts(main.queries.written);
    } else {
      key("tokens"), texts(main.keys.written);
    }
    key("views"), list(map.views, [&](const AttentionView& one) { view(one); });
    if (options_.main_layers && options_.top_k == 0) {
      key("layers"), list(main.weights, [&](const Tensor& layer) {
        heads_of(main, [&](std::size_t h) { rows(main, head_of(layer, h)); });
      });
    }
    out_ += '}';
    return std::move(out_);
  }

 private:
  void view(const AttentionView& view) {
    out_ += '{';
    key("name"), text(name_of(view.kind));
    key("causal"), flag(view.causal);
    key("same_tokens"), flag(is_self_attention(view));
    key("query_tokens"), texts(view.queries.shown), key("key_tokens"), texts(view.keys.shown);
    const auto word = [&](std::int32_t number_of_word) { number(number_of_word); };
    key("query_words"), list(view.queries.words, word), key("key_words"), list(view.keys.words, word);
    key("layers");
    std::size_t l = 0;
    list(view.weights, [&](const Tensor& layer) {
      out_ += '{';
      key("layer"), number(view.layers[l++]);
      key("heads"), heads_of(view, [&](std::size_t h) {
        out_ += '{';
        key("head"), number(view.heads[h]);
        key(options_.top_k > 0 ? "rows" : "weights"), matrix(view, head_of(layer, h));
        out_ += '}';
      });
      out_ += '}';
    });
    if (options_.rollout && can_roll_out(view)) key("rollout"), matrix(view, attention_rollout(view).data());
    out_ += '}';
  }

  static const float* head_of(const Tensor& layer, std::size_t head) {
    return layer.data() + static_cast<std::int64_t>(head) * layer.dim(1) * layer.dim(2);
  }

  void matrix(const AttentionView& view, const float* weights) {
    if (options_.top_k > 0)
      greatest(view, weights);
    else
      rows(view, weights);
  }

  void rows(const AttentionView& view, const float* weights) {
    each_row(view, weights, [&](std::span<const float> row) { list(row, [&](float weight) { number(weight); }); });
  }

  void greatest(const AttentionView& view, const float* weights) {
    std::vector<std::int64_t> order;
    each_row(view, weights, [&](std::span<const float> row) {
      order.resize(row.size());
      std::iota(order.begin(), order.end(), std::int64_t{0});
      const auto count = std::min<std::int64_t>(options_.top_k, std::ssize(row));
      const auto at = [&](std::int64_t k) { return row[static_cast<std::size_t>(k)]; };
      std::ranges::partial_sort(order, order.begin() + count,
                                [&](std::int64_t a, std::int64_t b) { return at(a) != at(b) ? at(a) > at(b) : a < b; });
      list(std::span(order).first(static_cast<std::size_t>(count)),
           [&](std::int64_t k) { out_ += '[', number(k), out_ += ',', number(at(k)), out_ += ']'; });
    });
  }

  void each_row(const AttentionView& view, const float* weights, auto&& write) {
    const std::int64_t K = view.keys.size();
    out_ += '[';
    for (std::int64_t q = 0; q < view.queries.size(); ++q) {
      if (q > 0) out_ += ',';
      write(std::span<const float>(weights + q * K, static_cast<std::size_t>(K)));
    }
    out_ += ']';
  }

  void heads_of(const AttentionView& view, auto&& write) {
    out_ += '[';
    for (std::size_t h = 0; h < view.heads.size(); ++h) {
      if (h > 0) out_ += ',';
      write(h);
    }
    out_ += ']';
  }

  void list(const auto& values, auto&& write) {
    out_ += '[';
    bool first = true;
    for (const auto& value : values) {
      if (!first) out_ += ',';
      first = false;
      write(value);
    }
    out_ += ']';
  }

  void texts(const std::vector<std::string>& all) {
    list(all, [&](const std::string& one) { text(one); });
  }

  void text(const std::string& value) {
    using Json = nlohmann::json;
    out_ += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void number(auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      if (!std::isfinite(value)) {
        out_ += "null";
        return;
      }
    char digits[32];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  void flag(bool value) { out_ += value ? "true" : "false"; }

  void key(const char* name) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"', out_ += name, out_ += "\":";
  }

  const AttentionJsonOptions& options_;
  std::string out_;
};

}  // namespace

std::string to_json(const AttentionMap& map, const AttentionJsonOptions& options) { return Writer(options).map(map); }

}  // namespace attend
