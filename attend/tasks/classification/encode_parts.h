// Encodes texts for the classifiers of models/text_classifier.h: divides them into the parts that a network reads.
#pragma once
#include <optional>
#include <string_view>

#include "attend/models/text_classifier.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Encodes a text, or with `second` a pair of texts. Encoding::types holds the part of each token, from 0: the text of
/// a pair, or the sentence of a document. Every text has at least one token; the unknown token stands for what is
/// blank. Spans are positions in the text, those of a second text in "text<TAB>second". The limit of the options, or
/// that of the network if it is smaller, is that of all parts together; a pair shares it evenly. Throws InputError for
/// a pair if the network reads single texts, and for a single text if it reads pairs.
Encoding encode_parts(const Tokenizer& tokenizer, const TextClassifier& network, std::string_view text,
                      std::optional<std::string_view> second, const EncodeOptions& options);

}  // namespace attend
