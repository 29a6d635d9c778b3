#include "attend/cli/labelled_texts.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "attend/core/error.h"
#include "attend/data/reader.h"

namespace attend::cli {
namespace {

std::vector<std::string> labels_in(const std::string& field, const std::string& separator) {
  if (separator.empty()) return {field};
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = std::min(field.find(separator, begin), field.size());
    std::string label = field.substr(begin, end - begin);
    label.erase(0, label.find_first_not_of(' '));
    label.erase(label.find_last_not_of(' ') + 1);
    if (!label.empty()) labels.push_back(std::move(label));
    begin = end + separator.size();
  }
  return labels;
}

}  // namespace

ClassifierTrainingOptions LabelFlags::options() const {
  return {.word_dropout = word_dropout,
          .label_smoothing = label_smoothing,
          .consistency = consistency,
          .several_labels = !separator.empty(),
          .batches = {.max_tokens = training.batch_tokens, .max_sequences = batch, .seed = training.trainer.seed}};
}

void add_label_data_flags(CLI::App& verb, LabelFlags& flags) {
  verb.add_option("--train", flags.train, "Texts to learn from: text, tab, label on each line")
      ->type_name("FILE")
      ->required();
  verb.add_option("--validation", flags.validation, "Texts to judge by; the best model on them is kept")
      ->type_name("FILE");
  verb.add_option("--text-column", flags.text_column, "The column of the text: a number, or a name of the first row")
      ->type_name("C")
      ->capture_default_str();
}

void add_label_learning_flags(CLI::App& verb, LabelFlags& flags) {
  const auto share = CLI::Range(0.0, 0.99).description("");
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  option("--batch", flags.batch, "Texts of a batch at most", "N")->check(CLI::PositiveNumber.description(""));
  option("--word-dropout", flags.word_dropout, "The share of words that are hidden in training", "SHARE")->check(share);
  option("--label-smoothing", flags.label_smoothing, "This share of the target goes to all labels", "SHARE")
      ->check(share);
  option("--consistency", flags.consistency,
         "What it counts that two readings of a text, dropped out differently, agree; 0: one reading", "WEIGHT")
      ->check(CLI::NonNegativeNumber.description(""));
}

Labelled read_labelled(const LabelFlags& flags, const std::string& path) {
  Labelled data;
  const auto reader = read_tsv(TextStream::open(path), {flags.text_column, flags.label_column});
  for (Record record; reader->next(record);) {
    if (record.target.empty() && flags.separator.empty())
      fail<InputError>("labels", path, ", line ", record.line, ": has no label in column ", flags.label_column);
    data.texts.push_back(record.source), data.labels.push_back(labels_in(record.target, flags.separator));
  }
  if (data.texts.empty()) fail<InputError>("labels", path, ": holds no labelled text");
  if (flags.pair_column.empty()) return data;
  const auto seconds = read_tsv(TextStream::open(path), {flags.pair_column, flags.label_column});
  for (Record record; seconds->next(record);) data.seconds.push_back(record.source);
  return data;
}

std::vector<std::string> labels_of(const Labelled& data) {
  std::set<std::string> sorted;
  for (const auto& held : data.labels) sorted.insert(held.begin(), held.end());
  return {sorted.begin(), sorted.end()};
}

std::vector<std::vector<std::int32_t>> label_places(const Labelled& data, const std::vector<std::string>& labels,
                                                    const std::string& path) {
  std::vector<std::vector<std::int32_t>> all;
  for (const std::vector<std::string>& held : data.labels) {
    std::vector<std::int32_t>& places = all.emplace_back();
    for (const std::string& label : held) {
      const auto found = std::ranges::lower_bound(labels, label);
      if (found == labels.end() || *found != label)
        fail<InputError>("labels", path, ": has the label \"", label, "\", which no text to learn from has");
      places.push_back(static_cast<std::int32_t>(found - labels.begin()));
    }
  }
  return all;
}

}  // namespace attend::cli
