#include "attend/cli/shared/labelled_texts.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/error.h"
#include "attend/data/table.h"

namespace attend::cli {
namespace {

/// Without the spaces around them; none where there is nothing else.
std::vector<std::string> labels_in(const std::string& field, const std::string& separator) {
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = separator.empty() ? field.size() : std::min(field.find(separator, begin), field.size());
    std::string label = field.substr(begin, end - begin);
    label.erase(0, label.find_first_not_of(' '));
    label.erase(label.find_last_not_of(' ') + 1);
    if (!label.empty()) labels.push_back(std::move(label));
    begin = end + std::max<std::size_t>(separator.size(), 1);
  }
  return labels;
}

/// A column of texts with the labels beside them. Throws InputError where a row lacks one of them.
std::vector<Record> rows_of(const LabelFlags& flags, const std::string& column, const std::string& path) {
  const auto reader = read_tsv(TextStream::open(path), {column, flags.label_column});
  std::vector<Record> rows;
  for (Record record; reader->next(record);) rows.push_back(record);
  for (const Skipped& skipped : reader->skipped())
    if (skipped.reason == kTooFewColumns)
      fail<InputError>("labels", path, ", line ", skipped.first_line,
                       ": has too few columns, expected a text in column ", column, " and a label in column ",
                       flags.label_column, ", with tabs between",
                       skipped.count == 1 ? "" : "; " + counted(skipped.count, "line") + " are so");
  if (rows.empty()) fail<InputError>("labels", path, ": holds no labelled text");
  return rows;
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
  const auto share = between(0.0, 0.99);
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  option("--batch", flags.batch, "Texts of a batch at most", "N")->check(kPositive);
  option("--word-dropout", flags.word_dropout, "The share of words that are hidden in training", "SHARE")->check(share);
  option("--label-smoothing", flags.label_smoothing, "This share of the target goes to all labels", "SHARE")
      ->check(share);
  option("--consistency", flags.consistency,
         "What it counts that two readings of a text, dropped out differently, agree; 0: one reading", "WEIGHT")
      ->check(kNotNegative);
}

Labelled read_labelled(const LabelFlags& flags, const std::string& path) {
  if (flags.label_column == flags.text_column || flags.label_column == flags.pair_column)
    throw CLI::ValidationError("--label-column", "is " + flags.label_column + ", where the text is");
  Labelled data;
  data.path = path, data.several = !flags.separator.empty();
  for (Record& row : rows_of(flags, flags.text_column, path)) {
    data.texts.push_back(std::move(row.source)), data.labels.push_back(labels_in(row.target, flags.separator));
    if (data.labels.back().empty() && flags.separator.empty())
      fail<InputError>("labels", path, ", line ", row.line, ": has no label in column ", flags.label_column);
  }
  if (!flags.pair_column.empty())
    for (Record& row : rows_of(flags, flags.pair_column, path)) data.seconds.push_back(std::move(row.source));
  return data;
}

std::vector<std::string> labels_of(const Labelled& data) {
  std::set<std::string> sorted;
  for (const auto& held : data.labels) sorted.insert(held.begin(), held.end());
  if (sorted.empty()) fail<InputError>("labels", data.path, ": no text has a label");
  if (sorted.size() == 1 && !data.several)
    fail<InputError>("labels", data.path, ": all texts have the label \"", *sorted.begin(),
                     "\", expected at least two labels to tell apart");
  return {sorted.begin(), sorted.end()};
}

std::vector<std::vector<std::int32_t>> label_places(const Labelled& data, const std::vector<std::string>& labels,
                                                    const std::string& path) {
  std::map<std::string, std::int32_t> place;
  for (const std::string& label : labels) place.emplace(label, static_cast<std::int32_t>(place.size()));
  std::vector<std::vector<std::int32_t>> all;
  for (const std::vector<std::string>& held : data.labels) {
    std::vector<std::int32_t>& places = all.emplace_back();
    for (const std::string& label : held) {
      const auto found = place.find(label);
      if (found == place.end())
        fail<InputError>("labels", path, ": has the label \"", label, "\", which no text to learn from has");
      places.push_back(found->second);
    }
  }
  return all;
}

}  // namespace attend::cli
