// Examples for the pre-training of BERT (Devlin et al. 2019, section 3.1): one or two texts of whole sentences, where
// the second text follows the first, or is from another document. Sentences are on disk; an example in memory is only
// where its texts are.
#pragma once
#include <cstdint>
#include <vector>

#include "attend/data/example_store.h"
#include "attend/tasks/masked_lm/masking.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// A text as ids, without special tokens; begins[i] is the kind of token i (see TokenKind).
struct Sentence {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> begins;
};
Sentence to_sentence(const Encoding& encoding);

/// Documents of sentences. Each is a document of a token store, in which an empty one begins the next document; an id
/// is stored with the kind of its token. Memory: 8 bytes a document.
class SentenceStore {
 public:
  SentenceStore() = default;  ///< no documents
  explicit SentenceStore(TokenStore store);

  /// How sentences are stored: the ids for TokenStoreWriter, which has twice the tokenizer's vocabulary.
  static std::vector<std::int32_t> packed(const Sentence& sentence);

  std::int64_t documents() const { return static_cast<std::int64_t>(begins_.size()); }
  std::int64_t sentences(std::int64_t document) const;
  /// Where a sentence is. The sentences of a document follow each other.
  TokenRange sentence(std::int64_t document, std::int64_t index) const;
  Sentence read(TokenRange range) const;

 private:
  std::optional<TokenStore> store_;
  std::vector<std::int64_t> begins_;  // the store's document that is the first sentence of each
};

/// One or two texts as the model reads them, with the special tokens around them.
struct PreTrainingExample {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> begins;  ///< the kind of each token: see TokenKind
  std::int64_t second = 0;           ///< where the second text begins; the length where there is none
  std::int32_t random = 0;           ///< 1: the second text is from another document
};

struct ExampleOptions {
  std::int64_t max_tokens = 128;  ///< of an example, special tokens included
  bool next_sentence = true;      ///< two texts an example; every other second one is from another document
  std::int32_t classify = 0, separator = 0;
  std::uint64_t seed = 1;
};

/// Documents cut into examples of whole sentences as far as they fit; nothing crosses the end of a document, except for
/// second texts from elsewhere. Sentences longer than an example are cut into several. With next_sentence, what has no
/// second half is left out, so there may be no example. Memory: 32 bytes an example.
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
    std::int64_t second = 0;       // where it begins
    std::int32_t second_size = 0;  // 0: there is none
    std::int32_t random = 0;
  };

  SentenceStore sentences_;
  ExampleOptions options_;
  std::vector<Place> places_;
};

}  // namespace attend
