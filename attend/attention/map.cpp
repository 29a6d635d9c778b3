#include "attend/attention/map.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "attend/core/error.h"
#include "attend/core/finite.h"

namespace attend {
namespace {

/// Resolves the wanted layer or head numbers: sorted, without duplicates; negative ones count from the end. Empty
/// `wanted` selects all. If a number does not exist, throws if `needed`, otherwise returns nothing.
std::vector<std::int64_t> numbers(const std::vector<std::int64_t>& wanted, std::int64_t count, const char* what,
                                  AttentionKind kind, bool needed) {
  std::vector<std::int64_t> all;
  if (wanted.empty()) {
    all.resize(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }
  for (const std::int64_t n : wanted) {
    if (n < -count || n >= count) {
      if (!needed) return {};
      fail<InputError>("attention", "the ", name_of(kind), " attention has no such ", what, ": got ", n,
                       ", expected 0 to ", count - 1, ", or -1 to ", -count, " from the last");
    }
    all.push_back(n < 0 ? n + count : n);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());  // Clang 14 cannot compile std::ranges::unique
  return all;
}

/// The index of a number in a sorted list, if it is there.
std::optional<std::size_t> find_number(const std::vector<std::int64_t>& list, std::int64_t number) {
  const auto found = std::ranges::lower_bound(list, number);
  if (found == list.end() || *found != number) return {};
  return static_cast<std::size_t>(found - list.begin());
}

}  // namespace

const std::string& name_of(AttentionKind kind) {
  return kAttentionKindNames[static_cast<std::size_t>(kind)].first;  // in the order of the enumeration
}

bool within_one_text(AttentionKind kind) {
  return kind == AttentionKind::self || kind == AttentionKind::encoder || kind == AttentionKind::decoder;
}

const AttentionView& AttentionMap::view(std::optional<AttentionKind> wanted) const {
  if (!wanted && main < views.size()) return views[main];
  std::string there;
  for (const AttentionView& view : views) {
    if (view.kind == wanted) return view;
    there += (there.empty() ? "" : ", ") + name_of(view.kind);
  }
  fail<InputError>("attention", "this model has no ", wanted ? name_of(*wanted) : "",
                   " attention; available: ", there.empty() ? "none" : there);
}

bool AttentionSelection::wants(AttentionKind kind) const {
  return views.empty() || std::ranges::find(views, kind) != views.end();
}

std::int64_t default_layer(AttentionKind kind, std::int64_t layers) {
  return layers - (kind == AttentionKind::cross && layers > 4 ? 2 : 1);
}

bool prepare(AttentionView& view, std::int64_t layers, std::int64_t heads, const AttentionSelection& selection,
             bool needed) {
  if (!selection.wants(view.kind)) return false;
  needed |= !selection.views.empty();
  std::vector<std::int64_t> wanted = selection.layers;
  if (wanted.empty() && selection.one_layer) wanted = {default_layer(view.kind, layers)};
  view.layers = numbers(wanted, layers, "layer", view.kind, needed);
  view.heads = numbers(selection.heads, heads, "head", view.kind, needed);
  if (view.layers.empty() || view.heads.empty()) return false;
  view.weights.assign(view.layers.size(), Tensor());
  return true;
}

AttentionPlace place_of(std::string_view record) {
  AttentionPlace place;
  if (record.ends_with("cross"))
    place.kind = AttentionKind::cross;
  else if (record.starts_with("encoder"))
    place.kind = AttentionKind::encoder;
  else if (record.starts_with("decoder"))
    place.kind = AttentionKind::decoder;
  else if (record == "context_to_question")
    place.kind = AttentionKind::context_to_question;
  else if (record == "question_to_context")
    place.kind = AttentionKind::question_to_context;
  if (const std::size_t digit = record.find_first_of("0123456789"); digit != record.npos)
    std::from_chars(record.data() + digit, record.data() + record.size(), place.layer);
  return place;
}

void keep(const Probe::Record& record, std::span<AttentionMap* const> maps) {
  const AttentionPlace place = place_of(record.layer);
  const Tensor& from = record.weights;  // [B, H, T, S]
  const std::int64_t H = from.dim(1), T = from.dim(2), S = from.dim(3);
  for (std::size_t b = 0; b < maps.size(); ++b) {
    if (!maps[b]) continue;
    for (AttentionView& view : maps[b]->views) {
      const auto layer = find_number(view.layers, place.layer);
      if (view.kind != place.kind || !layer) continue;
      const std::int64_t Q = view.queries.size(), K = view.keys.size();
      if (Q > T || K > S || view.heads.back() >= H)
        fail("attention", "the recorded weights do not fit the view: got ", from.shape(), ", expected ", Q, " × ", K,
             " tokens");
      const Tensor to = Tensor::empty({std::ssize(view.heads), Q, K});
      float* row = to.data();
      for (const std::int64_t head : view.heads)
        for (std::int64_t q = 0; q < Q; ++q, row += K) {
          std::copy_n(from.data() + ((static_cast<std::int64_t>(b) * H + head) * T + q) * S, K, row);
          // Scores of NaN only give a row of zeros, as if the token could attend to nothing.
          if (const float sum = std::accumulate(row, row + K, 0.f); !std::isfinite(sum) || !(sum > 0))
            fail_not_finite("attention");
        }
      view.weights[*layer] = to;
    }
  }
}

}  // namespace attend
