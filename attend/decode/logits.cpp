#include "attend/decode/logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/core/threads.h"
#include "attend/decode/token_grammar.h"
#include "attend/kernels/best.h"

namespace attend {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b); NaN if one of them is NaN.
double log_add(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// The rules for one row: either only a few tokens are allowed, or a few are banned or penalised and the others keep
/// their scores.
struct RowRules {
  struct Token {
    std::int32_t id;
    bool banned = false;
    bool repeated = false;       // occurs in the text
    std::int64_t generated = 0;  // how often, after the prompt
    double bias = 0;
    float logit = 0;
  };
  bool forced = false;
  std::vector<Token> tokens = {};    // the allowed ones, or those that are banned or penalised
  std::optional<double> total = {};  // log-sum-exp of the whole row, if a grammar has banned many tokens

  void ban(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) tokens.push_back({id, true});
  }
  void force(std::span<const std::int32_t> ids) {
    forced = true;
    tokens.clear();
    for (const std::int32_t id : ids) tokens.push_back({id});
  }
  void suppress(std::span<const std::int32_t> ids) {
    if (!forced) return ban(ids);
    for (const std::int32_t id : ids) std::erase_if(tokens, [id](const Token& token) { return token.id == id; });
  }
  /// Merges the entries of each token.
  void settle() {
    std::ranges::sort(tokens, {}, &Token::id);
    std::size_t kept = 0;
    for (const Token& token : tokens) {
      if (kept == 0 || tokens[kept - 1].id != token.id) {
        tokens[kept++] = token;
        continue;
      }
      Token& same = tokens[kept - 1];
      same.banned |= token.banned, same.repeated |= token.repeated;
      same.generated += token.generated, same.bias += token.bias;
    }
    tokens.resize(kept);
  }
};

/// Bans all tokens that the grammar does not allow. `row` are logits [V].
void apply_grammar(const TokenGrammar& grammar, const LogitsContext& context, std::span<float> row, RowRules& rules) {
  const auto prompt = static_cast<std::size_t>(context.prompt);
  if (context.tokens.size() < prompt) return;  // the prefix is still read
  const std::shared_ptr<const TokenBits> allowed =
      grammar.allowed(context.tokens.subspan(prompt), *context.position,
                      context.max_length - static_cast<std::int64_t>(context.tokens.size()));
  const auto word = [&](std::size_t i) { return i < allowed->size() ? (*allowed)[i] : 0; };
  const auto is_allowed = [&](std::int32_t id) {
    return (word(static_cast<std::size_t>(id) / 64) >> (id % 64) & 1) != 0;
  };

  std::int64_t left = 0;
  for (std::size_t i = 0; i * 64 < row.size(); ++i) left += std::popcount(word(i));
  if (rules.forced)
    left = std::ranges::count_if(rules.tokens, [&](const RowRules::Token& t) { return is_allowed(t.id); });
  else
    left -= std::ranges::count_if(rules.tokens, [&](const RowRules::Token& t) { return t.banned && is_allowed(t.id); });
  if (left <= 0 && rules.forced) rules.forced = false, rules.tokens.clear();
  for (RowRules::Token& token : rules.tokens) token.banned = !is_allowed(token.id) || (token.banned && left > 0);

  float total = 0, best = 0;
  std::int32_t place = 0;
  kernels::best_of_rows(1, std::ssize(row), row.data(), 1, &total, &best, &place);
  rules.total = total;
  constexpr float kBanned = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i * 64 < row.size(); ++i) {
    const std::uint64_t bits = word(i);
    const std::span<float> some = row.subspan(i * 64, std::min<std::size_t>(64, row.size() - i * 64));
    if (bits == 0)
      std::ranges::fill(some, kBanned);
    else if (~bits != 0)
      for (std::size_t j = 0; j < some.size(); ++j)
        if ((bits >> j & 1) == 0) some[j] = kBanned;
  }
}

void ban_repeated_ngrams(std::span<const std::int32_t> tokens, std::size_t n, RowRules& row) {
  if (tokens.size() < n) return;
  const std::span<const std::int32_t> last = tokens.last(n - 1);
  for (std::size_t i = 0; i + n <= tokens.size(); ++i)
    if (std::ranges::equal(tokens.subspan(i, n - 1), last)) row.tokens.push_back({tokens[i + n - 1], true});
}

using BadWords = std::vector<std::span<const std::int32_t>>;

/// The bad words that some hypothesis could complete with its next token. So a long list is searched once per step, not
/// once per hypothesis.
BadWords within_reach(std::span<const LogitsContext> contexts, const LogitsRules& rules,
                      std::span<const std::int32_t> ends) {
  std::unordered_set<std::int32_t> last;
  for (const LogitsContext& context : contexts)
    if (!context.tokens.empty()) last.insert(context.tokens.back());
  BadWords near;
  for (const std::vector<std::int32_t>& bad : rules.bad_words)
    if (bad.size() == 1 ? std::ranges::find(ends, bad[0]) == ends.end()
                        : bad.size() > 1 && last.contains(bad[bad.size() - 2]))
      near.emplace_back(bad);
  return near;
}

void ban_bad_words(std::span<const std::int32_t> tokens, const BadWords& bad_words, RowRules& row) {
  for (const std::span<const std::int32_t> bad : bad_words) {
    const std::size_t before = bad.size() - 1;
    if (before > 0 && bad.size() > tokens.size()) continue;
    if (std::ranges::equal(tokens.last(before), bad.first(before))) row.tokens.push_back({bad.back(), true});
  }
}

/// In the order in which `transformers` applies them.
RowRules rules_for(const LogitsContext& context, const LogitsRules& rules, const BadWords& bad_words,
                   std::span<const std::int32_t> ends) {
  RowRules row;
  const auto length = static_cast<std::int64_t>(context.tokens.size());
  for (const auto& [token, bias] : rules.biases) row.tokens.push_back({.id = token, .bias = bias});
  if (rules.repetition_penalty != 1.0)
    for (const std::int32_t token : context.tokens) row.tokens.push_back({.id = token, .repeated = true});
  if (rules.presence_penalty != 0.0 || rules.frequency_penalty != 0.0)
    for (const std::int32_t token : context.tokens.subspan(static_cast<std::size_t>(context.prompt)))
      row.tokens.push_back({.id = token, .generated = 1});
  if (rules.no_repeat_ngram > 0)
    ban_repeated_ngrams(context.tokens, static_cast<std::size_t>(rules.no_repeat_ngram), row);
  ban_bad_words(context.tokens, bad_words, row);
  if (length < std::max(rules.min_length, context.prompt + rules.min_new_tokens)) row.ban(ends);
  if (rules.forced_first && length == 1) row.force(std::span(&*rules.forced_first, 1));
  if (!rules.forced_last.empty() && length == context.max_length - 1) row.force(rules.forced_last);
  row.suppress(rules.suppressed);
  const std::int64_t first = context.prompt > 1 || !rules.forced_first ? context.prompt : context.prompt + 1;
  if (length == first) row.suppress(rules.suppressed_first);
  return row;
}

double penalised(double score, const RowRules::Token& token, const LogitsRules& rules) {
  score += token.bias;
  if (token.repeated) score = score < 0 ? score * rules.repetition_penalty : score / rules.repetition_penalty;
  if (token.generated > 0)
    score -= rules.presence_penalty + rules.frequency_penalty * static_cast<double>(token.generated);
  return score;
}

/// The best tokens of a row, from the best of those that no rule concerns and their log-sum-exp.
std::vector<NextToken> merged(const RowRules& row, std::span<const float> values, std::span<const std::int32_t> ids,
                              double log_sum, const LogitsRules& rules, ScoreKind kind) {
  // The tokens that were taken out of the row still count in the model's probabilities.
  double total = row.total.value_or(log_sum);
  if (!row.total)
    for (const RowRules::Token& token : row.tokens) total = log_add(total, token.logit);
  if (!std::isfinite(total)) fail_not_finite("search");
  const double shift = kind == ScoreKind::logits ? 0 : total;

  std::vector<NextToken> best;
  double left = row.forced ? kNever : log_sum - shift;  // log of the summed probabilities that the rules leave
  for (const RowRules::Token& token : row.tokens) {
    if (token.banned) continue;
    const double score = row.forced ? 0 : penalised(token.logit - shift, token, rules);
    best.push_back({token.id, score, token.logit - total});
    left = log_add(left, score);
  }
  if (!row.forced)
    for (std::size_t i = 0; i < ids.size() && ids[i] >= 0; ++i)
      best.push_back({ids[i], values[i] - shift, values[i] - total});
  if (rules.renormalise && kind == ScoreKind::log_probabilities)
    for (NextToken& token : best) token.score -= left;
  std::erase_if(best, [](const NextToken& token) { return !(token.score > kNever); });
  std::ranges::sort(best, [](const NextToken& a, const NextToken& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  });
  if (best.size() > ids.size()) best.resize(ids.size());
  return best;
}

}  // namespace

std::vector<std::vector<NextToken>> best_tokens(const Tensor& logits, std::span<const LogitsContext> contexts,
                                                const LogitsRules& rules, std::span<const std::int32_t> ends,
                                                std::int64_t count, ScoreKind kind) {
  const auto N = static_cast<std::int64_t>(contexts.size());
  if (logits.rank() != 2 || logits.dim(0) != N)
    fail("best_tokens", "the logits do not fit the hypotheses: got ", logits.shape(), ", expected [", N, ", V]");
  const std::int64_t V = logits.dim(1);
  count = std::min(count, V);
  // The tokens that a rule concerns are taken out of the row, and put back by hand after the search for the best.
  const BadWords bad_words = within_reach(contexts, rules, ends);
  std::vector<RowRules> rows(contexts.size());
  parallel_for(N, rules.grammar ? 4 : 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      RowRules& of_row = rows[static_cast<std::size_t>(n)];
      const LogitsContext& context = contexts[static_cast<std::size_t>(n)];
      of_row = rules_for(context, rules, bad_words, ends);
      of_row.settle();
      float* row = logits.data() + n * V;
      if (rules.grammar) apply_grammar(*rules.grammar, context, {row, static_cast<std::size_t>(V)}, of_row);
      for (RowRules::Token& token : of_row.tokens)
        token.logit = std::exchange(row[token.id], -std::numeric_limits<float>::infinity());
    }
  });
  std::vector<float> log_sums(rows.size()), values(rows.size() * static_cast<std::size_t>(count));
  std::vector<std::int32_t> ids(values.size());
  kernels::best_of_rows(N, V, logits.data(), count, log_sums.data(), values.data(), ids.data());
  std::vector<std::vector<NextToken>> best;
  best.reserve(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t offset = r * static_cast<std::size_t>(count), n = static_cast<std::size_t>(count);
    best.push_back(merged(rows[r], std::span(values).subspan(offset, n), std::span(ids).subspan(offset, n), log_sums[r],
                          rules, kind));
  }
  return best;
}

}  // namespace attend
