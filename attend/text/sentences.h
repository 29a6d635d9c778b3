// Where sentences begin and end, for models that were trained on sentences and are given texts.
#pragma once
#include <string_view>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

/// The sentences of a text, in order. Between them, before the first and behind the last is white space only, so that
/// whoever translates them can put the text together again; a text of white space has none.
///
/// A sentence ends at . ! ? … and their like in other scripts, with the quotes and brackets that close there, and at
/// the end of a line. A full stop ends none inside a word (3.14, example.com, S.p.A.), behind an initial or an
/// abbreviation (Dr., z. B., e.g.), behind an ordinal (3. Oktober), or before a small letter. Where it is open, the
/// text stays together: two sentences in one harm a translation less than half a sentence does.
///
/// Linear in the text's length. Bytes that are not UTF-8 are ordinary letters.
std::vector<Span> sentences(std::string_view text);

/// Whether two neighbouring sentences are written without a space between them, as Chinese and Japanese ones are. Looks
/// at where they meet; neither is empty.
bool sentences_touch(std::string_view left, std::string_view right);
/// The same of two parts of one sentence: then also in Thai, Lao, Khmer, Burmese, Tibetan and Javanese, which have no
/// spaces between words.
bool words_touch(std::string_view left, std::string_view right);

}  // namespace attend
