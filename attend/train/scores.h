// The scores of an evaluation, and their comparison.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace attend {

/// Names and values: {"loss", 1.9}, {"bleu", 31.2}. The first score decides which model is better, unless another
/// metric is chosen.
using Scores = std::vector<std::pair<std::string, double>>;

/// False for "perplexity" and for names that end with "loss".
bool higher_is_better(const std::string& score);

/// The value of the score with this name. Throws InputError, listing all names, if there is none.
double score_named(const Scores& scores, const std::string& name);

/// Whether `one` is a better value of this score than `other`. Every number is better than NaN.
bool beats(const std::string& score, double one, double other);

/// Whether `scores` are better than `than`. Compares `metric`, unless it is empty, and then the first score if the
/// metric is equal. (Early in training BLEU is often 0.)
bool better(const Scores& scores, const Scores& than, const std::string& metric);

}  // namespace attend
