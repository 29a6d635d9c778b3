#include "attend/cli/shared/line_verb.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/text_error.h"

namespace attend::cli {

void add_model_flag(CLI::App& verb, std::string& model) {
  verb.add_option("-m,--model", model, "The model's folder")->type_name("DIR")->required();
}

void add_long_text_flags(CLI::App& verb, std::int64_t& max_tokens, LongText& long_text, const std::string& help,
                         bool may_split) {
  verb.add_option("--max-tokens", max_tokens, "Tokens of a line at most; otherwise what the model takes")
      ->type_name("N")
      ->check(kPositive);
  std::vector<std::pair<std::string, LongText>> names{{"error", LongText::error}, {"truncate", LongText::truncate}};
  if (may_split) names.emplace_back("split", LongText::split);
  add_choice(verb, "--long", long_text, names, help)->type_name("HOW")->description(help);
}

void add_overlap_flag(CLI::App& verb, std::int64_t& overlap, const std::int64_t& max_tokens) {
  const CLI::Option* flag =
      verb.add_option("--overlap", overlap, "Tokens that neighbouring windows share, at most half a window")
          ->type_name("N")
          ->check(kNotNegative)
          ->capture_default_str();
  verb.parse_complete_callback([flag, &overlap, &max_tokens] {
    if (flag->count() > 0 && max_tokens > 0 && overlap >= max_tokens)
      throw CLI::ValidationError("--overlap", "is " + std::to_string(overlap) + ", but windows have " +
                                                  std::to_string(max_tokens) + " tokens (--max-tokens)");
  });
}

void add_line_flags(CLI::App& verb, LineFlags& flags, const std::string& help) {
  add_model_flag(verb, flags.model);
  CLI::Option* texts =
      verb.add_option("text", flags.texts, help + "; otherwise the lines of --input, or of standard input");
  texts->type_name("TEXT");
  add_input_flag(verb, flags.input)->excludes(texts);
  add_output_flag(verb, flags.output);
}

void add_batch_flag(CLI::App& verb, std::int64_t& batch_tokens) {
  verb.add_option("--batch-tokens", batch_tokens, "Tokens that are read at once: more memory, rarely more speed")
      ->type_name("N")
      ->check(kPositive)
      ->capture_default_str();
}

void for_line_blocks(LineReader& reader, const std::string& label, const TextWork& work, std::size_t most) {
  for_line_blocks(reader, label, work, [most] { return most; });
}

void for_line_blocks(LineReader& reader, const std::string& label, const TextWork& work,
                     const std::function<std::size_t()>& most) {
  ProgressBar bar(label, "B");
  std::int64_t bytes_before = reader.bytes_read();
  bar.go_on_from(bytes_before);
  for (std::vector<std::string> lines; reader.next(lines, most()); bytes_before = reader.bytes_read()) {
    const auto progress = [&](std::int64_t done, std::int64_t total) {
      bar.update(bytes_before + (reader.bytes_read() - bytes_before) * done / std::max<std::int64_t>(total, 1),
                 reader.total_bytes());
    };
    try {
      work(lines, progress);
    } catch (const TextError& error) {
      const std::int64_t first = reader.lines_read() - std::ssize(lines) + 1;
      throw InputError(reader.where(first + static_cast<std::int64_t>(error.text)) + ": " + error.what());
    }
    bar.update(reader.bytes_read(), reader.total_bytes());
  }
}

void for_text_blocks(const LineFlags& flags, const std::string& label, const TextWork& work, std::size_t most) {
  if (flags.texts.empty()) {
    LineReader reader(flags.input);
    for_line_blocks(reader, label, work, most);
    return;
  }
  try {
    work(flags.texts, {});
  } catch (const TextError& error) {
    throw InputError("text " + std::to_string(error.text + 1) + ": " + error.what());
  }
}

void warn_of(std::int64_t count, const std::string& noun, const std::string& done) {
  if (count > 0) warn(counted(count, noun) + (count == 1 ? " was " : " were ") + done);
}

void warn_of_cut(std::int64_t count, const std::string& noun) {
  warn_of(count, noun, "cut: longer than --max-tokens, or than the model takes");
}

}  // namespace attend::cli
