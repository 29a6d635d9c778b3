// BERT's pre-training (Devlin et al. 2019, section 3.1): say the words that are hidden, and whether one text follows
// another.
#pragma once
#include <string>
#include <vector>

#include "attend/models/bert.h"
#include "attend/text/tokenizer.h"
#include "attend/train/sampled_trainee.h"

namespace attend {

/// A sentence as ids, without special tokens; begins[i] is 1 where a word begins.
struct Sentence {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> begins;
};
/// Sentences that belong together, in their order.
using Document = std::vector<Sentence>;
Sentence to_sentence(const Encoding& encoding);

/// One or two texts as the model reads them, with the special tokens around them.
struct PreTrainingExample {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> begins;  ///< 1: a word begins; special tokens have 2, and are never hidden
  std::int64_t second = 0;           ///< where the second text begins; the length where there is none
  std::int32_t random = 0;           ///< 1: the second text is from elsewhere
};

struct ExampleOptions {
  std::int64_t max_tokens = 128;  ///< of an example, special tokens included
  bool next_sentence = true;      ///< two texts an example, of which every other second one is from another document
  std::int32_t classify = 0, separator = 0;
  std::uint64_t seed = 1;
};
/// Documents cut into examples of whole sentences as far as they fit; nothing crosses a document's end, but for the
/// second texts that are from elsewhere. Sentences longer than an example are cut into several. With next_sentence,
/// what has no second half is left out, so there may be none.
std::vector<PreTrainingExample> make_examples(const std::vector<Document>& documents, const ExampleOptions& options);

struct MaskingOptions {
  float share = 0.15f;                   ///< of the tokens that are to be said
  float masked = 0.8f;                   ///< of those, become the mask
  float random = 0.1f;                   ///< of those, become any word; the rest stay
  bool whole_words = false;              ///< all pieces of a word, or none
  std::int32_t mask = 0;                 ///< its id
  std::vector<std::int32_t> words = {};  ///< the ids that a random word is drawn from
};
/// What was hidden of some ids, which are changed in place.
struct Hidden {
  std::vector<std::int32_t> places, words;  ///< where, and what stood there
};
/// At least one token is hidden where there is any that may be. The key alone decides which.
Hidden hide(std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& begins, const MaskingOptions& options,
            PhiloxKey key);

struct PreTrainingOptions {
  MaskingOptions masking;
  BatchOptions batches = {};
};

class PreTrainee : public SampledTrainee {
 public:
  /// The model has the head for hidden words, or that for pre-training; its parameters are leaves of the tape. Throws
  /// InputError when there are no examples to train on.
  PreTrainee(const Bert& model, std::vector<NamedTensor> parameters, SaveModel save,
             std::vector<PreTrainingExample> training, std::vector<PreTrainingExample> validation,
             PreTrainingOptions options);

  /// What is hidden is drawn anew each time.
  Loss next() override;
  /// "loss", of both together; "word_loss" and "word_accuracy" of hidden words; with next sentences "next_loss" and
  /// "next_accuracy". Nothing when there are no texts to judge by. The same words are hidden each time.
  Scores judge() override;

 private:
  struct Batch {
    BertInput input;
    Tensor rows, words, random;
  };
  Batch make_batch(const std::vector<PreTrainingExample>& from, std::span<const std::int64_t> chosen,
                   PhiloxKey key) const;
  bool next_sentence() const { return model_.options.head == BertHead::pre_training; }

  const Bert& model_;
  std::vector<PreTrainingExample> training_, validation_;
  PreTrainingOptions options_;
};

}  // namespace attend
