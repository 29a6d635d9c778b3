// Chooses among several summaries of a text the one that agrees most with the others.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace attend {

/// The index of the text with the highest expected ROUGE (the mean of the F of ROUGE-1, ROUGE-2 and ROUGE-L, with
/// stemming), if each of the texts has this probability to be right: minimum Bayes risk decoding (Kumar and Byrne
/// 2004). The probabilities need not add up to 1. Of equal texts, the first. Throws if there is no text.
std::size_t consensus(std::span<const std::string> texts, std::span<const double> probabilities);

}  // namespace attend
