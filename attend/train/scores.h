// Named results of an evaluation, and which of two is better.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace attend {

/// {"loss", 1.9}, {"bleu", 31.2}. The first decides unless another metric is named.
using Scores = std::vector<std::pair<std::string, double>>;

/// Whether more is better: false for "loss", "word_loss" and the like, and for "perplexity".
bool higher_is_better(const std::string& score);

/// The score of a name. Throws InputError, naming all that there are, when there is none.
double score_named(const Scores& scores, const std::string& name);

/// Whether one value of a score is better than another; anything is better than NaN.
bool beats(const std::string& score, double one, double other);

/// By `metric`, if it is named; where that is equal (the BLEU of a beginner is 0 for long), by the first score.
bool better(const Scores& scores, const Scores& than, const std::string& metric);

}  // namespace attend
