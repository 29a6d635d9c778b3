// attend run-algorithm: runs a network that attend train algorithm has made, and shows what its heads did.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/algorithm_page.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/core/file.h"
#include "attend/core/wording.h"
#include "attend/explain/html.h"
#include "attend/explain/png.h"
#include "attend/explain/svg.h"
#include "attend/explain/terminal.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunAlgorithmFlags {
  std::string model, input, output;
  std::int64_t length = 0, repeats = 0, slots = 0, sequences = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

constexpr const char* kEndings[] = {".html", ".svg", ".png"};

void write_picture(const std::string& path, const Page& page, const AlgorithmRun& run) {
  const Figure figure = run.heads.empty() ? bits_figure(run) : heads_figure(run);
  AtomicFile file(path);
  file.write(path.ends_with(".html") ? to_html(page) : path.ends_with(".svg") ? to_svg(figure) : to_png(figure));
  file.commit();
}

/// Rows of numbers: [steps, width].
template <typename Number>
Json rows_of(const std::vector<Number>& values, std::int64_t width) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(width)) {
    Json row = Json::array();
    for (std::size_t j = i; j < i + static_cast<std::size_t>(width); ++j) {
      if constexpr (std::is_same_v<Number, std::int32_t>) {
        if (values[j] == AlgorithmSequence::kNoTarget)
          row.push_back(nullptr);
        else
          row.push_back(values[j]);
      } else {
        row.push_back(values[j]);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string json_line(const AlgorithmOptions& options, const AlgorithmRun& run) {
  const AlgorithmSequence& s = run.sequence;
  Json heads = Json::object();
  for (const HeadWeights& head : run.heads) heads[head.name] = rows_of(head.weights, head.slots);
  Json json{{"task", name_of(options.task, kAlgorithmTaskNames)},
            {"steps", s.steps},
            {"input", rows_of(s.input, s.inputs)},
            {"target", rows_of(s.target, s.outputs)},
            {"output", rows_of(run.output, s.outputs)},
            {"bits", run.targets},
            {"wrong", run.wrong},
            {"loss", run.bits},
            {"heads", std::move(heads)}};
  if (s.optimal_bits > 0) json["optimal_loss"] = s.optimal_bits;
  return as_line(json);
}

void run(const RunAlgorithmFlags& flags) {
  if (!flags.output.empty()) {
    bool known = false;
    for (const char* ending : kEndings) known |= flags.output.ends_with(ending);
    if (!known) throw UsageError("--output: the name must end in .html, .svg or .png: got " + flags.output);
  }
  const AlgorithmModel model(flags.model, flags.slots);
  AlgorithmOptions options = model.algorithm();
  if (flags.repeats > 0 && options.task != AlgorithmTask::repeat_copy)
    throw UsageError("--repeats is for repeat-copy; this model was trained for " +
                     name_of(options.task, kAlgorithmTaskNames));
  if (flags.length > 0) options.min_length = options.max_length = flags.length;
  options.check();
  if (flags.sequences > 0) {
    const AlgorithmScores scores = model.evaluate(options, flags.sequences, flags.seed);
    if (flags.json) {
      Json json{{"task", name_of(options.task, kAlgorithmTaskNames)},
                {"sequences", scores.sequences},
                {"bits", scores.targets},
                {"wrong", scores.wrong},
                {"error_rate", scores.error_rate()},
                {"loss", scores.bits_per_sequence}};
      if (scores.optimal_bits > 0) json["optimal_loss"] = scores.optimal_bits;
      std::cout << as_line(json);
    } else {
      std::cout << counted(scores.sequences, "sequence") << ": " << grouped(scores.wrong) << " of "
                << counted(scores.targets, "bit") << " wrong (" << fixed(100 * scores.error_rate(), 3) << " %), loss "
                << fixed(scores.bits_per_sequence, 3) << " bits per sequence";
      if (scores.optimal_bits > 0) std::cout << ", optimal estimator " << fixed(scores.optimal_bits, 3);
      std::cout << '\n';
    }
    return;
  }
  AlgorithmSequence sequence;
  if (!flags.input.empty()) {
    sequence = parse_sequence(options, flags.input);
  } else if (flags.repeats > 0) {
    // The number of repeats is given to the network relative to its training range, which stays as it is.
    AlgorithmSequence drawn = make_sequence(options, flags.seed, 0);
    std::string text;
    for (std::int64_t i = 0; i < drawn.length; ++i) {
      for (std::int64_t j = 0; j < options.bits; ++j)
        text += drawn.input[static_cast<std::size_t>(i * drawn.inputs + j)] > 0.5f ? '1' : '0';
      text += ' ';
    }
    sequence = parse_sequence(options, text + "x" + std::to_string(flags.repeats));
  } else {
    sequence = make_sequence(options, flags.seed, 0);
  }
  const AlgorithmRun done = model(sequence);
  const Page page = algorithm_page(
      done, name_of(options.task, kAlgorithmTaskNames) + ", length " + std::to_string(sequence.length) +
                (options.task == AlgorithmTask::repeat_copy ? ", " + counted(sequence.repeats, "repeat") : ""));
  std::cout << (flags.json ? json_line(options, done) : to_terminal(page, terminal_of_output()));
  if (flags.output.empty()) return;
  write_picture(flags.output, page, done);
  if (!flags.json) std::cout << "Written: " << flags.output << '\n';
}

}  // namespace

void add_run_algorithm(Verb& program) {
  Verb* verb =
      program.add_subcommand("run-algorithm", "Run a learned algorithm, and show where its heads read and wrote");
  verb->group(kUseAModel);
  auto flags = std::make_shared<RunAlgorithmFlags>();
  verb->add_option("-m,--model", flags->model, "Folder of a model that `attend train algorithm` has made")
      ->type_name("DIR")
      ->required();
  Flag* input =
      verb->add_option("--sequence", flags->input,
                       "The sequence. copy: \"01101100 11100011\"; repeat-copy: the same and x3; recall: items "
                       "separated by |, and after ? the one to look for; sort: 01101100:0.5 for each vector; "
                       "ngrams: bits")
          ->type_name("TEXT")
          ->default_text("a random sequence");
  verb->add_option("--length", flags->length, "Length of the random sequence: vectors, items or bits")
      ->type_name("N")
      ->default_text("random, as in training")
      ->check(kPositive)
      ->excludes(input);
  verb->add_option("--repeats", flags->repeats, "Number of copies of the random sequence (repeat-copy)")
      ->type_name("N")
      ->default_text("random, as in training")
      ->check(kPositive)
      ->excludes(input);
  verb->add_option("--sequences", flags->sequences,
                   "Run this many random sequences, and print only the fraction of wrong bits and the loss")
      ->type_name("N")
      ->default_text("1, shown in full")
      ->check(between(1, 1000000))
      ->excludes(input);
  verb->add_option("--slots", flags->slots, "Slots of the memory; long sequences need more than in training")
      ->type_name("N")
      ->default_text("as in training")
      ->check(kPositive);
  verb->add_option("--seed", flags->seed, "Random seed; the same seed gives the same sequence")->type_name("N");
  verb->add_option("-o,--output", flags->output,
                   "Write a page with all figures (.html), or the figure of the heads (.svg, .png)")
      ->type_name("FILE");
  verb->add_flag("--json", flags->json,
                 "Print one JSON object: task, steps, input, target, output, bits, wrong, loss, heads ([step][slot])");
  verb->footer(
      "Example:\n"
      "  attend run-algorithm --model copier --sequence '01101100 11100011 00011110'\n"
      "  attend run-algorithm --model copier --length 120 --sequences 100");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
