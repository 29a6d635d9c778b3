// tokenizer.json, the one file that holds all of a tokenizer but the roles of its special tokens: read and written as
// Hugging Face's tokenizers do. What Attend does not have is named in an error, never skipped.
#pragma once
#include <string>
#include <string_view>

#include "attend/text/tokenizer_parts.h"

namespace attend {

class JsonValue;

/// The parts but `special` and `max_tokens`, which other files say. `file` is for messages. Throws InputError, naming
/// the place, where the text is no JSON, something is missing, contradictory or not supported.
Tokenizer::Parts read_tokenizer_json(std::string_view text, const std::string& file);
/// The text of such a file. Throws InputError for a model that it cannot hold (SentencePiece's own).
std::string write_tokenizer_json(const Tokenizer::Parts& parts);

/// A vocabulary as an object: {"hello": 0, …}. Throws InputError where two tokens have one id.
Vocabulary read_vocabulary(const JsonValue& object);
/// The same as text, in the order of ids.
std::string write_vocabulary(const Vocabulary& vocabulary);

/// Throws InputError where added tokens contradict the vocabulary or each other, or the post-processor adds an id that
/// no token has. `file` is for the message.
void check_ids(const Tokenizer::Parts& parts, const std::string& file);

/// An added token as tokenizer.json and tokenizer_config.json describe it, but for its id.
AddedToken read_added_token(const JsonValue& object);

}  // namespace attend
