#include "attend/cli/shared/answer_scores.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/evaluate_report.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/wording.h"
#include "attend/explain/page.h"
#include "attend/tasks/question_answering/evaluation.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Article> read_articles(const std::vector<std::filesystem::path>& files) {
  std::vector<Article> all;
  for (const std::filesystem::path& file : files) {
    SquadFile found = read_squad(file);
    for (const std::string& warning : found.warnings()) warn(file.string() + ": " + warning);
    std::ranges::move(found.articles, std::back_inserter(all));
  }
  return all;
}

AnswerPredictions predictions_of(const AnswerEvaluationFlags& flags, const std::vector<Article>& articles) {
  if (flags.model.empty()) return read_predictions(flags.predictions);
  const Answerer answerer(open_model(flags.model, flags.adapter));
  warn_of_weights(flags.model);
  AnswerPredictions predictions = [&] {
    ProgressBar bar("Answering", "questions");
    return predict_answers(answerer, articles, flags.options, bar.progress());
  }();
  if (!flags.save.empty()) {
    TextWriter out(flags.save);
    out.write(as_line(Json(predictions)));
    out.finish();
  }
  return predictions;
}

/// SQuAD's own program gives percent, also as JSON.
double percent_of(double share) { return 100 * share; }

struct Metric {
  std::string key;
  double value = 0;  // in percent, and so is the interval
  std::optional<Confidence> confidence;
};

/// One of the two scores, with its interval if it is wanted.
Metric metric_of(const std::string& key, double value, double AnswerScore::*part, const AnswerEvaluation& found,
                 const AnswerEvaluationFlags& flags) {
  Metric metric{key, percent_of(value), {}};
  if (flags.confidence)
    metric.confidence = bootstrap(
        found.all.questions,
        [&](std::span<const std::uint32_t> sample) {
          double sum = 0;
          for (const std::uint32_t i : sample) sum += found.questions[i].*part;
          return percent_of(sum / static_cast<double>(sample.size()));
        },
        flags.bootstrap);
  return metric;
}

}  // namespace

void evaluate_paragraph_answers(const AnswerEvaluationFlags& flags) {
  const AnswerRules rules = answer_rules(flags.language);
  const std::vector<Article> articles = read_articles(flags.files);
  const AnswerEvaluation found = evaluate_answers(articles, predictions_of(flags, articles), rules);
  warn_of(found.missing, "question", "scored 0, since there is no prediction with its id");
  const Metric metrics[] = {metric_of("exact_match", found.all.exact_match(), &AnswerScore::exact, found, flags),
                            metric_of("f1", found.all.mean_f1(), &AnswerScore::f1, found, flags)};
  const bool both = found.answerable.questions > 0 && found.unanswerable.questions > 0;
  TextWriter out;
  if (flags.json) {
    Json json;
    for (const Metric& metric : metrics) json[metric.key] = metric.value;
    json["total"] = found.all.questions;
    // The names of SQuAD 2.0.
    const auto part = [&](const std::string& name, const AnswerScores& scores) {
      json[name + "_exact"] = percent_of(scores.exact_match()), json[name + "_f1"] = percent_of(scores.mean_f1());
      json[name + "_total"] = scores.questions;
    };
    if (both) part("HasAns", found.answerable), part("NoAns", found.unanswerable);
    for (const Metric& metric : metrics)
      if (metric.confidence)
        json[metric.key + "_details"] = {
            {"confidence", {{"mean", metric.confidence->mean}, {"half_width", metric.confidence->half_width}}}};
    out.write(as_line(json));
  } else {
    const auto shown = [&](double percent) { return fixed(percent, flags.digits) + " %"; };
    for (const Metric& metric : metrics) {
      std::string line = metric.key + " = " + shown(metric.value);
      if (metric.confidence)
        line += text(" (μ = ", fixed(metric.confidence->mean, flags.digits), " ± ",
                     shown(metric.confidence->half_width), ')');
      out.write(line + "\n");
    }
    const auto part = [&](const char* name, const AnswerScores& scores) {
      out.write(text(name, counted(scores.questions, "question"), ": exact_match = ",
                     shown(percent_of(scores.exact_match())), ", f1 = ", shown(percent_of(scores.mean_f1())), '\n'));
    };
    if (both)
      part("with an answer, ", found.answerable), part("without an answer, ", found.unanswerable);
    else
      out.write(counted(found.all.questions, "question") + "\n");
  }
  out.finish();
}

}  // namespace attend::cli
