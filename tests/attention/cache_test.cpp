#include "attend/attention/cache.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"
#include "attend/core/random.h"
#include "attend/ops/attention.h"
#include "attend/ops/concat.h"

namespace attend {
namespace {

Tensor random(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x, 0.f, 1.f);
  return x;
}

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.numel(), b.numel());
  for (std::int64_t i = 0; i < a.numel(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], 2e-6) << "at " << i;
}

TEST(KeyValueCache, AStepEqualsFusedAttention) {
  for (const auto& [heads, D] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {2, 64}, {1, 100}})
    for (const std::int64_t T : {1, 4, 9, 70}) {
      const std::int64_t N = 3, W = heads * D;
      const Tensor kv = random({N, T, 2 * W}), q = random({N, 1, W});
      const Tensor lengths = Tensor::ids({static_cast<std::int32_t>(T), static_cast<std::int32_t>(T / 2), 0}, {N});
      KeyValueCache cache(1);
      cache.append(0, kv, lengths);
      Probe probe;
      const AttentionOptions options{.mask = Mask::keys(lengths)};
      expect_near(cache.attend(0, q.reshape({N, W}), {.heads = heads, .probe = &probe}),
                  cross_attention(q, kv, heads, options));
      expect_near(probe.records().at(0).weights, cross_attention_weights(q, kv, heads, options));
    }
}

TEST(KeyValueCache, GrowsByStepsAndFollowsSelect) {
  const std::int64_t W = 8, heads = 2;
  // Sequence 0 has a prompt of two tokens, sequence 1 of one. Each appends a token, sequence 1 is duplicated, and each
  // appends another token.
  const Tensor text = random({2, 2, 2 * W}), first = random({2, 2 * W}), second = random({3, 2 * W});
  KeyValueCache cache(2);
  for (std::size_t layer = 0; layer < 2; ++layer) cache.append(layer, text, Tensor::ids({2, 1}, {2}));
  for (std::size_t layer = 0; layer < 2; ++layer) cache.append(layer, first);
  const std::vector<std::int64_t> chosen{1, 0, 1};
  cache.select(chosen);
  for (std::size_t layer = 0; layer < 2; ++layer) cache.append(layer, second);
  EXPECT_EQ(cache.rows(), 3);
  EXPECT_EQ(cache.positions(), 4);

  const Tensor q = random({3, W});
  const Tensor got = cache.attend(1, q, {.heads = heads});
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t row = chosen[static_cast<std::size_t>(i)];
    std::vector<float> seen;
    const auto add = [&](const float* from) { seen.insert(seen.end(), from, from + 2 * W); };
    for (std::int64_t t = 0; t < 2 - row; ++t) add(text.data() + (row * 2 + t) * 2 * W);
    add(first.data() + row * 2 * W);
    add(second.data() + i * 2 * W);
    const Tensor kv = Tensor::from(seen, {1, static_cast<std::int64_t>(seen.size()) / (2 * W), 2 * W});
    expect_near(got.view_rows(i, i + 1), cross_attention(q.view_rows(i, i + 1).reshape({1, 1, W}), kv, heads));
  }
}

TEST(KeyValueCache, BeginsWithPromptsOfAnyLengthAndContinues) {
  const std::int64_t W = 6, heads = 3;
  const std::vector<std::int64_t> lengths{4, 1, 0, 7};
  const Tensor q = random({12, W}), kv = random({12, 2 * W}), token = random({4, 2 * W}), asked = random({4, W});
  KeyValueCache cache(2);
  Probe probe;
  const CachedHeads how{.heads = heads, .scale = 0.3f, .probe = &probe};
  std::vector<Tensor> reads;
  for (std::size_t layer = 0; layer < 2; ++layer) reads.push_back(cache.begin(layer, q, kv, lengths, how));
  EXPECT_EQ(cache.positions(), 7);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const Tensor& read = reads[layer];
    cache.append(layer, token);
    const Tensor stepped = cache.attend(layer, asked, how);
    std::int64_t at = 0;
    for (std::int64_t row = 0; row < 4; ++row) {
      const std::int64_t T = lengths[static_cast<std::size_t>(row)];
      const Tensor keys = kv.view_rows(at, at + T);
      const AttentionOptions causal{.mask = Mask::causal(), .scale = 0.3f};
      expect_near(read.view_rows(at, at + T), cross_attention(q.view_rows(at, at + T).reshape({1, T, W}),
                                                              keys.reshape({1, T, 2 * W}), heads, causal));
      std::vector<float> seen = keys.to_vector();
      seen.insert(seen.end(), token.data() + row * 2 * W, token.data() + (row + 1) * 2 * W);
      expect_near(stepped.view_rows(row, row + 1),
                  cross_attention(asked.view_rows(row, row + 1).reshape({1, 1, W}),
                                  Tensor::from(seen, {1, T + 1, 2 * W}), heads, {.scale = 0.3f}));
      at += T;
    }
  }
  EXPECT_EQ(probe.records().at(0).weights.shape(), (Shape{4, 3, 7, 7}));
  EXPECT_THROW(cache.begin(0, q, kv, lengths, how), Error);
}

TEST(KeyValueCache, PromptsThatAreReadInPartsHaveTheSameBitsHoweverTheyAreDivided) {
  using Part = KeyValueCache::Part;
  const std::vector<std::int64_t> lengths{70, 9, 33};
  const std::int64_t heads = 6, kv_heads = 2, total = 112;
  const std::vector<std::vector<std::vector<Part>>> divisions{
      {{{0, 0, 70}, {1, 0, 9}, {2, 0, 33}}},
      {{{0, 0, 1}}, {{0, 1, 9}, {2, 0, 30}}, {{0, 10, 60}, {1, 0, 8}, {2, 30, 3}}, {{1, 8, 1}}},
      {{{2, 0, 33}, {0, 0, 69}}, {{1, 0, 9}, {0, 69, 1}}}};
  for (const std::int64_t D : {3, 64})
    for (const std::int64_t window : {-1, 4, 40}) {
      const std::int64_t W = heads * D, row = 2 * kv_heads * D;
      const Tensor q = random({total, W}), kv = random({total, row}), asked = random({3, W}), token = random({3, row});
      const CachedHeads how{.heads = heads, .kv_heads = kv_heads, .window = window};
      KeyValueCache whole(1);
      const Tensor expected = whole.begin(0, q, kv, lengths, how);
      whole.append(0, token);
      std::vector<float> first;
      for (const auto& passes : divisions) {
        KeyValueCache cache(1);
        cache.reserve(lengths, row);
        std::vector<float> read(static_cast<std::size_t>(total * W));
        for (const std::vector<Part>& parts : passes) {
          std::vector<Tensor> qs, kvs;
          std::vector<float*> to;
          for (const Part& part : parts)
            for (std::int64_t t = part.first; t < part.first + part.count; ++t) {
              const std::int64_t at = (part.sequence > 0 ? 70 : 0) + (part.sequence > 1 ? 9 : 0) + t;
              qs.push_back(q.view_rows(at, at + 1)), kvs.push_back(kv.view_rows(at, at + 1));
              to.push_back(read.data() + at * W);
            }
          cache.read_next(parts);
          const Tensor out = cache.begin(0, concat(qs, 0), concat(kvs, 0), lengths, how);
          for (std::size_t i = 0; i < to.size(); ++i)
            std::copy_n(out.data() + static_cast<std::int64_t>(i) * W, W, to[i]);
        }
        cache.read_next({});
        if (first.empty()) first = read;
        EXPECT_EQ(read, first);
        expect_near(Tensor::from(read, {total, W}), expected);
        cache.append(0, token);
        EXPECT_EQ(cache.attend(0, asked, how).to_vector(), whole.attend(0, asked, how).to_vector());
      }
    }
}

/// The first `rows` rows and n columns of the bias of each head.
Tensor corner(const Tensor& bias, std::int64_t rows, std::int64_t n) {
  const std::int64_t H = bias.dim(1), T = bias.dim(2), S = bias.dim(3);
  Tensor part = Tensor::empty({1, H, rows, n});
  for (std::int64_t i = 0; i < H * rows; ++i)
    std::copy_n(bias.data() + (i / rows * T + i % rows) * S, n, part.data() + i * n);
  return part;
}

TEST(KeyValueCache, GroupedHeadsAndABiasEqualFusedAttention) {
  const std::int64_t heads = 6, D = 5, W = heads * D;
  const std::vector<std::int64_t> lengths{4, 1, 7};
  const Tensor bias = random({1, heads, 9, 8}), step_bias = random({3, heads, 9});
  for (const std::int64_t kv_heads : {0, 6, 2, 1}) {
    const std::int64_t row = 2 * D * (kv_heads > 0 ? kv_heads : heads);
    const Tensor q = random({12, W}), kv = random({12, row}), token = random({3, row}), asked = random({3, W});
    KeyValueCache cache(1);
    const Tensor read = cache.begin(0, q, kv, lengths, {.heads = heads, .kv_heads = kv_heads, .bias = bias});
    cache.append(0, token);
    EXPECT_EQ(cache.lengths(), (std::vector<std::int64_t>{5, 2, 8}));
    const CachedHeads by_row{.heads = heads, .scale = 1.f, .kv_heads = kv_heads, .bias = step_bias};
    const CachedHeads for_all{
        .heads = heads, .kv_heads = kv_heads, .bias = step_bias.view_rows(1, 2).reshape({1, heads, 9})};
    const Tensor stepped = cache.attend(0, asked, by_row), same = cache.attend(0, asked, for_all);
    for (std::int64_t i = 0, at = 0; i < 3; ++i) {
      const std::int64_t T = lengths[static_cast<std::size_t>(i)];
      const Tensor keys = kv.view_rows(at, at + T);
      expect_near(read.view_rows(at, at + T),
                  cross_attention(q.view_rows(at, at + T).reshape({1, T, W}), keys.reshape({1, T, row}), heads,
                                  {.mask = Mask::causal(), .bias = corner(bias, T, T), .kv_heads = kv_heads}));
      std::vector<float> seen = keys.to_vector();
      seen.insert(seen.end(), token.data() + i * row, token.data() + (i + 1) * row);
      const Tensor all = Tensor::from(seen, {1, T + 1, row}), query = asked.view_rows(i, i + 1).reshape({1, 1, W});
      const auto of_row = [&](std::int64_t r) {
        return corner(step_bias.view_rows(r, r + 1).reshape({1, heads, 1, 9}), 1, T + 1);
      };
      expect_near(stepped.view_rows(i, i + 1),
                  cross_attention(query, all, heads, {.scale = 1.f, .bias = of_row(i), .kv_heads = kv_heads}));
      expect_near(same.view_rows(i, i + 1),
                  cross_attention(query, all, heads, {.bias = of_row(1), .kv_heads = kv_heads}));
      at += T;
    }
    EXPECT_THROW(cache.attend(0, asked, {.heads = heads, .kv_heads = 4}), Error);
    EXPECT_THROW(cache.attend(0, asked, {.heads = heads, .kv_heads = kv_heads, .bias = random({3, heads, 7})}), Error);
  }
}

TEST(KeyValueCache, AWindowAndACapEqualFusedAttention) {
  const std::int64_t heads = 4, kv_heads = 2, D = 5, W = heads * D, row = 2 * kv_heads * D;
  const std::vector<std::int64_t> lengths{4, 1, 7};
  const Tensor q = random({12, W}), kv = random({12, row}), token = random({3, row}), asked = random({3, W});
  for (const std::int64_t window : {0, 2, 30}) {
    KeyValueCache cache(1);
    const CachedHeads how{.heads = heads, .kv_heads = kv_heads, .cap = 0.3f, .window = window};
    const AttentionOptions options{.mask = Mask::causal() & Mask::window(window), .cap = 0.3f, .kv_heads = kv_heads};
    const Tensor read = cache.begin(0, q, kv, lengths, how);
    cache.append(0, token);
    Probe probe;
    CachedHeads probed = how;
    probed.probe = &probe;
    const Tensor stepped = cache.attend(0, asked, probed);
    for (std::int64_t i = 0, at = 0; i < 3; ++i) {
      const std::int64_t T = lengths[static_cast<std::size_t>(i)];
      std::vector<float> queries = q.view_rows(at, at + T).to_vector(), seen = kv.view_rows(at, at + T).to_vector();
      queries.insert(queries.end(), asked.data() + i * W, asked.data() + (i + 1) * W);
      seen.insert(seen.end(), token.data() + i * row, token.data() + (i + 1) * row);
      const Tensor all =
          cross_attention(Tensor::from(queries, {1, T + 1, W}), Tensor::from(seen, {1, T + 1, row}), heads, options)
              .reshape({T + 1, W});
      expect_near(read.view_rows(at, at + T), all.view_rows(0, T));
      expect_near(stepped.view_rows(i, i + 1), all.view_rows(T, T + 1));
      at += T;
    }
  }
}

TEST(KeyValueCache, HypothesesThatShareKeysGetTheSameBitsAsAlone) {
  const std::int64_t heads = 6;
  for (const std::int64_t D : {3, 20, 64}) {
    const std::int64_t W = heads * D, row = 2 * 2 * D;
    const CachedHeads how{.heads = heads, .kv_heads = 2};
    KeyValueCache sources(1);
    sources.append(0, random({3, 33, row}), Tensor::ids({7, 33, 1}, {3}));
    std::vector<std::int64_t> rows(11, 1);  // more than the kernel takes together
    for (const std::int64_t source : {0, 0, 0, 2, 2, 1, 0}) rows.push_back(source);
    const auto N = static_cast<std::int64_t>(rows.size());
    const Tensor q = random({N, W}), bias = random({N, heads, 33});
    KeyValueCache shared = sources;
    shared.select(rows);
    for (const bool biased : {false, true}) {
      Probe probe;
      CachedHeads of_all = how;
      of_all.probe = &probe;
      if (biased) of_all.bias = bias;
      const Tensor together = shared.attend(0, q, of_all);
      for (std::int64_t i = 0; i < N; ++i) {
        KeyValueCache one = sources;
        one.select(std::span(rows).subspan(static_cast<std::size_t>(i), 1));
        Probe of_one;
        CachedHeads how_one = how;
        how_one.probe = &of_one;
        if (biased) how_one.bias = bias.view_rows(i, i + 1);
        EXPECT_EQ(one.attend(0, q.view_rows(i, i + 1), how_one).to_vector(), together.view_rows(i, i + 1).to_vector());
        EXPECT_EQ(of_one.records().at(0).weights.to_vector(),
                  probe.records().at(0).weights.view_rows(i, i + 1).to_vector());
      }
    }
  }
}

TEST(KeyValueCache, JoinAppendsTheSequencesOfAnotherCache) {
  const std::int64_t heads = 4, kv_heads = 2, D = 3, W = heads * D, row = 2 * kv_heads * D;
  const CachedHeads how{.heads = heads, .kv_heads = kv_heads};
  const Tensor first = random({2, 3, row}), second = random({1, 5, row}), token = random({3, row}), q = random({3, W});
  KeyValueCache a(2), b(2), all(2);
  for (const std::size_t layer : {0u, 1u}) {
    a.append(layer, first, Tensor::ids({3, 2}, {2}));
    b.append(layer, second);
  }
  all.join(KeyValueCache(2));
  EXPECT_EQ(all.rows(), 0);
  all.join(a);
  EXPECT_EQ(all.attend(1, q.view_rows(0, 2), how).to_vector(), a.attend(1, q.view_rows(0, 2), how).to_vector());
  first.data()[0] += 1.f;  // join() copied nothing, so both caches see the change
  EXPECT_EQ(all.attend(1, q.view_rows(0, 2), how).to_vector(), a.attend(1, q.view_rows(0, 2), how).to_vector());
  all.join(b);
  EXPECT_EQ(all.lengths(), (std::vector<std::int64_t>{3, 2, 5}));
  const std::vector<float> of_a = a.attend(0, q.view_rows(0, 2), how).to_vector();
  const std::vector<float> of_b = b.attend(0, q.view_rows(2, 3), how).to_vector();
  std::vector<float> expected = of_a;
  expected.insert(expected.end(), of_b.begin(), of_b.end());
  EXPECT_EQ(all.attend(0, q, how).to_vector(), expected);

  for (const std::size_t layer : {0u, 1u}) all.append(layer, token);
  EXPECT_EQ(all.lengths(), (std::vector<std::int64_t>{4, 3, 6}));
  for (const std::size_t layer : {0u, 1u}) b.append(layer, token.view_rows(2, 3));
  EXPECT_EQ(all.attend(1, q, how).view_rows(2, 3).to_vector(), b.attend(1, q.view_rows(2, 3), how).to_vector());

  EXPECT_THROW(b.join(all), Error) << "a cache that others have joined";
  all.select({});
  all.join(b);
  EXPECT_EQ(all.attend(1, q.view_rows(2, 3), how).to_vector(), b.attend(1, q.view_rows(2, 3), how).to_vector());
}

TEST(KeyValueCache, DoesNotCopyKeysAndValues) {
  KeyValueCache cache(1);
  const Tensor kv = random({2, 8});
  cache.append(0, kv);
  EXPECT_FALSE(kv.sole_owner());
  const Tensor q = random({2, 4}), before = cache.attend(0, q, {.heads = 1});
  kv.fill(3.f);
  for (const float value : cache.attend(0, q, {.heads = 1}).to_vector()) EXPECT_NEAR(value, 3.f, 1e-6);
}

TEST(KeyValueCache, RefusesWrongShapes) {
  KeyValueCache cache(1);
  cache.append(0, random({2, 8}));
  EXPECT_THROW(cache.append(0, random({3, 8})), Error);
  EXPECT_THROW(cache.append(1, random({2, 8})), Error);
  EXPECT_THROW(cache.append(0, random({2, 10})), Error);
  EXPECT_THROW(cache.attend(0, random({2, 5}), {.heads = 1}), Error);
  EXPECT_THROW(cache.attend(0, random({2, 4}), {.heads = 3}), Error);
  EXPECT_THROW(cache.select(std::vector<std::int64_t>{2}), Error);
}

TEST(KeyValueCache, IsUnchangedAfterAnError) {
  KeyValueCache cache(2);
  const Tensor first = random({2, 3, 8}), lengths = Tensor::ids({3, 2}, {2}), q = random({2, 4});
  for (const std::size_t layer : {0u, 1u}) cache.append(layer, first, lengths);
  const std::vector<float> before = cache.attend(0, q, {.heads = 2}).to_vector();
  EXPECT_THROW(cache.append(0, random({2, 10})), Error);                              // different width
  EXPECT_THROW(cache.append(0, random({3, 8})), Error);                               // different number of sequences
  EXPECT_THROW(cache.append(0, random({2, 2, 8}), Tensor::ids({2, 3}, {2})), Error);  // a length exceeds the positions
  EXPECT_THROW(cache.append(0, random({2, 2, 8}), Tensor::ids({2, 2, 2}, {3})), Error);  // wrong number of lengths
  EXPECT_EQ(cache.positions(), 3);
  EXPECT_EQ(cache.attend(0, q, {.heads = 2}).to_vector(), before);
  const Tensor next = random({2, 8});
  for (const std::size_t layer : {0u, 1u}) cache.append(layer, next);
}

}  // namespace
}  // namespace attend
