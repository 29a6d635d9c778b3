// Word vectors from a text file, as GloVe, word2vec and fastText publish them: a word and its numbers on each line,
// with spaces between them. A first line with two numbers (words and width) is skipped.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "attend/core/tensor.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Copies the vectors of the tokenizer's words to their rows of a table [words, width]; of several vectors of one word,
/// the first. Returns the number of words. Throws InputError, with the line, if the vectors have another width, if a
/// number is not finite, or if no word is found.
std::int64_t read_word_vectors(const std::filesystem::path& path, const Tokenizer& tokenizer, const Tensor& table);

/// The width of the vectors of a file.
std::int64_t word_vector_width(const std::filesystem::path& path);
/// Calls take(word) for every word of a file.
void for_each_vector_word(const std::filesystem::path& path, const std::function<void(const std::string&)>& take);

}  // namespace attend
