// Texts as token ids on disk: what a language model is trained from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attend/core/progress.h"
#include "attend/data/token_store.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// Where a document ends.
enum class DocumentEnd : std::uint8_t {
  file,        ///< with its file; the text is kept to the byte, line ends and all
  line,        ///< with each line; empty lines are none
  empty_line,  ///< at an empty line; the lines of a document stay apart by one line feed
};

inline const std::vector<std::pair<std::string, DocumentEnd>> kDocumentEndNames = {
    {"file", DocumentEnd::file}, {"line", DocumentEnd::line}, {"empty-line", DocumentEnd::empty_line}};

struct TokenizeOptions {
  DocumentEnd document_end = DocumentEnd::file;
  bool end_token = true;  ///< each document ends with the tokenizer's eos, or else its separator, if it has one
};

/// The lines of all files, one file after the other. Opens each when its turn comes. Progress is in bytes.
std::function<bool(std::string& line)> lines_of(const std::vector<std::filesystem::path>& texts,
                                                const Progress& progress = {});

/// Changes with anything that could change the ids of a text.
std::uint64_t fingerprint(const Tokenizer& tokenizer);

/// The texts of some files as a store at `path`: found there if nothing has changed since, otherwise made, on all
/// threads, in memory that does not grow with the texts. Progress is in bytes of text. No special tokens but the end.
CachedTokenStore tokenized_texts(const std::vector<std::filesystem::path>& texts, const Tokenizer& tokenizer,
                                 const std::filesystem::path& path, const TokenizeOptions& options = {},
                                 const Progress& progress = {});

}  // namespace attend
