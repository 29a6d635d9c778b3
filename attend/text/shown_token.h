// Tokens as people read them.
#pragma once
#include <string>

#include "attend/text/tokenizer.h"

namespace attend {

/// "Ġhello" and "▁hello" are " hello", "##ing" and "[CLS]" stay; of a character that is cut in the middle, the bytes:
/// "\xE2\x82". Throws InputError on an id that does not exist.
std::string shown_token(const Tokenizer& tokenizer, std::int32_t id);

}  // namespace attend
