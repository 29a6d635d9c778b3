// A document with the weights of its sentences in a summary, for pages and the terminal.
#pragma once
#include <string>

#include "attend/explain/page.h"
#include "attend/tasks/summarization/summarizer.h"

namespace attend::cli {

/// The summary must have its sentences (SummarizeOptions::sources).
WeightedText highlighted(const std::string& document, const Summary& summary);

}  // namespace attend::cli
