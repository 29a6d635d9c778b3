// Splits texts into sentences, for models that were trained on single sentences.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

/// The sentences of a text, in order. Only white space is outside of sentences, so the text can be put together again
/// after a translation. A text of white space has no sentences.
///
/// A sentence ends at . ! ? … and similar marks of other scripts, including closing quotes and brackets after them, and
/// at the end of a line. A full stop does not end a sentence inside a word (3.14, example.com, S.p.A.), after an
/// initial or an abbreviation (Dr., z. B., e.g.), after an ordinal (3. Oktober), or before a lower-case letter. In
/// doubt, the text is not split, since two sentences in one harm a translation less than half a sentence.
///
/// Linear in the length of the text. Bytes that are not valid UTF-8 are treated as letters.
std::vector<Span> sentences(std::string_view text);
/// The same as texts.
std::vector<std::string> split_sentences(std::string_view text);

/// Whether two neighbouring sentences are written without a space between them, as in Chinese and Japanese. This is
/// decided by the characters where they meet. Neither may be empty.
bool sentences_touch(std::string_view left, std::string_view right);
/// The same for two parts of one sentence. It is then also true in Thai, Lao, Khmer, Burmese, Tibetan and Javanese,
/// which have no spaces between words.
bool words_touch(std::string_view left, std::string_view right);

}  // namespace attend
