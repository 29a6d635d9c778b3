// attend evaluate: scores translations, labels, log-probabilities or answers that are in files, or those of a model.
#include <algorithm>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attend/cli/shared/answer_flags.h"
#include "attend/cli/shared/answer_scores.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/dialogue_flags.h"
#include "attend/cli/shared/evaluate_report.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/reply_scores.h"
#include "attend/cli/shared/story_errors.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/explain/page.h"
#include "attend/explain/terminal.h"
#include "attend/metrics/bleu.h"
#include "attend/metrics/chrf.h"
#include "attend/metrics/classification.h"
#include "attend/metrics/perplexity.h"
#include "attend/metrics/rouge.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

struct EvaluateOptions {
  std::vector<std::string> metrics = {"bleu", "chrf"};
  std::vector<std::string> inputs;  // one a system; none: standard input
  std::vector<std::string> references;
  std::string field;                  // of JSON lines; empty: lines are plain text
  std::string sources;                // file whose lines are grouped by their length; empty: no groups
  std::vector<std::int64_t> lengths;  // where groups end
  bool confidence = false, sentence = false, json = false;
  int digits = 2;
  BootstrapOptions bootstrap;
  RougeOptions rouge;
};

std::string name_of_file(const std::string& path) { return path.empty() || path == "-" ? "standard input" : path; }

Lines read_lines(const std::string& path) {
  LineReader reader(path.empty() ? std::vector<std::string>{} : std::vector<std::string>{path});
  Lines lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

Json parse_line(const ScoredSystem& system, std::size_t i) {
  Json json = Json::parse(system.lines[i], nullptr, false);
  if (!json.is_object())
    fail<InputError>("evaluate", system.name, ", line ", i + 1, ": is no JSON object, as `--json` of a verb prints");
  return json;
}

/// Replaces JSON lines by the texts under a key.
void take_field(ScoredSystem& system, const std::string& key) {
  for (std::size_t i = 0; i < system.lines.size(); ++i) {
    const Json json = parse_line(system, i);
    if (!json.contains(key) || !json[key].is_string())
      fail<InputError>("evaluate", system.name, ", line ", i + 1, ": has no text under \"", key, '"');
    system.lines[i] = json[key].get<std::string>();
  }
}

/// Warns of empty and of tokenized hypotheses, once for all lines.
void warn_about(const ScoredSystem& system) {
  const auto count = [&](auto&& is_odd) { return std::ranges::count_if(system.lines, is_odd); };
  const auto all = system.lines.size();
  if (const auto empty = count([](const std::string& line) { return line.empty(); }); empty > 0)
    warn(text(system.name, ": ", empty, " of ", all, " lines are empty"));
  if (const auto tokenized = count([](const std::string& line) { return line.ends_with(" ."); }); tokenized >= 100)
    warn(text(system.name, ": ", tokenized, " of ", all,
              " lines end in a full stop with a space before it; BLEU expects detokenized text"));
}

/// The options, and the references that were read.
struct Task {
  const EvaluateOptions& options;
  References references;

  std::string resampling() const { return options.confidence ? resampling_signature(options.bootstrap) : ""; }
};

MetricResult bleu(const ScoredSystem& system, const Task& task) {
  const auto sentences =
      std::make_shared<const std::vector<BleuStatistics>>(bleu_statistics(system.lines, task.references));
  BleuStatistics sum;
  for (const BleuStatistics& sentence : *sentences) sum += sentence;
  const BleuScore score = bleu_score(sum);

  MetricResult result{.key = "bleu", .name = "BLEU", .value = score.score, .details = score.details()};
  result.signature = bleu_signature(task.references.size(), task.resampling(), task.options.sentence);
  result.more = {{"precisions", score.precisions},
                 {"brevity_penalty", score.brevity_penalty},
                 {"hypothesis_words", score.hypothesis_words},
                 {"reference_words", score.reference_words}};
  for (const BleuStatistics& sentence : *sentences) result.sentences.push_back(bleu_score(sentence, true).score);
  result.of_sample = [sentences](std::span<const std::uint32_t> sample) {
    return bleu_score(sum_of_sample(std::span(*sentences), sample)).score;
  };
  return result;
}

MetricResult chrf(const ScoredSystem& system, const Task& task, const std::string& key) {
  const ChrfOptions options{.words = key == "chrf++" ? 2 : 0};
  const auto sentences =
      std::make_shared<const std::vector<ChrfStatistics>>(chrf_statistics(system.lines, task.references, options));
  ChrfStatistics sum;
  for (const ChrfStatistics& sentence : *sentences) sum += sentence;

  MetricResult result{.key = key, .name = chrf_name(options), .value = chrf_score(sum, options)};
  result.signature = chrf_signature(task.references.size(), task.resampling(), options);
  for (const ChrfStatistics& sentence : *sentences) result.sentences.push_back(chrf_score(sentence, options));
  result.of_sample = [sentences, options](std::span<const std::uint32_t> sample) {
    return chrf_score(sum_of_sample(std::span(*sentences), sample), options);
  };
  return result;
}

MetricResult rouge(const ScoredSystem& system, const Task& task, Rouge kind) {
  const auto lines = std::make_shared<const std::vector<RougeScore>>(
      rouge_scores(kind, system.lines, task.references, task.options.rouge));
  RougeScore sum;
  MetricResult result{.key = std::string(name_of(kind)), .name = {}};
  for (const RougeScore& line : *lines) {
    sum.precision += line.precision, sum.recall += line.recall, sum.f += line.f;
    result.sentences.push_back(line.f);
  }
  const auto mean = [&](double total) { return total / static_cast<double>(lines->size()); };
  result.name = result.key, result.value = mean(sum.f);
  result.details = text("F1 (precision ", fixed(mean(sum.precision), task.options.digits), ", recall ",
                        fixed(mean(sum.recall), task.options.digits), ')');
  result.more = {{"precision", mean(sum.precision)}, {"recall", mean(sum.recall)}};
  result.of_sample = [f = result.sentences](std::span<const std::uint32_t> sample) {
    return sum_of_sample(std::span(f), sample) / static_cast<double>(sample.size());
  };
  return result;
}

constexpr int kLabelColumns = 40;  // width of a label in messages

/// The text before the first tab; `attend classify` prints the probability after it.
Lines labels_of(const Lines& lines) {
  Lines labels;
  for (const std::string& line : lines) labels.push_back(line.substr(0, line.find('\t')));
  return labels;
}

MetricResult accuracy(const ScoredSystem& system, const Task& task) {
  const Lines predicted = labels_of(system.lines), expected = labels_of(task.references.front());
  const ClassificationScores scores = classification_scores(predicted, expected);
  MetricResult result{.key = "accuracy", .name = "accuracy", .value = scores.accuracy()};
  result.details = text('(', grouped(scores.correct), " of ", grouped(scores.total), ')');
  for (std::size_t i = 0; i < predicted.size(); ++i) result.sentences.push_back(predicted[i] == expected[i] ? 1 : 0);
  result.of_sample = [right = result.sentences](std::span<const std::uint32_t> sample) {
    return sum_of_sample(std::span(right), sample) / static_cast<double>(sample.size());
  };
  return result;
}

/// Warns if no predicted label is in the reference, for example because one of the files also has the texts.
void warn_of_foreign_labels(const ScoredSystem& system, const Task& task) {
  const Lines predicted = labels_of(system.lines), expected = labels_of(task.references.front());
  const std::set<std::string> known(expected.begin(), expected.end());
  if (std::ranges::none_of(predicted, [&](const std::string& label) { return known.contains(label); }))
    warn(text(system.name, ": none of its labels, such as \"", shortened(predicted.front(), kLabelColumns),
              "\", is in the reference, which has \"", shortened(expected.front(), kLabelColumns),
              "\"; each line must begin with its label"));
}

/// Precision, recall and F1 of the most frequent labels, sorted by name.
std::string table_of_labels(const ClassificationScores& scores, int digits) {
  constexpr std::size_t kMost = 50;
  std::vector<LabelScore> shown = scores.labels;
  if (shown.size() > kMost) {
    std::ranges::stable_sort(shown, std::greater(), &LabelScore::expected);
    shown.resize(kMost);
    std::ranges::sort(shown, {}, &LabelScore::label);
  }
  int width = 5;
  for (LabelScore& label : shown) {
    label.label = shortened(label.label, kLabelColumns);
    width = std::max(width, display_width(label.label));
  }
  std::ostringstream out;
  out << '\n' << std::left << std::setw(width) << "label" << std::right;
  for (const char* column : {"precision", "recall", "F1", "expected", "predicted"}) out << std::setw(11) << column;
  out << std::fixed << std::setprecision(digits);
  for (const LabelScore& label : shown)
    out << '\n'
        << label.label << std::string(static_cast<std::size_t>(width - display_width(label.label)), ' ')
        << std::setw(11) << label.precision() << std::setw(11) << label.recall() << std::setw(11) << label.f1()
        << std::setw(11) << label.expected << std::setw(11) << label.predicted;
  if (const std::size_t left = scores.labels.size() - shown.size(); left > 0)
    out << "\n… and " << left << " more (--json has all)";
  return out.str();
}

MetricResult f1(const ScoredSystem& system, const Task& task) {
  const Lines predicted = labels_of(system.lines), expected = labels_of(task.references.front());
  const ClassificationScores scores = classification_scores(predicted, expected);
  MetricResult result{.key = "f1", .name = "F1", .value = scores.macro_f1()};
  result.details = text("macro, ", fixed(scores.micro_f1(), task.options.digits + 2), " micro",
                        table_of_labels(scores, task.options.digits));
  result.more = {{"macro", scores.macro_f1()}, {"micro", scores.micro_f1()}, {"labels", Json::array()}};
  for (const LabelScore& label : scores.labels)
    result.more["labels"].push_back({{"label", label.label},
                                     {"precision", label.precision()},
                                     {"recall", label.recall()},
                                     {"f1", label.f1()},
                                     {"expected", label.expected},
                                     {"predicted", label.predicted}});
  result.more["confusion"] = scores.confusion;
  result.of_sample = [predicted, expected](std::span<const std::uint32_t> sample) {
    Lines drawn_predicted, drawn_expected;
    for (const std::uint32_t i : sample) drawn_predicted.push_back(predicted[i]), drawn_expected.push_back(expected[i]);
    return classification_scores(drawn_predicted, drawn_expected).macro_f1();
  };
  return result;
}

/// Reads the output of `attend score --json`.
std::vector<Likelihood> likelihoods_of(const ScoredSystem& system) {
  std::vector<Likelihood> all;
  std::int64_t cut = 0;
  for (std::size_t i = 0; i < system.lines.size(); ++i) {
    const Json json = parse_line(system, i);
    const Json logprobs = json.value("logprobs", Json()), sum = json.value("logprob", Json());
    if (!logprobs.is_array() || !json.value("text", Json()).is_string() || !(sum.is_number() || sum.is_null()))
      fail<InputError>("evaluate", system.name, ", line ", i + 1,
                       ": expected \"text\", \"logprobs\" and \"logprob\", as `attend score --json` prints them");
    Likelihood one{.bytes = static_cast<std::int64_t>(json["text"].get_ref<const std::string&>().size())};
    for (const Json& logprob : logprobs) {
      if (!logprob.is_number()) continue;  // the first token may have none
      one.logprob += logprob.get<double>();
      ++one.tokens;
    }
    all.push_back(one);
    cut += json.contains("truncated") ? 1 : 0;
  }
  if (cut > 0)
    warn(text(system.name, ": ", cut, " of ", all.size(),
              " texts were cut to fit the model, so bits per byte are too low"));
  return all;
}

MetricResult likelihood(const ScoredSystem& system, const std::string& key) {
  const auto lines = std::make_shared<const std::vector<Likelihood>>(likelihoods_of(system));
  const auto value = key == "perplexity" ? &Likelihood::perplexity : &Likelihood::bits_per_byte;
  Likelihood sum;
  for (const Likelihood& line : *lines) sum += line;
  MetricResult result{.key = key, .name = key, .value = (sum.*value)()};
  result.details = text('(', grouped(sum.tokens), " tokens, ", grouped(sum.bytes), " bytes)");
  result.more = {{"logprob", sum.logprob}, {"tokens", sum.tokens}, {"bytes", sum.bytes}};
  for (const Likelihood& line : *lines) result.sentences.push_back((line.*value)());
  result.of_sample = [lines, value](std::span<const std::uint32_t> sample) {
    return (sum_of_sample(std::span(*lines), sample).*value)();
  };
  return result;
}

bool needs_references(const std::string& metric) { return metric != "perplexity" && metric != "bits_per_byte"; }

MetricResult evaluate(const std::string& metric, const ScoredSystem& system, const Task& task) {
  if (metric == "bleu") return bleu(system, task);
  if (metric == "accuracy") return accuracy(system, task);
  if (metric == "f1") return f1(system, task);
  for (const Rouge kind : kRouges)
    if (metric == name_of(kind)) return rouge(system, task, kind);
  return needs_references(metric) ? chrf(system, task, metric) : likelihood(system, metric);
}

/// Confidence intervals for all systems, and p-values of the differences from the first one.
void add_confidence(std::vector<ScoredSystem>& systems, const BootstrapOptions& options) {
  const auto lines = static_cast<std::int64_t>(systems.front().lines.size());
  for (ScoredSystem& system : systems)
    for (std::size_t m = 0; m < system.results.size(); ++m) {
      MetricResult& result = system.results[m];
      if (&system == &systems.front()) {
        result.confidence = bootstrap(lines, result.of_sample, options);
        continue;
      }
      const PairedBootstrap pair =
          paired_bootstrap(lines, systems.front().results[m].of_sample, result.of_sample, options);
      result.confidence = pair.system;
      result.p_value = pair.p_value;
    }
}

/// Throws UsageError for flags that cannot be combined.
void check(const EvaluateOptions& options) {
  const auto is = [&](auto&& property) { return std::ranges::any_of(options.metrics, property); };
  const bool compares = is(needs_references);
  if (compares && !std::ranges::all_of(options.metrics, needs_references))
    throw UsageError("--metric",
                     "perplexity and bits_per_byte cannot be combined with other metrics, which read other files");
  if (compares && options.references.empty())
    throw UsageError("--reference", "is missing; only perplexity and bits_per_byte do without it");
  if (!compares && !options.references.empty())
    throw UsageError("--reference", "has no use: perplexity and bits_per_byte need no reference");
  if (is(is_of_labels) && options.references.size() > 1)
    throw UsageError("--reference", "accuracy and f1 take one reference file");
  if (options.sentence && options.inputs.size() > 1) throw UsageError("--sentence", "takes one --input");
  if (options.sentence && (options.confidence || is([](const std::string& metric) { return metric == "f1"; })))
    throw UsageError("--sentence", "cannot be combined with f1 or --confidence, which a single line does not have");
  if (!options.sources.empty() && (options.sentence || options.confidence))
    throw UsageError("--by-length", "cannot be combined with --sentence or --confidence");
  if (options.sources.empty() && !options.lengths.empty()) throw UsageError("--lengths", "needs --by-length");
  if ((options.rouge.stem || options.rouge.unicode) &&
      !is([](const std::string& metric) { return metric.starts_with("rouge"); }))
    throw UsageError(options.rouge.stem ? "--stem" : "--all-scripts", "needs --metric rouge");
}

/// "rouge" is all of its kinds.
void expand_rouge(std::vector<std::string>& metrics) {
  const auto at = std::ranges::find(metrics, "rouge");
  if (at == metrics.end()) return;
  const auto begin = metrics.erase(at);
  std::vector<std::string> kinds;
  for (const Rouge kind : kRouges) kinds.emplace_back(name_of(kind));
  metrics.insert(begin, kinds.begin(), kinds.end());
}

void run(const EvaluateOptions& options) {
  check(options);
  std::vector<ScoredSystem> systems;
  for (const std::string& path : options.inputs.empty() ? std::vector<std::string>{""} : options.inputs) {
    systems.push_back({name_of_file(path), read_lines(path), {}});
    if (!options.field.empty()) take_field(systems.back(), options.field);
  }
  Task task{options, {}};
  for (const std::string& path : options.references) task.references.push_back(read_lines(path));
  const auto same_length = [](const ScoredSystem& a, const std::string& b, std::size_t lines) {
    if (a.lines.size() != lines)
      fail<InputError>("evaluate", "each line needs its counterpart: ", a.name, " has ",
                       counted(a.lines.size(), "line"), ", but ", b, " has ", lines);
  };
  for (const ScoredSystem& system : systems) {
    for (std::size_t r = 0; r < task.references.size(); ++r)
      same_length(system, name_of_file(options.references[r]), task.references[r].size());
    if (options.confidence) same_length(system, systems.front().name, systems.front().lines.size());
    if (system.lines.empty()) fail<InputError>("evaluate", system.name, ": is empty");
  }

  std::vector<LengthGroup> groups;
  if (!options.sources.empty()) {
    const Lines sources = read_lines(options.sources);
    for (const ScoredSystem& system : systems) same_length(system, name_of_file(options.sources), sources.size());
    groups = groups_by_length(sources, options.lengths);
  }

  for (ScoredSystem& system : systems) {
    if (!task.references.empty()) warn_about(system);
    if (std::ranges::any_of(options.metrics, is_of_labels)) warn_of_foreign_labels(system, task);
    for (const std::string& metric : options.metrics) system.results.push_back(evaluate(metric, system, task));
  }
  if (options.confidence) add_confidence(systems, options.bootstrap);

  TextWriter out;
  if (options.sentence)
    out.write(options.json ? by_sentence_as_json(systems.front()) : by_sentence(systems.front(), options.digits));
  else if (!options.sources.empty() && options.json)
    for (const ScoredSystem& system : systems) out.write(by_length_as_json(system, groups));
  else if (!options.sources.empty())
    out.write(by_length(systems, groups, options.digits));
  else if (options.json)
    for (const ScoredSystem& system : systems) out.write(as_json(system));
  else
    out.write(systems.size() == 1 ? as_text(systems.front(), options.digits) : as_table(systems, options.digits));
  out.finish();
}

}  // namespace

void add_evaluate(Verb& program) {
  Verb* verb = program.add_subcommand(
      "evaluate",
      "Score translations, labels, log-probabilities or answers in files, or a model that answers questions");
  verb->group(kUseAModel);
  auto options = std::make_shared<EvaluateOptions>();
  verb->add_option("-m,--metric", options->metrics,
                   "Metrics, separated by commas: bleu, chrf, chrf++ (translations), rouge, or one of rouge1, rouge2, "
                   "rougeL, rougeLsum (summaries), accuracy, f1 (labels), perplexity, bits_per_byte (output of "
                   "`attend score --json`)")
      ->type_name("NAME")
      ->delimiter(',')
      ->one_at_a_time()
      ->check(is_one_of({"bleu", "chrf", "chrf++", "rouge", "rouge1", "rouge2", "rougeL", "rougeLsum", "accuracy", "f1",
                         "perplexity", "bits_per_byte"}))
      ->default_text("bleu,chrf");
  verb->add_option("-r,--reference", options->references,
                   "Reference files; several files are several references of the same lines")
      ->type_name("FILE");
  verb->add_option("-i,--input", options->inputs,
                   "Files to score; several files are several systems, shown side by side")
      ->default_text("standard input")
      ->type_name("FILE");
  verb->add_flag("--stem", options->rouge.stem,
                 "rouge: reduce English words to their stems (Porter), as use_stemmer of rouge_score does");
  verb->add_flag("--all-scripts", options->rouge.unicode,
                 "rouge: words have the letters of all scripts; without it only a-z and digits, as in rouge_score");
  verb->add_option("--field", options->field, "The input is JSON lines; take the text under this key")
      ->type_name("KEY");
  verb->add_option("--by-length", options->sources,
                   "Group the lines by the number of words in the lines of this file, the sources")
      ->type_name("FILE");
  verb->add_option("--lengths", options->lengths,
                   "Upper limits of the groups of --by-length; 10,20 gives up to 10, 11 to 20, and above 20")
      ->default_text("five groups of about the same size")
      ->type_name("N,N")
      ->delimiter(',')
      ->check(between(1, 1'000'000));
  verb->add_flag("--sentence", options->sentence, "Print the score of each line");
  verb->add_flag("--confidence", options->confidence,
                 "Add 95 % confidence intervals by bootstrap resampling, and for further systems the p-value of the "
                 "difference from the first");
  verb->add_option("--resamples", options->bootstrap.resamples, "Number of resampled test sets of --confidence")
      ->type_name("N")
      ->check(between(1, 1'000'000));
  verb->add_option("--seed", options->bootstrap.seed, "Random seed of --confidence")->type_name("N");
  verb->add_option("--digits", options->digits, "Number of digits after the decimal point")
      ->type_name("N")
      ->check(between(0, 12));
  verb->add_flag("--json", options->json,
                 "Print one JSON object per system; per line with --sentence, per group with --by-length");
  auto stories = std::make_shared<StoryEvaluationFlags>();
  auto answers = std::make_shared<AnswerEvaluationFlags>();
  constexpr const char* kModels = "A model";
  Flag* model = verb->add_option("--model", stories->model, "Folder of the model")
                    ->type_name("DIR")
                    ->excludes("--input")
                    ->excludes("--reference")
                    ->group(kModels);
  add_adapter_flag(*verb, answers->adapter)->needs(model)->group(kModels);
  Flag* babi = add_paths_flag(*verb, "--stories", stories->data,
                              "Folders with test files of the bAbI tasks: qaN_NAME_test.txt; prints the model's error "
                              "on each task, and the mean")
                   ->type_name("DIR")
                   ->needs(model)
                   ->group(kModels);
  for (const char* other : {"--metric", "--field", "--by-length", "--lengths", "--sentence", "--confidence",
                            "--resamples", "--seed", "--digits"})
    babi->excludes(other);
  verb->add_option("--tasks", stories->tasks, "Tasks of --stories to evaluate, separated by commas")
      ->type_name("N,N")
      ->delimiter(',')
      ->check(kPositive)
      ->default_text("all")
      ->needs(model)
      ->group(kModels);
  Flag* questions = add_paths_flag(*verb, "--answers", answers->files,
                                   "Files in the JSON format of SQuAD 1.1 or 2.0; prints exact match and F1 of the "
                                   "answers of --model or --predictions, in percent");
  for (const char* other :
       {"--stories", "--input", "--reference", "--metric", "--field", "--by-length", "--sentence", "--tasks"})
    questions->excludes(other);
  questions->group(kModels);
  verb->add_option("--predictions", answers->predictions, "Predicted answers, a JSON object: id of the question → text")
      ->type_name("FILE")
      ->needs(questions)
      ->excludes(model)
      ->group(kModels);
  verb->add_option("--save-predictions", answers->save,
                   "Write the model's answers to a file such as --predictions reads")
      ->type_name("FILE")
      ->needs(questions)
      ->needs(model)
      ->group(kModels);
  verb->add_option("--max-answer-tokens", answers->options.max_answer_tokens, "Largest number of tokens in an answer")
      ->type_name("N")
      ->check(kPositive)
      ->needs(questions)
      ->needs(model)
      ->group(kModels);
  add_answer_window_flags(*verb, answers->options.windows, kAnswerWindow);
  for (const char* name : {"--max-tokens", "--overlap"})
    verb->get_option(name)->needs(questions)->needs(model)->group(kModels);
  add_answer_language_flag(*verb, answers->language);
  verb->get_option("--language")->needs(questions)->group(kModels);
  auto replies = std::make_shared<ReplyScoreFlags>();
  Flag* dialogues = add_paths_flag(*verb, "--dialogues", replies->files,
                                   "Dialogues, as `attend train dialogue` reads them; prints the perplexity of the "
                                   "replies under the language model")
                        ->needs(model)
                        ->group(kModels);
  for (const char* other : {"--stories", "--answers", "--metric", "--field", "--by-length", "--lengths", "--sentence",
                            "--confidence", "--resamples", "--seed", "--tasks"})
    dialogues->excludes(other);
  add_turn_separator_flag(*verb, replies->format)->needs(dialogues)->group(kModels);
  verb->footer(
      "Examples:\n"
      "  attend evaluate --reference test.it --input test.out --confidence\n"
      "  attend evaluate --model stories --stories tasks_1-20_v1-2/en\n"
      "  attend evaluate --model answers --answers dev.json --language it --json\n"
      "  attend evaluate --model talker --dialogues held-out.txt\n"
      "  attend evaluate --predictions predictions.json --answers dev.json");
  verb->callback([options, stories, answers, replies] {
    if (!replies->files.empty()) {
      replies->model = stories->model, replies->adapter = answers->adapter;
      replies->json = options->json, replies->digits = options->digits;
      return evaluate_replies(*replies);
    }
    if (!answers->files.empty()) {
      answers->model = stories->model;
      answers->confidence = options->confidence, answers->json = options->json, answers->digits = options->digits;
      answers->bootstrap = options->bootstrap;
      if (answers->model.empty() && answers->predictions.empty())
        throw UsageError("--answers", "needs --model or --predictions");
      return evaluate_paragraph_answers(*answers);
    }
    expand_rouge(options->metrics);
    if (stories->model.empty()) return run(*options);
    if (stories->data.empty()) throw UsageError("--model", "needs --answers, --stories or --dialogues");
    stories->json = options->json;
    evaluate_stories(*stories);
  });
}

}  // namespace attend::cli
