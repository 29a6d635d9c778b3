// Formats tokens for display.
#pragma once
#include <string>

#include "attend/text/tokenizer.h"

namespace attend {

/// The token for display: "Ġhello" and "▁hello" become " hello"; "##ing" and "[CLS]" are unchanged. An incomplete
/// character is shown as its bytes: "\xE2\x82"; so are control characters (see printable()). Throws InputError for an
/// id that does not exist.
std::string shown_token(const Tokenizer& tokenizer, std::int32_t id);

}  // namespace attend
