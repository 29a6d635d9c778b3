// Reads and writes tokenizer.json, Hugging Face's format for a whole tokenizer except the roles of its special tokens.
// A feature that Attend does not support is an error that names it.
#pragma once
#include <string>
#include <string_view>

#include "attend/text/tokenizer_parts.h"

namespace attend {

class JsonValue;

/// Reads all parts except `special` and `max_tokens`, which are in other files. `file` is used in messages. Throws
/// InputError with the place if the JSON is invalid, or if something is missing, inconsistent or not supported.
Tokenizer::Parts read_tokenizer_json(std::string_view text, const std::string& file);
/// The contents of tokenizer.json. Throws InputError for a class that the format does not have (SentencePiece).
std::string write_tokenizer_json(const Tokenizer::Parts& parts);

/// Reads a vocabulary from an object: {"hello": 0, …}. Throws InputError if two tokens have the same id.
Vocabulary read_vocabulary(const JsonValue& object);
/// The JSON of a vocabulary, in the order of ids.
std::string write_vocabulary(const Vocabulary& vocabulary);

/// Throws InputError if added tokens contradict the vocabulary or each other, or if the post-processor adds an unknown
/// id. `file` is used in messages.
void check_ids(const Tokenizer::Parts& parts, const std::string& file);

/// Reads an added token, without its id, from tokenizer.json or tokenizer_config.json.
AddedToken read_added_token(const JsonValue& object);

}  // namespace attend
