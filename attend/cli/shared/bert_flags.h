// What the verbs that read lines with a BERT share.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "attend/cli/shared/input.h"
#include "attend/core/progress.h"
#include "attend/text/tokenizer.h"

namespace attend::cli {

/// --model DIR, required.
void add_model_flag(CLI::App& verb, std::string& model);
/// --max-tokens N and --long HOW; `help` says what becomes of longer lines.
void add_long_text_flags(CLI::App& verb, std::int64_t& max_tokens, LongText& long_text, const std::string& help,
                         bool may_split = true);
/// --overlap N; throws CLI::ValidationError from check_overlap() for one that windows of max_tokens cannot have.
CLI::Option* add_overlap_flag(CLI::App& verb, std::int64_t& overlap);
void check_overlap(const CLI::Option& flag, std::int64_t overlap, std::int64_t max_tokens);
/// --batch-tokens N.
void add_batch_flag(CLI::App& verb, std::int64_t& batch_tokens);

/// Texts of the command line, or of files.
struct TextFlags {
  std::vector<std::string> texts, input;
};
/// TEXT … and --input FILE …
void add_text_flags(CLI::App& verb, TextFlags& flags, const std::string& help = "Texts");

/// All lines of a reader, some thousands at a time, under a bar that fills as the work on them reports its progress. A
/// TextError of the work becomes an InputError that names the line.
void for_line_blocks(LineReader& reader, const std::string& label,
                     const std::function<void(const std::vector<std::string>& lines, const Progress& progress)>& work);
/// The same with texts of the command line, where there are any.
void for_text_blocks(const TextFlags& flags, const std::string& label,
                     const std::function<void(const std::vector<std::string>& texts, const Progress& progress)>& work);

/// "12 lines were read in parts" of a noun and what was done, unless there are none.
void warn_of(std::int64_t count, const std::string& noun, const std::string& done);

}  // namespace attend::cli
