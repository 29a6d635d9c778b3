#include "attend/tasks/stories/training.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "attend/core/error.h"
#include "attend/core/folder.h"
#include "attend/core/random.h"
#include "attend/core/wording.h"
#include "attend/data/tokenized_texts.h"
#include "attend/models/registry.h"
#include "attend/tasks/stories/training_task.h"
#include "attend/text/training/train_words.h"
#include "attend/train/run.h"

namespace attend {

const std::vector<std::pair<std::string, StoryArchitecture>> kStoryArchitectureNames = {
    {"memory", StoryArchitecture::memory},
    {"lstm", StoryArchitecture::lstm},
    {"transformer", StoryArchitecture::transformer}};

namespace {

namespace fs = std::filesystem;
using Options = StoryTrainingOptions;

std::int64_t questions_in(const std::vector<Story>& stories) {
  std::int64_t count = 0;
  for (const Story& story : stories) count += std::ssize(story.questions);
  return count;
}

/// The stories of all training files, in two parts.
struct Split {
  std::vector<Story> training, validation;
};

/// Holds out stories of each task, until they have the share of its questions.
Split read_and_split(const std::vector<StoryFiles>& files, const Options& options, const TrainingObserver& observer) {
  Split split;
  std::int64_t without = 0;
  for (const StoryFiles& one : files) {
    std::vector<Story> stories = read_stories(one.train, one.task);
    without += std::erase_if(stories, [](const Story& story) { return story.questions.empty(); });
    const auto wanted = std::llround(options.validation * static_cast<double>(questions_in(stories)));
    std::int64_t held = 0;
    for (const std::int64_t i :
         shuffled(std::ssize(stories), {options.trainer.seed, static_cast<std::uint64_t>(one.task)})) {
      Story& story = stories[static_cast<std::size_t>(i)];
      const bool hold = held < wanted;
      if (hold) held += std::ssize(story.questions);
      (hold ? split.validation : split.training).push_back(std::move(story));
    }
  }
  if (without > 0)
    observer.warn(grouped(without) + (without == 1
                                          ? " story of the training files has no question, and is left out"
                                          : " stories of the training files have no question, and are left out"));
  if (split.training.empty())
    fail<InputError>("stories", "all stories are held out for validation; use a smaller share than ",
                     options.validation);
  return split;
}

Tokenizer make_tokenizer(const std::vector<Story>& stories) {
  std::vector<std::string> lines;
  for (const Story& story : stories) {
    for (const std::string& sentence : story.sentences) lines.push_back(without_end_mark(sentence));
    for (const StoryQuestion& question : story.questions) {
      lines.push_back(without_end_mark(question.question));
      for (const std::string& word : question.answer) lines.push_back(word);
    }
  }
  return train_words(
      [&, at = std::size_t{0}](std::string& line) mutable {
        if (at == lines.size()) return false;
        line = lines[at++];
        return true;
      },
      {.lowercase = true, .append_eos = false});
}

/// All answers of the training questions, sorted.
std::vector<std::string> answers_of(const std::vector<Story>& stories) {
  std::set<std::string> all;
  for (const Story& story : stories)
    for (const StoryQuestion& question : story.questions) all.insert(joined_answer(question.answer));
  return {all.begin(), all.end()};
}

/// The word of each answer, or a row of its own behind all words.
std::vector<std::int64_t> rows_of(const std::vector<std::string>& answers, const Tokenizer& tokenizer) {
  std::vector<std::int64_t> rows;
  std::int64_t next = tokenizer.size();
  for (const std::string& answer : answers) {
    const std::vector<std::int32_t> ids = tokenizer.ids(answer);
    rows.push_back(ids.size() == 1 && ids.front() != tokenizer.special().unknown ? ids.front() : next++);
  }
  return rows;
}

struct Prepared {
  std::shared_ptr<Model> model;
  TrainableStoryNetwork trainable;
};

template <typename M>
Prepared prepared(const std::shared_ptr<M>& model, const Tokenizer& tokenizer, std::int64_t memory) {
  train_parameters(*model);
  const StoryNetwork network = story_network(model, tokenizer, memory);
  return {model,
          {.parameters = parameters(*model),
           .network = network,
           .set_linear = [](bool) {},
           .save = [model, tokenizer,
                    network](const fs::path& folder) { save_story_model(*model, tokenizer, network, folder); }}};
}

Prepared new_network(const Options& options, const Tokenizer& tokenizer, const std::vector<std::string>& answers) {
  Generator generator(options.trainer.seed);
  switch (options.architecture) {
    case StoryArchitecture::lstm: {
      RecurrentClassifierOptions o = options.lstm;
      o.vocabulary = tokenizer.size(), o.labels = answers;
      return prepared(std::make_shared<RecurrentClassifier>(o, generator), tokenizer, options.memory);
    }
    case StoryArchitecture::transformer: {
      BertOptions o = options.transformer;
      o.head = BertHead::sequence_classification, o.vocabulary = tokenizer.size(), o.labels = answers;
      o.padding = tokenizer.special().padding.value_or(0);
      return prepared(std::make_shared<Bert>(o, generator), tokenizer, options.memory);
    }
    case StoryArchitecture::memory:
      break;
  }
  MemoryNetworkOptions o = options.model;
  o.vocabulary = tokenizer.size(), o.memory = options.memory;
  o.answers = answers, o.answer_rows = rows_of(answers, tokenizer);
  const auto model = std::make_shared<MemoryNetwork>(o, generator);
  Prepared made = prepared(model, tokenizer, options.memory);
  made.trainable.set_linear = [model](bool on) { model->options.linear = on; };
  return made;
}

StorySet encoded(const std::vector<Story>& stories, const StoryNetwork& network, const Tokenizer& tokenizer) {
  StorySet set(tokenizer, network.answers, network.memory);
  for (const Story& story : stories) set.add(story);
  return set;
}

/// The epochs of a memory network's linear start: at most half of the run, so that the saved network was trained with
/// its softmax.
std::int64_t linear_epochs_of(const Options& options, std::int64_t batches_per_epoch) {
  if (options.architecture != StoryArchitecture::memory) return 0;
  const TrainerOptions& trainer = options.trainer;
  const std::int64_t epochs =
      trainer.steps > 0 ? trainer.steps * trainer.accumulate / batches_per_epoch : trainer.epochs;
  return std::min(options.linear_epochs, epochs / 2);
}

/// Trains the networks of all restarts after the first, and replaces the model in the output folder by the best one.
/// `train_one` trains a network with these options. If the questions are held out, a network that answers all of them
/// is the last one: others could not be seen to be better.
void restart(const Options& options, TrainingResult& result, const StorySet& questions, const Tokenizer& tokenizer,
             bool held_out, const TrainingObserver& observer,
             const std::function<TrainingResult(const Options&)>& train_one) {
  const fs::path& output = options.trainer.output;
  const auto network_in = [&](const fs::path& folder) {
    return story_network(ModelFolder(folder).load(), tokenizer, options.memory);
  };
  StoryEvaluation best = evaluate(network_in(output), questions);
  for (std::int64_t i = 2; i <= options.restarts; ++i) {
    if (held_out && mean_error(best.tasks) == 0) break;
    observer.info("restart " + std::to_string(i) + " of " + std::to_string(options.restarts));
    Options again = options;
    again.trainer.output = output / ("restart-" + std::to_string(i));
    again.trainer.seed = philox({options.trainer.seed, 0}, static_cast<std::uint64_t>(i))[0];
    const TrainingResult other = train_one(again);
    const StoryNetwork network = network_in(again.trainer.output);
    StoryEvaluation found = evaluate(network, questions);
    if (found.loss >= best.loss) continue;
    best = std::move(found), result = other;
    FolderUpdate update(output);
    save_story_model(*ModelFolder(again.trainer.output).load(), tokenizer, network, update.stage());
    update.commit();
  }
}

}  // namespace

StoryTrainingResult train_stories(const Options& options, const TrainingObserver& observer) {
  if (options.validation < 0 || options.validation >= 1)
    fail<InputError>("stories", "the share for validation is from 0 to below 1: got ", options.validation);
  const std::vector<StoryFiles> files = choose_tasks(find_story_files(options.data), options.tasks);
  std::vector<fs::path> paths;
  for (const StoryFiles& one : files) paths.push_back(one.train);
  const auto folder = check_run(options.trainer, {}, paths, observer);
  const Split split = read_and_split(files, options, observer);
  const Tokenizer tokenizer = make_tokenizer(split.training);
  const std::vector<std::string> answers = answers_of(split.training);
  if (answers.size() < 2)
    fail<InputError>("stories", "all questions have the answer \"", answers.front(), "\", expected different answers");
  const Prepared sample = new_network(options, tokenizer, answers);
  const StoryNetwork& network = sample.trainable.network;
  const StorySet training = encoded(split.training, network, tokenizer),
                 validation = encoded(split.validation, network, tokenizer);
  std::int64_t count = 0;
  for (const NamedTensor& one : sample.trainable.parameters) count += one.tensor.numel();
  observer.info(counted(std::ssize(files), "task") + ", " + counted(training.size(), "question") + ", " +
                grouped(validation.size()) + " for validation, " + counted(tokenizer.size(), "word") + ", " +
                counted(std::ssize(answers), "answer") + ", " + grouped(count) + " parameters");

  const auto train_one = [&](Options o) {
    const BatchOptions batches{
        .max_tokens = o.batch_tokens, .max_sequences = o.batch, .seed = o.trainer.seed, .pool = o.batch};
    o.linear_epochs = linear_epochs_of(o, BatchSampler(training.lengths(), batches).batches());
    Prepared made = new_network(o, tokenizer, answers);
    TrainerOptions trainer = o.trainer;
    if (trainer.output == options.trainer.output) trainer.folder = folder;
    trainer.fingerprint =
        run_fingerprint(o, {.model = made.model->config().dump(), .tokenizer = fingerprint(tokenizer), .files = paths});
    StoryTrainingTask task(std::move(made.trainable), training, validation,
                           {.time_noise = o.time_noise, .linear_epochs = o.linear_epochs, .batches = batches});
    return train(task, trainer, observer);
  };
  StoryTrainingResult result{.training = train_one(options), .validation = {}, .test = {}};
  if (options.restarts > 1)
    restart(options, result.training, validation.size() > 0 ? validation : training, tokenizer, validation.size() > 0,
            observer, train_one);

  const StoryReader reader(options.trainer.output);
  if (!split.validation.empty()) result.validation = reader.evaluate(split.validation);
  for (const StoryFiles& one : files)
    if (!one.test.empty()) result.test.push_back(reader.evaluate(read_stories(one.test, one.task)).front());
  return result;
}

}  // namespace attend
