// The training task of dialogue models. A batch is whole dialogues; the tokens of the replies are predicted, or all
// tokens. train_dialogues() (attend/tasks/dialogue/training.h) makes a task from files.
#pragma once
#include <functional>
#include <vector>

#include "attend/data/example_store.h"
#include "attend/train/sampled_training_task.h"

namespace attend {

/// The tokens that are learned.
enum class LossOn : std::uint8_t {
  replies,  ///< those of the assistant, with the token that ends each reply
  all,      ///< all but the first
};

/// The fields of an example: the ids of a dialogue; where each reply begins and ends among them; and one number if the
/// beginning of the dialogue was cut.
inline constexpr std::int64_t kDialogueField = 0, kReplyField = 1, kCutDialogueField = 2, kDialogueFields = 3;

/// The functions of a language model that training needs.
struct TrainableDialogueModel {
  std::vector<NamedTensor> parameters;  ///< leaves of the tape
  /// The logits of the token after each of the chosen places.   ids int32 [B, T], places int32 [N] in B · T -> [N, V]
  std::function<Tensor(const Tensor& ids, const Tensor& places)> logits;
  SaveModel save;
};

/// Dialogues in a batch.
struct DialogueBatch {
  Tensor ids;               ///< int32 [B, T], without the last token of each dialogue
  Tensor places;            ///< int32 [N]: the places b · T + t whose next token is learned
  Tensor targets;           ///< int32 [N]: these tokens
  std::int64_t tokens = 0;  ///< of all dialogues
};
DialogueBatch dialogue_batch(const ExampleStore& dialogues, std::span<const std::int64_t> chosen, LossOn loss_on);

struct DialogueTrainingTaskOptions {
  LossOn loss_on = LossOn::replies;
  BatchOptions batches = {};
};

class DialogueTrainingTask : public SampledTrainingTask {
 public:
  DialogueTrainingTask(TrainableDialogueModel model, ExampleStore training, ExampleStore validation,
                       const DialogueTrainingTaskOptions& options);

  Loss next() override { return loss_of(dialogue_batch(training_, choose(), options_.loss_on)); }
  /// "loss" and "perplexity" per token of the replies, whatever is learned.
  Scores evaluate() override;

 private:
  Loss loss_of(const DialogueBatch& batch) const;

  TrainableDialogueModel model_;
  ExampleStore training_, validation_;
  DialogueTrainingTaskOptions options_;
};

}  // namespace attend
