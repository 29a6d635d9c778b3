#include "attend/cli/shared/training.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/recipe.h"
#include "attend/core/file.h"
#include "attend/explain/html.h"
#include "attend/text/printable.h"

namespace attend::cli {
namespace {

std::string text_of(const Scores& scores) {
  std::string text;
  for (const auto& [name, value] : scores) {
    const bool share = name.ends_with("accuracy") || name == "f1" || name == "exact_match";
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    text += (text.empty() ? "" : "  ") + words + " " +
            (share ? fixed(100 * value, 1) + " %" : fixed(value, name.ends_with("loss") ? 3 : 1));
  }
  return text;
}

/// Describes the best model.
std::string best_model(const TrainingState& state) {
  return state.mean.kept ? "the mean of the best " + grouped(state.mean.models) + " models"
                         : "at update " + grouped(state.best_step);
}

/// The learning curve as a page: the losses in one figure, every other score in a figure of its own.
Page curve_page(const TrainingState& state, const std::string& title) {
  Page page{title, {}};
  page.say("After " + grouped(state.step) + " of " + grouped(state.total_steps) + " updates, " + grouped(state.tokens) +
           " tokens, " + duration(state.seconds) + ". Best so far: " +
           (state.best.empty() ? "not evaluated yet" : text_of(state.best) + ", " + best_model(state)) + ".");
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

/// Shows the preparation of the data and the updates, prints each evaluation, and writes curve.html and recipe.toml.
class Display {
 public:
  Display(const TrainingFlags& flags, std::string title) : flags_(flags), title_(std::move(title)) {}

  TrainingObserver observer() {
    TrainingObserver observer;
    observer.stepped = [this](const TrainingState& state) { step(state); };
    observer.evaluated = [this](const TrainingState& state) { evaluate(state); };
    observer.saved = [this](const TrainingState&) {
      write_file(flags_.trainer->output / "recipe.toml", recipe_of(*flags_.verb));
    };
    observer.prepared = [this](const std::string& stage, const std::string& unit, std::int64_t done,
                               std::int64_t total) { bar(stage, unit).update(done, total); };
    observer.message = [this](const std::string& line) {
      erase();
      std::cerr << printable(line) << std::endl;
    };
    observer.warning = [this](const std::string& line) {
      erase();
      warn(line);
    };
    observer.sampled = [](const std::string& text) {
      std::cerr << "  | ";
      for (const char c : printable(text)) std::cerr << (c == '\n' ? "\n  | " : std::string(1, c));
      std::cerr << std::endl;
    };
    observer.uninterrupted = [this](const std::function<void()>& work) {
      const StopAtOnce at_once;
      work();
      erase();
    };
    return observer;
  }

  void show_curve(const TrainingState& state) const {
    write_file(flags_.trainer->output / "curve.html", to_html(curve_page(state, title_)));
  }
  void erase() { bar_.reset(); }
  const std::string& reached() const { return reached_; }

 private:
  void step(const TrainingState& state) {
    if (tokens_ < 0) {
      tokens_ = state.tokens, seconds_ = state.seconds;
      bar("Training", "updates").go_on_from(state.step - 1);
    }
    note(state);
    const double rate = static_cast<double>(state.tokens - tokens_) / std::max(state.seconds - seconds_, 1e-9);
    ProgressBar& bar = this->bar("Training", "updates");
    bar.label("Training  loss " + fixed(state.loss, 3) + "  " + grouped(std::llround(rate)) + " tokens/s");
    bar.update(state.step, state.total_steps);
  }

  void evaluate(const TrainingState& state) {
    if (bar_) bar_->erase();
    note(state);
    const CurvePoint& point = state.curve.back();
    std::cerr << "epoch " << state.epoch << "  update " << grouped(state.step) << "  training loss "
              << fixed(point.loss, 3) << "  validation " << text_of(point.scores)
              << (state.best_step == state.step ? "  (best)" : "") << std::endl;
    show_curve(state);
  }

  void note(const TrainingState& state) {
    reached_ = "update " + grouped(state.step) + " of " + grouped(state.total_steps);
  }

  /// The bar of a stage; a new one when another stage begins.
  ProgressBar& bar(const std::string& stage, const std::string& unit) {
    if (!bar_ || stage_ != stage) {
      bar_.reset();
      bar_.emplace(stage, unit);
      stage_ = stage;
    }
    return *bar_;
  }

  const TrainingFlags& flags_;
  std::string title_;
  std::optional<ProgressBar> bar_;
  std::string stage_;
  std::int64_t tokens_ =
      -1;  // at the first update of this process; tokens from before --resume do not count for the speed
  double seconds_ = 0;
  std::string reached_;  // "update 3 of 100"; empty before the first update
};

void print_summary(const TrainingFlags& flags, const TrainingResult& result) {
  const TrainingState& state = result.state;
  const std::string folder = flags.trainer->output.string();
  const double loss = state.curve.empty() ? state.loss : state.curve.back().loss;
  if (flags.json) {
    nlohmann::ordered_json json{
        {"folder", folder},         {"steps", state.step},   {"epochs", state.epoch},       {"tokens", state.tokens},
        {"seconds", state.seconds}, {"training_loss", loss}, {"best_step", state.best_step}};
    for (const auto& [name, value] : state.best) json[name] = value;
    json["averaged_models"] = state.mean.kept ? state.mean.models : 0;
    for (const auto& [name, value] : result.test) json["test"][name] = value;
    std::cout << as_line(json);
    return;
  }
  std::cout << "Model       " << folder << '\n'
            << "Training    " << counted(state.step, "update") << ", " << counted(state.tokens, "token") << ", "
            << duration(state.seconds) << ", loss " << fixed(loss, 3)
            << (result.end == TrainingEnd::stopped_early ? "; stopped early, since the score no longer improved\n"
                                                         : "\n");
  if (!state.best.empty()) std::cout << "Validation  " << text_of(state.best) << ", " << best_model(state) << '\n';
  if (state.mean.models > 0 && !state.mean.kept)
    std::cout << "Mean        of the best " << grouped(state.mean.models) << ": " << text_of(state.mean.scores)
              << ", not better\n";
  std::cout << "Curve       " << (flags.trainer->output / "curve.html").string() << '\n';
}

}  // namespace

Flag* add_path_flag(Verb& verb, const std::string& name, std::filesystem::path& path, const std::string& help,
                    const char* type) {
  return verb
      .add_option_function<std::string>(
          name, [&path](const std::string& given) { path = given; }, help)
      ->type_name(type);
}

Flag* add_paths_flag(Verb& verb, const std::string& name, std::vector<std::filesystem::path>& paths,
                     const std::string& help) {
  return verb
      .add_option_function<std::vector<std::string>>(
          name, [&paths](const std::vector<std::string>& given) { paths.assign(given.begin(), given.end()); }, help)
      ->type_name("FILE");
}

namespace {

/// batch_tokens: null for generated data.
void add_flags(Verb& verb, TrainingFlags& flags, TrainerOptions& t, std::int64_t* batch_tokens,
               const std::vector<std::string>& metrics) {
  flags.verb = &verb, flags.trainer = &t;
  add_config_flag(verb, flags.from_recipe);
  const auto option = [&](const char* name, auto& value, const char* help, const char* type) {
    return verb.add_option(name, value, help)->type_name(type);
  };
  add_path_flag(verb, "-o,--output", t.output, "Folder for the model, its checkpoint and its learning curve", "DIR")
      ->required()
      ->configurable(false);
  verb.add_flag("--resume", t.resume, "Continue from the checkpoint in the folder, if there is one")
      ->configurable(false);
  verb.add_flag("--overwrite", t.overwrite, "Replace a model or a checkpoint that is in the folder")
      ->configurable(false);
  if (batch_tokens) {
    option("--epochs", t.epochs, "Number of passes over the training data", "N")->check(kPositive);
    option("--steps", t.steps, "Number of updates, instead of --epochs; 0 means --epochs decides", "N")
        ->check(kNotNegative);
    option("--batch-tokens", *batch_tokens, "Largest number of tokens in a batch, padding included", "N")
        ->check(kPositive);
  } else {
    option("--steps", t.steps, "Number of updates; 0 means that the task decides", "N")->check(kNotNegative);
  }
  option("--accumulate", t.accumulate, "Number of batches whose gradients are summed for one update", "N")
      ->check(kPositive);
  if (batch_tokens)
    verb.add_flag("--recompute", t.recompute,
                  "Compute each Transformer layer again in the backward pass: takes less memory and a third more time");
  option("--learning-rate", t.learning_rate, "Highest learning rate, reached after the warm-up", "RATE")
      ->check(kPositive);
  add_choice(verb, "--schedule", t.schedule, kScheduleNames, "How the learning rate falls after the warm-up");
  option("--warmup", t.warmup, "Number of updates over which the learning rate rises; at most half of the run is used",
         "N")
      ->check(kNotNegative);
  option("--adam-epsilon", t.epsilon,
         "Epsilon of Adam; with a large one, such as 0.1, updates are nearly proportional to the gradients", "X")
      ->check(kPositive);
  option("--weight-decay", t.weight_decay, "Weight decay; applies to matrices only", "RATE")->check(kNotNegative);
  option("--clip", t.clip, "Scale gradients down to this norm; 0 disables it", "NORM")->check(kNotNegative);
  option("--average", t.average,
         "Keep a moving average of the parameters with this decay, and evaluate and save it; 0 disables it", "DECAY")
      ->check(between(0.0, 0.99999));
  option("--average-best", t.average_best,
         "At the end, average the N best models, and keep the average if it scores better; 0 disables it", "N")
      ->check(between(0, 100));
  option("--validate-every", t.evaluate_every, "Number of updates between two validations; 0 means one epoch", "N")
      ->check(kNotNegative);
  option("--patience", t.patience, "Stop after N validations without a better score; 0 disables it", "N")
      ->check(kNotNegative);
  verb.add_option("--metric", t.metric, "Validation score that decides which model is kept: " + one_of(metrics))
      ->type_name("NAME")
      ->check(is_one_of(metrics))
      ->default_text(metrics.front());
  option("--checkpoint-every", t.checkpoint_seconds, "Seconds between two checkpoints", "S")->check(kNotNegative);
  option("--seed", t.seed, "Random seed; the same seed gives the same model", "N");
  verb.add_flag("--json", flags.json, "Print the summary as one JSON object")->configurable(false);
}

}  // namespace

void add_training_flags(Verb& verb, TrainingFlags& flags, TrainerOptions& options, std::int64_t& batch_tokens,
                        const std::vector<std::string>& metrics) {
  add_flags(verb, flags, options, &batch_tokens, metrics);
}
void add_training_flags(Verb& verb, TrainingFlags& flags, TrainerOptions& options,
                        const std::vector<std::string>& metrics) {
  add_flags(verb, flags, options, nullptr, metrics);
}

void add_lora_flags(Verb& verb, LoraOptions& options) {
  Flag* lora = verb.add_option("--lora", options.rank,
                               "Train low-rank adapters of this rank (LoRA) and keep the weights as they are; saves an "
                               "adapter in the format of PEFT, which --model takes");
  lora->type_name("RANK")->check(kPositive)->default_value("")->default_text("train all weights");
  verb.add_option("--lora-alpha", options.alpha, "Adapters are multiplied by this number and divided by their rank")
      ->type_name("ALPHA")
      ->check(kPositive)
      ->needs(lora);
  verb.add_option("--lora-dropout", options.dropout, "Dropout probability on the input of the adapters")
      ->type_name("P")
      ->check(between(0.0, 0.99))
      ->needs(lora);
  verb.add_option("--lora-targets", options.targets,
                  "Endings of the names of the linear layers to adapt, such as q_proj,v_proj, or all-linear")
      ->type_name("NAMES")
      ->delimiter(',')
      ->default_text("the queries and values of attention")
      ->needs(lora);
}

void check_validation(const TrainingFlags& flags, bool given, const std::string& needed) {
  if (given) return;
  const TrainerOptions& t = *flags.trainer;
  // Recipes may set flags of validation for users who have validation data, and defaults are not the user's choice.
  const auto chosen = [&](const char* name) {
    const Flag* option = flags.verb->get_option(name);
    return option->given() && !flags.from_recipe.contains(option);
  };
  const auto refuse_if = [&](bool asked, const char* name) {
    if (asked) throw UsageError(name, "needs " + needed);
  };
  refuse_if(!t.metric.empty(), "--metric");
  refuse_if(t.average_best > 0, "--average-best");
  refuse_if(t.patience > 0 && chosen("--patience"), "--patience");
  refuse_if(t.evaluate_every > 0 && chosen("--validate-every"), "--validate-every");
}

void check_heads(std::int64_t heads, std::int64_t width) {
  if (width % heads != 0)
    throw UsageError("--heads", grouped(heads) + " heads do not divide the width, which is " + grouped(width));
}

void run_training(const TrainingFlags& flags, const std::string& title,
                  const std::function<TrainingResult(const TrainingObserver&)>& training) {
  Display display(flags, title);
  const TrainingResult result = [&] {
    try {
      return training(display.observer());
    } catch (const Interrupted&) {
      display.erase();
      if (!display.reached().empty())
        std::cerr << "attend: stopped at " << display.reached() << "; to continue, repeat the command"
                  << (flags.trainer->resume ? "" : " with --resume") << std::endl;
      throw;
    }
  }();
  display.erase();
  display.show_curve(result.state);
  if (result.state.skipped > 0)
    warn("skipped " + counted(result.state.skipped, "update") + " with gradients that were not finite");
  if (flags.trainer->resume && display.reached().empty())
    std::cerr << "The run was already finished; to continue it, raise --epochs or --steps" << std::endl;
  print_summary(flags, result);
}

}  // namespace attend::cli
