#include "attend/explain/attention_matrix.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// The place of a number in a list. A negative number counts from the last.
std::size_t index_of(const std::vector<std::int64_t>& list, std::int64_t number, const char* what, AttentionKind kind) {
  const std::int64_t wanted = number < 0 && !list.empty() ? list.back() + 1 + number : number;
  const auto found = std::ranges::find(list, wanted);
  if (found == list.end())
    fail<InputError>("attention", "the ", name_of(kind), " attention has no such ", what, ": got ", number,
                     ", expected ", list.empty() ? 0 : list.front(), " to ", list.empty() ? 0 : list.back());
  return static_cast<std::size_t>(found - list.begin());
}

/// sum += share · weights of some heads of a layer.
void add_heads(const Tensor& weights, std::size_t first, std::size_t count, float share, std::vector<float>& sum) {
  for (std::size_t h = first; h < first + count; ++h) {
    const float* from = weights.data() + h * sum.size();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += share * from[i];
  }
}

/// The words of a text: the word of each token, and the words as if they were tokens.
struct Groups {
  std::vector<std::size_t> of_token;
  AttentionTokens words;
};
Groups groups_of(const AttentionTokens& tokens) {
  Groups groups;
  for (std::size_t i = 0; i < tokens.shown.size(); ++i) {
    const bool goes_on = i > 0 && tokens.words[i] >= 0 && tokens.words[i] == tokens.words[i - 1];
    if (!goes_on) {
      groups.words.shown.emplace_back(), groups.words.written.emplace_back();
      groups.words.words.push_back(tokens.words[i]);
    }
    std::string_view token = tokens.shown[i];
    if (goes_on && token.starts_with("##")) token.remove_prefix(2);
    groups.words.shown.back() += token, groups.words.written.back() += tokens.written[i];
    groups.of_token.push_back(groups.words.shown.size() - 1);
  }
  return groups;
}

}  // namespace

bool is_self_attention(const AttentionView& view) {
  return within_one_text(view.kind) && view.queries.shown == view.keys.shown;
}

std::size_t default_place(const AttentionView& view) {
  const auto found = std::ranges::find(view.layers, default_layer(view.kind, view.layers.back() + 1));
  return found == view.layers.end() ? view.layers.size() - 1 : static_cast<std::size_t>(found - view.layers.begin());
}

bool can_roll_out(const AttentionView& view) {
  return is_self_attention(view) && view.layers.back() + 1 == std::ssize(view.layers);
}

std::vector<float> attention_rollout(const AttentionView& view) {
  if (!is_self_attention(view))
    fail<InputError>("attention", "roll-out follows tokens through the layers of one text: ", name_of(view.kind),
                     " attention of ", view.queries.size(), " × ", view.keys.size(), " tokens cannot be rolled out");
  for (std::size_t l = 0; l < view.layers.size(); ++l)
    if (view.layers[l] != static_cast<std::int64_t>(l))
      fail<InputError>("attention", "roll-out needs all layers, and layer ", l, " was not captured");
  const auto T = static_cast<std::size_t>(view.keys.size()), heads = view.heads.size();
  std::vector<float> rolled(T * T), next(T * T);
  for (std::size_t i = 0; i < T; ++i) rolled[i * T + i] = 1.f;
  for (const Tensor& weights : view.weights) {
    std::vector<float> mixed(T * T);
    add_heads(weights, 0, heads, 0.5f / static_cast<float>(heads), mixed);
    for (std::size_t i = 0; i < T; ++i) mixed[i * T + i] += 0.5f;
    parallel_for(static_cast<std::int64_t>(T), 8, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        float* to = next.data() + i * T;
        std::fill_n(to, T, 0.f);
        // A row without weights has only the identity's half; the others sum to 1 already.
        const float sum = std::accumulate(mixed.begin() + static_cast<std::ptrdiff_t>(i * T),
                                          mixed.begin() + static_cast<std::ptrdiff_t>((i + 1) * T), 0.f);
        for (std::size_t j = 0; j < T; ++j) {
          const float weight = mixed[i * T + j] / sum;
          if (weight == 0.f) continue;
          for (std::size_t k = 0; k < T; ++k) to[k] += weight * rolled[j * T + k];
        }
      }
    });
    std::swap(rolled, next);
  }
  return rolled;
}

AttentionMatrix by_words(const AttentionMatrix& matrix) {
  const Groups rows = groups_of(matrix.queries), columns = groups_of(matrix.keys);
  AttentionMatrix words{matrix.name, rows.words, columns.words, {}};
  const std::size_t K = matrix.keys.shown.size(), to_K = columns.words.shown.size();
  words.values.assign(rows.words.shown.size() * to_K, 0.f);
  std::vector<float> tokens(rows.words.shown.size());
  for (const std::size_t row : rows.of_token) ++tokens[row];
  for (std::size_t q = 0; q < rows.of_token.size(); ++q)
    for (std::size_t k = 0; k < K; ++k)
      words.values[rows.of_token[q] * to_K + columns.of_token[k]] +=
          matrix.values[q * K + k] / tokens[rows.of_token[q]];
  return words;
}

void keep_greatest(std::vector<float>& values, std::int64_t columns, std::int64_t k) {
  if (k <= 0 || columns <= k) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(columns));
  for (auto row = values.begin(); row != values.end(); row += columns) {
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::partial_sort(order, order.begin() + k, [&](std::int64_t a, std::int64_t b) {
      return row[a] != row[b] ? row[a] > row[b] : a < b;
    });
    for (auto i = order.begin() + k; i != order.end(); ++i) row[*i] = 0.f;
  }
}

AttentionMatrix matrix_of(const AttentionMap& map, const AttentionChoice& choice) {
  const AttentionView& view = map.view(choice.view);
  const std::string what = name_of(view.kind) + " attention";
  AttentionMatrix matrix{what, view.queries, view.keys, {}};
  if (choice.rollout) {
    matrix.name += ", roll-out of " + std::to_string(view.layers.size()) + " layers";
    matrix.values = attention_rollout(view);
  } else {
    const std::size_t first_layer = choice.average ? 0
                                    : choice.layer ? index_of(view.layers, *choice.layer, "layer", view.kind)
                                                   : default_place(view);
    const std::size_t layers = choice.average ? view.layers.size() : 1;
    const std::size_t first_head = choice.head ? index_of(view.heads, *choice.head, "head", view.kind) : 0;
    const std::size_t heads = choice.head ? 1 : view.heads.size();
    matrix.name += layers > 1 ? ", mean of " + std::to_string(layers) + " layers"
                              : ", layer " + std::to_string(view.layers[first_layer]);
    matrix.name += heads > 1 ? ", mean of " + std::to_string(heads) + " heads"
                             : ", head " + std::to_string(view.heads[first_head]);
    matrix.values.assign(static_cast<std::size_t>(view.queries.size() * view.keys.size()), 0.f);
    for (std::size_t l = first_layer; l < first_layer + layers; ++l)
      add_heads(view.weights[l], first_head, heads, 1.f / static_cast<float>(layers * heads), matrix.values);
  }
  if (choice.words) matrix = by_words(matrix);
  keep_greatest(matrix.values, matrix.keys.size(), choice.top_k);
  return matrix;
}

std::string label_of(const std::string& shown_token) {
  const std::size_t first = shown_token.find_first_not_of(' ');
  if (first == shown_token.npos) return shown_token.empty() ? "" : "␣";
  std::string label;
  for (std::size_t at = first; at < shown_token.size();) {
    const CodePoint c = decode_utf8(shown_token, at);
    if (c.value == '\n')
      label += "↵";
    else if (c.value == '\t')
      label += "⇥";
    else if (c.value >= 0x20)
      label += shown_token.substr(at, static_cast<std::size_t>(c.size));
    at += static_cast<std::size_t>(c.size);
  }
  return label;
}

std::vector<std::string> labels_of(const AttentionTokens& tokens) {
  std::vector<std::string> labels;
  for (const std::string& token : tokens.shown) labels.push_back(label_of(token));
  return labels;
}

namespace {

/// The hops of a memory network as columns: sentences are long, so each has a row of its own.
HeatMap hops_of(const AttentionMap& map, const AttentionMatrix& matrix) {
  const std::int64_t hops = matrix.queries.size(), sentences = matrix.keys.size();
  HeatMap turned{map.text, "hop", "sentence", sentences, hops, {}, labels_of(matrix.keys), labels_of(matrix.queries)};
  for (std::int64_t s = 0; s < sentences; ++s)
    for (std::int64_t k = 0; k < hops; ++k)
      turned.values.push_back(matrix.values[static_cast<std::size_t>(k * sentences + s)]);
  return turned;
}

/// The names of the axes of a picture.
struct Axes {
  const char *keys, *queries;
};
Axes axes_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::cross:
      return {"source", "translation"};
    case AttentionKind::context_to_question:
      return {"question", "text"};
    case AttentionKind::question_to_context:
      return {"text", "question"};
    default:
      return {"attends to", "token"};
  }
}

}  // namespace

Figure figure_of(std::span<const AttentionMap> maps, const AttentionChoice& choice) {
  Figure figure;
  for (const AttentionMap& map : maps) {
    AttentionMatrix matrix = matrix_of(map, choice);
    const AttentionKind kind = map.view(choice.view).kind;
    if (kind == AttentionKind::memory) {
      figure.caption = "How much each hop attends to each sentence";
      figure.panels.emplace_back(hops_of(map, matrix));
      continue;
    }
    figure.caption = matrix.name;
    figure.caption[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure.caption[0])));
    figure.panels.emplace_back(
        HeatMap{map.translation ? map.text + " → " + *map.translation : map.text + map.generated_text.value_or(""),
                axes_of(kind).keys, axes_of(kind).queries, matrix.queries.size(), matrix.keys.size(),
                std::move(matrix.values), labels_of(matrix.queries), labels_of(matrix.keys)});
  }
  return figure;
}

}  // namespace attend
