// Tokenizes text files into a token store on disk, from which a language model is trained.
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
  file,        ///< a file is one document; its text is kept byte by byte, with line ends
  line,        ///< each line is a document; empty lines are skipped
  empty_line,  ///< empty lines separate documents; the lines of a document are joined by a line feed
};

inline const std::vector<std::pair<std::string, DocumentEnd>> kDocumentEndNames = {
    {"file", DocumentEnd::file}, {"line", DocumentEnd::line}, {"empty-line", DocumentEnd::empty_line}};

struct TokenizeOptions {
  DocumentEnd document_end = DocumentEnd::file;
  bool end_token = true;  ///< end each document with the tokenizer's eos token, or its separator if it has no eos
};

/// Reads the lines of all files in order. A file is opened when it is needed. Progress is in bytes.
std::function<bool(std::string& line)> lines_of(const std::vector<std::filesystem::path>& texts,
                                                const Progress& progress = {});

/// A number that changes with everything that could change the ids of a text.
std::uint64_t fingerprint(const Tokenizer& tokenizer);

/// The token store of these files at `path`. It is reused if nothing has changed, and otherwise made, on all threads,
/// in constant memory. No special tokens are added except the end token. Progress is in bytes of text.
CachedTokenStore tokenized_texts(const std::vector<std::filesystem::path>& texts, const Tokenizer& tokenizer,
                                 const std::filesystem::path& path, const TokenizeOptions& options = {},
                                 const Progress& progress = {});

}  // namespace attend
