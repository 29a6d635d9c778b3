// The labels of a classifier's folder, as Hugging Face's config.json has them.
#pragma once
#include <string>
#include <vector>

#include "attend/formats/config.h"

namespace attend {

/// By "id2label", or as many as "num_labels" says, two if nothing does. Throws InputError.
std::vector<std::string> read_labels(const Config& config);
/// Sets "id2label" and "label2id".
void write_labels(Config& config, const std::vector<std::string>& labels);

/// "problem_type": whether each label holds or not by itself.
bool read_several_labels(const Config& config);
void write_several_labels(Config& config, bool several);

}  // namespace attend
