// Reads and writes the labels of a classifier in Hugging Face's config.json.
#pragma once
#include <string>
#include <vector>

#include "attend/formats/config.h"

namespace attend {

/// Reads "id2label". If it has fewer entries than "num_labels", the others are called "LABEL_i". Without both keys
/// there are two labels. Throws InputError.
std::vector<std::string> read_labels(const Config& config);
/// Sets "id2label" and "label2id".
void write_labels(Config& config, const std::vector<std::string>& labels);

/// Whether "problem_type" is "multi_label_classification": each label is independent of the others.
bool read_several_labels(const Config& config);
void write_several_labels(Config& config, bool several);

}  // namespace attend
