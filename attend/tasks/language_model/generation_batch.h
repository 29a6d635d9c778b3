// The batch scheduler: texts that a language model writes together, where each joins when there is room and leaves when
// it is done, at any step. This is how all texts are written: LanguageModel::generate asks for some from beginning to
// end, a server for whatever comes. What a text becomes does not depend, not even in its last bit, on the others.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/tasks/language_model/language_model.h"
#include "attend/decode/logits.h"

namespace attend {

/// A prompt and what is asked for it, checked. Movable.
class GenerationTask {
 public:
  /// One for each prompt. An empty prompt is the model's start. Throws as LanguageModel::generate.
  static std::vector<GenerationTask> make(const LanguageModel& model, std::vector<std::vector<std::int32_t>> prompts,
                                          const GenerateOptions& options);
  ~GenerationTask();
  GenerationTask(GenerationTask&&) noexcept;
  GenerationTask& operator=(GenerationTask&&) noexcept;

  std::int64_t prompt_tokens() const;
  std::int64_t rows() const;    ///< hypotheses that are written at once
  std::int64_t tokens() const;  ///< that all of them may have in the end, at most

  struct Content;

 private:
  friend class GenerationBatch;
  explicit GenerationTask(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

/// A token as soon as it is said.
struct SaidToken {
  NextWord word;
  std::span<const NextWord> best;  ///< that could have been said, best first
};

/// Who wants to know, called inside step(). What they throw ends the step, and leaves the batch to be cleared.
struct GenerationListener {
  /// Which of the samples, its token, and the text that is settled by now and was not before; pieces join to the text.
  /// At a text's end without a token, if there was text kept back. Not called for beams.
  std::function<void(std::size_t sample, const SaidToken* token, const std::string& text)> said = {};
  std::int64_t alternatives = 0;  ///< of SaidToken::best at least, where there are so many
  std::function<void(std::vector<Generation>&& texts)> done = {};
};

/// Not for several threads at once.
class GenerationBatch {
 public:
  struct Limits {
    std::int64_t rows = 64;   ///< hypotheses that are written at once
    std::int64_t tokens = 0;  ///< of all of them in the end; 0: no limit
  };
  explicit GenerationBatch(LanguageModel model, const Limits& limits);
  ~GenerationBatch();

  using Ticket = std::uint64_t;
  /// Whether it can join now without breaking the limits. An empty batch takes any task.
  bool has_room(const GenerationTask& task) const;
  /// From the next step on.
  Ticket join(GenerationTask task, GenerationListener listener);
  /// Nobody wants this any more. Nothing if it is done.
  void drop(Ticket ticket);
  void clear();

  /// Reads some of the prompts that have joined, which gives each its first token, and then gives all texts one token.
  /// False when there is nothing left to do.
  bool step();

  std::int64_t rows() const;    ///< hypotheses that are being written, or are about to be
  std::int64_t tokens() const;  ///< that they may have in the end

 private:
  struct Running;
  using Group = std::vector<std::unique_ptr<Running>>;
  void slide();
  void read_some();
  void read(Group group);
  void write();
  std::vector<std::int64_t> extend(Group& group, const Tensor& logits);
  void select(std::span<const std::int64_t> rows);

  LanguageModel model_;
  Limits limits_;
  Ticket last_ticket_ = 0;
  Group fresh_;    // to be read
  Group running_;  // their rows, one behind the other, are those of the state
  Gpt2State state_;
};

}  // namespace attend
