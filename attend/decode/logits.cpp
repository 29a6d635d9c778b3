#include "attend/decode/logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/kernels/best.h"

namespace attend {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b)
double log_add(double a, double b) {
  const double larger = std::max(a, b);
  return larger == kNever ? kNever : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// What the rules say about one row: either only a few words are possible, or all but a few are as the model says.
struct RowRules {
  struct Word {
    std::int32_t id;
    bool banned = false;
    bool repeated = false;  // stands in the text already
    std::int64_t said = 0;  // times, behind the prompt
    double bias = 0;
    float logit = 0;
  };
  bool forced = false;
  std::vector<Word> words = {};  // the possible ones, or those that are banned or penalised

  void ban(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) words.push_back({id, true});
  }
  void force(std::span<const std::int32_t> ids) {
    forced = true;
    words.clear();
    for (const std::int32_t id : ids) words.push_back({id});
  }
  void suppress(std::span<const std::int32_t> ids) {
    if (!forced) return ban(ids);
    for (const std::int32_t id : ids) std::erase_if(words, [id](const Word& word) { return word.id == id; });
  }
  /// Each word once, with all that is said of it.
  void settle() {
    std::ranges::sort(words, {}, &Word::id);
    std::size_t kept = 0;
    for (const Word& word : words) {
      if (kept == 0 || words[kept - 1].id != word.id) {
        words[kept++] = word;
        continue;
      }
      Word& same = words[kept - 1];
      same.banned |= word.banned, same.repeated |= word.repeated;
      same.said += word.said, same.bias += word.bias;
    }
    words.resize(kept);
  }
};

void ban_repeated_ngrams(std::span<const std::int32_t> words, std::size_t n, RowRules& row) {
  if (words.size() < n) return;
  const std::span<const std::int32_t> last = words.last(n - 1);
  for (std::size_t i = 0; i + n <= words.size(); ++i)
    if (std::ranges::equal(words.subspan(i, n - 1), last)) row.words.push_back({words[i + n - 1], true});
}

using BadWords = std::vector<std::span<const std::int32_t>>;

/// Those that some hypothesis could complete with its next word. A long list is walked through once a step by this, and
/// not once a hypothesis.
BadWords within_reach(std::span<const LogitsContext> contexts, const LogitsRules& rules,
                      std::span<const std::int32_t> ends) {
  std::unordered_set<std::int32_t> last;
  for (const LogitsContext& context : contexts)
    if (!context.words.empty()) last.insert(context.words.back());
  BadWords near;
  for (const std::vector<std::int32_t>& bad : rules.bad_words)
    if (bad.size() == 1 ? std::ranges::find(ends, bad[0]) == ends.end()
                        : bad.size() > 1 && last.contains(bad[bad.size() - 2]))
      near.emplace_back(bad);
  return near;
}

void ban_bad_words(std::span<const std::int32_t> words, const BadWords& bad_words, RowRules& row) {
  for (const std::span<const std::int32_t> bad : bad_words) {
    const std::size_t before = bad.size() - 1;
    if (before > 0 && bad.size() > words.size()) continue;
    if (std::ranges::equal(words.last(before), bad.first(before))) row.words.push_back({bad.back(), true});
  }
}

/// In the order in which `transformers` applies them.
RowRules rules_for(const LogitsContext& context, const LogitsRules& rules, const BadWords& bad_words,
                   std::span<const std::int32_t> ends) {
  RowRules row;
  const auto length = static_cast<std::int64_t>(context.words.size());
  for (const auto& [word, bias] : rules.biases) row.words.push_back({.id = word, .bias = bias});
  if (rules.repetition_penalty != 1.0)
    for (const std::int32_t word : context.words) row.words.push_back({.id = word, .repeated = true});
  if (rules.presence_penalty != 0.0 || rules.frequency_penalty != 0.0)
    for (const std::int32_t word : context.words.subspan(static_cast<std::size_t>(context.prompt)))
      row.words.push_back({.id = word, .said = 1});
  if (rules.no_repeat_ngram > 0)
    ban_repeated_ngrams(context.words, static_cast<std::size_t>(rules.no_repeat_ngram), row);
  ban_bad_words(context.words, bad_words, row);
  if (length < std::max(rules.min_length, context.prompt + rules.min_new_tokens)) row.ban(ends);
  if (rules.forced_first && length == 1) row.force(std::span(&*rules.forced_first, 1));
  if (!rules.forced_last.empty() && length == context.max_length - 1) row.force(rules.forced_last);
  row.suppress(rules.suppressed);
  const std::int64_t first = context.prompt > 1 || !rules.forced_first ? context.prompt : context.prompt + 1;
  if (length == first) row.suppress(rules.suppressed_first);
  return row;
}

double penalised(double score, const RowRules::Word& word, const LogitsRules& rules) {
  score += word.bias;
  if (word.repeated) score = score < 0 ? score * rules.repetition_penalty : score / rules.repetition_penalty;
  if (word.said > 0) score -= rules.presence_penalty + rules.frequency_penalty * static_cast<double>(word.said);
  return score;
}

/// The best words of a row, from the best of those that no rule concerns and their log-sum-exp.
std::vector<NextWord> merged(const RowRules& row, std::span<const float> values, std::span<const std::int32_t> ids,
                             double log_sum, const LogitsRules& rules, ScoreKind kind) {
  // What was taken out of the row counts for the model's own probabilities.
  double total = log_sum;
  for (const RowRules::Word& word : row.words) total = log_add(total, word.logit);
  if (std::isnan(total) || total == -kNever)
    fail("search", "the model's logits are no numbers; its weights may be damaged");
  const double shift = kind == ScoreKind::logits ? 0 : total;

  std::vector<NextWord> best;
  double left = row.forced ? kNever : log_sum - shift;  // log of the sum of what the rules leave
  for (const RowRules::Word& word : row.words) {
    if (word.banned) continue;
    const double score = row.forced ? 0 : penalised(word.logit - shift, word, rules);
    best.push_back({word.id, score, word.logit - total});
    left = log_add(left, score);
  }
  if (!row.forced)
    for (std::size_t i = 0; i < ids.size() && ids[i] >= 0; ++i)
      best.push_back({ids[i], values[i] - shift, values[i] - total});
  if (rules.renormalise && kind == ScoreKind::log_probabilities)
    for (NextWord& word : best) word.score -= left;
  std::erase_if(best, [](const NextWord& word) { return !(word.score > kNever); });
  std::ranges::sort(
      best, [](const NextWord& a, const NextWord& b) { return a.score != b.score ? a.score > b.score : a.id < b.id; });
  if (best.size() > ids.size()) best.resize(ids.size());
  return best;
}

}  // namespace

std::vector<std::vector<NextWord>> best_words(const Tensor& logits, std::span<const LogitsContext> contexts,
                                              const LogitsRules& rules, std::span<const std::int32_t> ends,
                                              std::int64_t count, ScoreKind kind) {
  const auto N = static_cast<std::int64_t>(contexts.size());
  if (logits.rank() != 2 || logits.dim(0) != N)
    fail("best_words", "the logits do not fit the hypotheses: got ", logits.shape(), ", expected [", N, ", V]");
  const std::int64_t V = logits.dim(1);
  count = std::min(count, V);
  // The words that a rule concerns are taken out of the row, and put back by hand after the search for the best.
  const BadWords bad_words = within_reach(contexts, rules, ends);
  std::vector<RowRules> rows(contexts.size());
  parallel_for(N, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      RowRules& of_row = rows[static_cast<std::size_t>(n)];
      of_row = rules_for(contexts[static_cast<std::size_t>(n)], rules, bad_words, ends);
      of_row.settle();
      float* row = logits.data() + n * V;
      for (RowRules::Word& word : of_row.words)
        word.logit = std::exchange(row[word.id], -std::numeric_limits<float>::infinity());
    }
  });
  std::vector<float> log_sums(rows.size()), values(rows.size() * static_cast<std::size_t>(count));
  std::vector<std::int32_t> ids(values.size());
  kernels::best_of_rows(N, V, logits.data(), count, log_sums.data(), values.data(), ids.data());
  std::vector<std::vector<NextWord>> best;
  best.reserve(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t offset = r * static_cast<std::size_t>(count), n = static_cast<std::size_t>(count);
    best.push_back(merged(rows[r], std::span(values).subspan(offset, n), std::span(ids).subspan(offset, n), log_sums[r],
                          rules, kind));
  }
  return best;
}

}  // namespace attend
