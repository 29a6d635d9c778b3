#include "attend/cli/shared/training.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/output_folder.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/recipe.h"
#include "attend/core/error.h"
#include "attend/explain/html.h"

namespace attend::cli {
namespace {

std::string text_of(const Scores& scores) {
  std::string text;
  for (const auto& [name, value] : scores) {
    const bool share = name.ends_with("accuracy") || name == "f1";
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    text += (text.empty() ? "" : "  ") + words + " " +
            (share ? fixed(100 * value, 1) + " %" : fixed(value, name.ends_with("loss") ? 3 : 1));
  }
  return text;
}

/// Which model is the best.
std::string best_model(const TrainingState& state) {
  return state.mean.kept ? "the mean of the best " + grouped(state.mean.models) + " models"
                         : "at update " + grouped(state.best_step);
}

/// The learning curve as a page: the losses in one picture, every other score in one of its own.
Page curve_page(const TrainingState& state, const std::string& title) {
  Page page{title, {}};
  page.say("After " + grouped(state.step) + " of " + grouped(state.total_steps) + " updates, " + grouped(state.tokens) +
           " tokens, " + duration(state.seconds) + ". Best so far: " +
           (state.best.empty() ? "not judged yet" : text_of(state.best) + ", " + best_model(state)) + ".");
  LinePlot losses{"loss", "update", "", {{"training", {}, {}}}};
  LinePlot rate{"learning rate", "update", "", {{"learning rate", {}, {}}}};
  std::vector<LinePlot> scores;
  for (const CurvePoint& point : state.curve) {
    const auto step = static_cast<float>(point.step);
    losses.series[0].x.push_back(step), losses.series[0].y.push_back(static_cast<float>(point.loss));
    rate.series[0].x.push_back(step), rate.series[0].y.push_back(static_cast<float>(point.learning_rate));
    for (const auto& [name, value] : point.scores) {
      if (name == "loss") {
        if (losses.series.size() == 1) losses.series.push_back({"validation", {}, {}});
        losses.series[1].x.push_back(step), losses.series[1].y.push_back(static_cast<float>(value));
        continue;
      }
      auto plot = std::ranges::find(scores, name, &LinePlot::title);
      if (plot == scores.end()) plot = scores.insert(plot, {name, "update", "", {{"validation", {}, {}}}});
      plot->series[0].x.push_back(step), plot->series[0].y.push_back(static_cast<float>(value));
    }
  }
  Figure figure{"", {std::move(losses)}};
  for (LinePlot& plot : scores) figure.panels.emplace_back(std::move(plot));
  figure.panels.emplace_back(std::move(rate));
  page.show(std::move(figure));
  return page;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Removes what killed runs were writing (AtomicFile's NAME.part-PROCESS-NUMBER), but not what a living one is.
void remove_leftovers(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> dead;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    int process = 0, number = 0;
    const std::size_t part = name.rfind(".part-");
    if (part == std::string::npos || std::sscanf(name.c_str() + part, ".part-%d-%d", &process, &number) != 2) continue;
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) dead.push_back(entry.path());
  }
  for (const std::filesystem::path& path : dead) std::filesystem::remove(path);
}

}  // namespace

void add_training_flags(CLI::App& verb, TrainingFlags& flags, const std::vector<std::string>& metrics) {
  TrainerOptions& t = flags.trainer;
  flags.verb = &verb;
  add_config_flag(verb, flags.from_recipe);
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  verb.add_option("-o,--output", flags.output, "The model's folder; the checkpoint and the learning curve go there too")
      ->type_name("DIR")
      ->required()
      ->configurable(false);
  verb.add_flag("--resume", flags.resume, "Go on from the folder's checkpoint, if there is one")->configurable(false);
  verb.add_flag("--overwrite", flags.overwrite, "Train anew though the folder holds a model")->configurable(false);
  option("--epochs", t.epochs, "Times through the data", "N")->check(kPositive);
  option("--steps", t.steps, "Updates at most, instead of epochs; 0: by epochs", "N")->check(kNotNegative);
  option("--batch-tokens", flags.batch_tokens, "Tokens of a batch, padding included", "N")->check(kPositive);
  option("--accumulate", t.accumulate, "Batches that make one update", "N")->check(kPositive);
  option("--learning-rate", t.learning_rate, "At its highest", "RATE")->check(kPositive);
  add_choice(verb, "--schedule", t.schedule, kScheduleNames, "How the learning rate falls");
  option("--warmup", t.warmup, "Updates over which the learning rate rises; half of the run at most", "N")
      ->check(kNotNegative);
  option("--weight-decay", t.weight_decay, "Of matrices", "SHARE")->check(kNotNegative);
  option("--clip", t.clip, "The gradient's norm at most; 0: any", "NORM")->check(kNotNegative);
  option("--average", t.average, "Judge and keep a running average of the parameters, with this decay; 0: none",
         "DECAY")
      ->check(between(0.0, 0.99999));
  option("--average-best", t.average_best,
         "At the end, try the mean of the best so many models, and keep it if it is better; 0: none", "N")
      ->check(between(0, 100));
  option("--validate-every", t.judge_every, "Updates between validations; 0: an epoch", "N")->check(kNotNegative);
  option("--patience", t.patience, "Validations in which no score is better before it stops; 0: never", "N")
      ->check(kNotNegative);
  verb.add_option("--metric", t.metric,
                  "The score that decides which model is kept: " + one_of(metrics) + "; otherwise the first")
      ->type_name("NAME")
      ->check(CLI::IsMember(metrics).description(""));
  option("--checkpoint-every", t.checkpoint_seconds, "Seconds between checkpoints", "S")->check(kNotNegative);
  option("--seed", t.seed, "The same seed gives the same model", "N");
  verb.add_flag("--json", flags.json, "Print the summary as one JSON object")->configurable(false);
}

void check_output(const TrainingFlags& flags, const std::string& from) {
  const std::filesystem::path folder = flags.output;
  check_output_folder(folder);
  std::error_code not_there;
  if (!from.empty() && std::filesystem::equivalent(from, folder, not_there))
    fail<InputError>("output", from, ": is both --from and --output; name another folder for the new model");
  if (flags.resume || flags.overwrite) return;
  if (std::filesystem::exists(folder / "checkpoint.safetensors"))
    fail<InputError>("output", flags.output, ": holds a run; add --resume to go on with it, or --overwrite");
  if (std::filesystem::exists(folder / "model.safetensors"))
    fail<InputError>("output", flags.output, ": holds a model; add --overwrite, or name another folder");
}

void check_texts(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (file.empty()) continue;
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(file, unknown);
    if (file == "-" || (std::filesystem::exists(status) && std::filesystem::is_other(status)))
      fail<InputError>("train", file, ": is a stream, but training reads its texts more than once; name a file");
    if (!std::filesystem::exists(status)) fail<InputError>("train", file, ": there is no such file");
    if (std::filesystem::is_directory(status)) fail<InputError>("train", file, ": is a folder, expected a file");
  }
}

void check_validation(const TrainingFlags& flags, bool given) {
  if (given) return;
  const TrainerOptions& t = flags.trainer;
  // Recipes say how to judge for whoever has something to judge by, and a default is nobody's wish.
  const auto wished = [&](const char* name) {
    const CLI::Option* option = flags.verb->get_option(name);
    return option->count() > 0 && !flags.from_recipe.contains(option);
  };
  const auto refuse_if = [](bool asked, const char* name) {
    if (asked) throw CLI::ValidationError(name, "needs --validation, to judge by");
  };
  refuse_if(!t.metric.empty(), "--metric");
  refuse_if(t.average_best > 0, "--average-best");
  refuse_if(t.patience > 0 && wished("--patience"), "--patience");
  refuse_if(t.judge_every > 0 && wished("--validate-every"), "--validate-every");
}

void check_heads(std::int64_t heads, std::int64_t width) {
  if (width % heads != 0)
    throw CLI::ValidationError("--heads",
                               grouped(heads) + " heads do not divide the width, which is " + grouped(width));
}

TrainingResult run_training(Trainee& trainee, TrainingFlags& flags, const std::string& title, const std::string& data,
                            const std::function<void()>& show) {
  TrainerOptions& options = flags.trainer;
  options.output = flags.output;
  options.resume = flags.resume;
  options.fingerprint = data;
  if (flags.resume || flags.overwrite) remove_leftovers(options.output);
  ProgressBar bar("Training", "updates");
  const auto show_curve = [&](const TrainingState& state) {
    write_file(options.output / "curve.html", to_html(curve_page(state, title)));
  };
  std::int64_t tokens = -1;  // at this program's first update: what a resumed run did before counts for no rate
  double seconds = 0;
  std::string reached;  // how far it is; nothing before anything was done
  const auto note = [&](const TrainingState& state) {
    reached = "update " + grouped(state.step) + " of " + grouped(state.total_steps);
  };
  const TrainingObserver observer{
      .stepped =
          [&](const TrainingState& state) {
            if (tokens < 0) {
              tokens = state.tokens;
              seconds = state.seconds;
              bar.go_on_from(state.step - 1);
            }
            note(state);
            const double rate = static_cast<double>(state.tokens - tokens) / std::max(state.seconds - seconds, 1e-9);
            bar.label("Training  loss " + fixed(state.loss, 3) + "  " + grouped(std::llround(rate)) + " tokens/s");
            bar.update(state.step, state.total_steps);
          },
      .judged =
          [&](const TrainingState& state) {
            bar.erase();
            note(state);
            const CurvePoint& point = state.curve.back();
            std::cerr << "epoch " << state.epoch << "  update " << grouped(state.step) << "  training loss "
                      << fixed(point.loss, 3) << "  validation " << text_of(point.scores)
                      << (state.best_step == state.step ? "  (best)" : "") << std::endl;
            if (show) show();
            show_curve(state);
          },
      .saved = [&](const TrainingState&) { write_file(options.output / "recipe.toml", recipe_of(*flags.verb)); }};
  const TrainingResult result = [&] {
    try {
      return train(trainee, options, observer);
    } catch (const Interrupted&) {
      bar.erase();
      std::cerr << "attend: stopped at " << reached << "; --resume goes on" << std::endl;
      throw;
    }
  }();
  bar.erase();
  show_curve(result.state);
  const TrainingState& state = result.state;
  const double loss = state.curve.empty() ? state.loss : state.curve.back().loss;
  if (state.skipped > 0) warn(counted(state.skipped, "update") + " had gradients that were not finite: left out");
  if (flags.resume && reached.empty())
    std::cerr << "The run was over already; more --epochs or --steps go on with it" << std::endl;
  if (flags.json) {
    nlohmann::ordered_json json{{"folder", flags.output},      {"steps", state.step},      {"epochs", state.epoch},
                                {"tokens", state.tokens},      {"seconds", state.seconds}, {"training_loss", loss},
                                {"best_step", state.best_step}};
    for (const auto& [name, value] : state.best) json[name] = value;
    json["averaged_models"] = state.mean.kept ? state.mean.models : 0;
    std::cout << json.dump() << '\n';
    return result;
  }
  std::cout << "Model       " << flags.output << '\n'
            << "Training    " << counted(state.step, "update") << ", " << counted(state.tokens, "token") << ", "
            << duration(state.seconds) << ", loss " << fixed(loss, 3)
            << (result.end == TrainingEnd::no_longer_better ? "; stopped, as it was no longer better\n" : "\n");
  if (!state.best.empty()) std::cout << "Validation  " << text_of(state.best) << ", " << best_model(state) << '\n';
  if (state.mean.models > 0 && !state.mean.kept)
    std::cout << "Mean        of the best " << grouped(state.mean.models) << ": " << text_of(state.mean.scores)
              << ", not better\n";
  std::cout << "Curve       " << (options.output / "curve.html").string() << '\n';
  return result;
}

}  // namespace attend::cli
