// What a network with a memory did with one sequence, as a page: input, target and output, and where its heads wrote
// and read in each step.
#pragma once
#include "attend/explain/page.h"
#include "attend/tasks/algorithm/algorithm_model.h"

namespace attend::cli {

/// Input, target, output, and the bits that are wrong, one column for each step.
Figure bits_figure(const AlgorithmRun& run);
/// One map for each head: a row for each slot, a column for each step. Slots that no head uses are left out.
Figure heads_figure(const AlgorithmRun& run);
/// A summary in words, and both figures.
Page algorithm_page(const AlgorithmRun& run, const std::string& title);

}  // namespace attend::cli
