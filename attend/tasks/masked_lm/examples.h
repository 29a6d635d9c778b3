// Examples for the pre-training of BERT (Devlin et al. 2019, section 3.1). An example is one text, or two texts of
// which the second follows the first or comes from another document. Texts are whole sentences. The sentences stay on
// disk; in memory an example is only the position of its texts.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/data/example_store.h"
#include "attend/tasks/masked_lm/masking.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// The ids of a text without special tokens; begins[i] is the TokenKind of token i.
struct Sentence {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> begins;
};
Sentence to_sentence(const Encoding& encoding);

/// Documents and their sentences in a token store. Each sentence is one entry of the store; an empty entry begins a new
/// document. An id and its TokenKind are stored as one number, see packed(). Memory: 8 bytes per document.
class SentenceStore {
 public:
  SentenceStore() = default;  ///< no documents
  explicit SentenceStore(TokenStore store);

  /// The ids that are written to the token store: 2 · id + 1 for the first token of a word, 2 · id for the others. The
  /// store needs twice the vocabulary of the tokenizer.
  static std::vector<std::int32_t> packed(const Sentence& sentence);

  std::int64_t documents() const { return static_cast<std::int64_t>(begins_.size()); }
  std::int64_t sentences(std::int64_t document) const;
  /// The position of a sentence in the store. The sentences of a document are contiguous.
  TokenRange sentence(std::int64_t document, std::int64_t index) const;
  Sentence read(TokenRange range) const;

 private:
  std::optional<TokenStore> store_;
  std::vector<std::int64_t> begins_;  // of each document, the index of its first sentence in the store
};

/// The input of the model: [CLS] first text [SEP] second text [SEP].
struct PreTrainingExample {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> begins;  ///< the TokenKind of each token
  std::int64_t second = 0;           ///< the index of the first token of the second text; ids.size() if there is none
  std::int32_t random = 0;           ///< 1: the second text is from another document
};

struct ExampleOptions {
  std::int64_t max_tokens = 128;  ///< of an example, including special tokens
  bool next_sentence = true;      ///< examples have two texts; half of the second ones are from another document
  std::int32_t classify = 0, separator = 0;  ///< the ids of [CLS] and [SEP]
  std::uint64_t seed = 1;
};

/// Splits documents into examples of whole sentences. A text never crosses the end of a document. A sentence that is
/// longer than an example is cut. With next_sentence, runs of a single sentence are left out, so there may be no
/// example at all. Memory: 32 bytes per example.
class PreTrainingExamples {
 public:
  PreTrainingExamples() = default;  ///< no examples
  PreTrainingExamples(SentenceStore sentences, const ExampleOptions& options);

  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
  PreTrainingExample operator[](std::int64_t i) const;
  std::vector<std::int32_t> lengths() const;

 private:
  struct Place {
    TokenRange first;
    std::int64_t second = 0;       // the position of the second text in the store
    std::int32_t second_size = 0;  // 0: there is no second text
    std::int32_t random = 0;
  };

  SentenceStore sentences_;
  ExampleOptions options_;
  std::vector<Place> places_;
};

}  // namespace attend
