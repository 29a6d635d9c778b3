// attend score: the log-probability and perplexity of texts under a language model.
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/explain/page.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreFlags {
  LineFlags lines;
  LikelihoodOptions options;
  bool whole = false;
};

std::string json_line(const LanguageModel& model, const std::string& text, const TextLikelihood& scored) {
  Json tokens = Json::array(), logprobs = Json::array();
  for (const std::int32_t id : scored.ids) tokens.push_back(model.tokenizer().token(id));
  const Likelihood own = likelihood_of(text, scored);
  for (const double logprob : scored.logprobs) logprobs.push_back(std::isnan(logprob) ? Json() : Json(logprob));
  Json json{{"text", text},
            {"tokens", std::move(tokens)},
            {"ids", scored.ids},
            {"logprobs", std::move(logprobs)},
            {"logprob", scored.logprob},
            {"perplexity", own.tokens > 0 ? Json(own.perplexity()) : Json()}};
  if (scored.windows > 1) json["windows"] = scored.windows;
  return as_line(json);
}

class Scorer {
 public:
  explicit Scorer(const ScoreFlags& flags)
      : flags_(flags),
        model_(open_language_model(flags.lines.model, flags.lines.adapter)),
        writer_(flags.lines.output) {}

  void score(const std::vector<std::string>& texts) {
    const std::vector<TextLikelihood> scored = model_.score(texts, flags_.options);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Likelihood own = likelihood_of(texts[i], scored[i]);
      all_ += own, ++texts_, unscored_ += own.tokens == 0, long_ += scored[i].windows > 1,
          invalid_ += scored[i].invalid > 0;
      writer_.write(flags_.lines.json
                        ? json_line(model_, texts[i], scored[i])
                        : fixed(own.logprob, 4) + "\t" + (own.tokens > 0 ? fixed(own.perplexity(), 2) : "") + "\n");
    }
    writer_.flush();
  }
  void finish() {
    writer_.finish();
    if (long_ > 0)
      warn("texts longer than the model's context, read in windows that overlap by half: " + grouped(long_));
    if (unscored_ > 0)
      warn(counted(unscored_, "text") +
           (unscored_ == 1 ? " has no perplexity: it has" : " have no perplexity: they have") +
           " no token with a probability");
    if (invalid_ > 0) warn("texts with invalid UTF-8, which was replaced: " + grouped(invalid_));
    if (all_.tokens == 0) return;
    std::cerr << "perplexity " << fixed(all_.perplexity(), 3) << "  loss " << fixed(std::log(all_.perplexity()), 4)
              << "  bits per byte " << fixed(all_.bits_per_byte(), 4) << "  " << grouped(all_.tokens) << " tokens of "
              << grouped(texts_) << (texts_ == 1 ? " text" : " texts") << '\n';
  }

 private:
  const ScoreFlags& flags_;
  LanguageModel model_;
  TextWriter writer_;
  Likelihood all_;
  std::int64_t texts_ = 0, unscored_ = 0, long_ = 0, invalid_ = 0;
};

void run(const ScoreFlags& flags) {
  constexpr std::size_t kLines = 256;  // between two updates of the progress bar
  Scorer scorer(flags);
  if (flags.whole) {
    LineReader reader(flags.lines.input);
    std::string text;
    for (std::string line; reader.next(line);) text += line + "\n";
    if (reader.lines_read() > 0) scorer.score({text});
  } else {
    for_text_blocks(
        flags.lines, "Scoring",
        [&](const std::vector<std::string>& texts, const Progress& /*progress*/) { scorer.score(texts); }, kLines);
  }
  scorer.finish();
}

}  // namespace

void add_score(Verb& program) {
  Verb* verb = program.add_subcommand("score", "Compute log-probability and perplexity of texts");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ScoreFlags>();
  add_line_flags(*verb, flags->lines);
  verb->add_flag("--whole", flags->whole, "Score all lines together as one text")->excludes("text");
  verb->add_flag("--start", flags->options.start,
                 "Put the start token of the model before each text, so that the first token has a probability too");
  verb->add_option("--batch-tokens", flags->options.batch_tokens, "Largest number of tokens in a batch")
      ->type_name("N")
      ->check(kPositive);
  verb->add_flag("--json", flags->lines.json,
                 "Print one JSON object per text: text, tokens, ids, logprobs, logprob, perplexity. Without --start, "
                 "the first log-probability is null");
  verb->footer(
      "Prints log-probability (natural logarithm), tab, perplexity for each text. The perplexity of all texts follows "
      "on\n"
      "standard error.\n"
      "Examples:\n"
      "  attend score --model gpt2 'The cat sat on the mat.' 'The mat sat on the cat.'\n"
      "  attend score --model gpt2 --input chapter.txt --whole");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
