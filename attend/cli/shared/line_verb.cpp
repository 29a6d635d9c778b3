#include "attend/cli/shared/line_verb.h"

#include <algorithm>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/text_error.h"
#include "attend/text/words.h"

namespace attend::cli {

void add_model_flags(Verb& verb, std::string& model, std::string& adapter) {
  verb.add_option("-m,--model", model, "Folder of the model")->type_name("DIR")->required();
  add_adapter_flag(verb, adapter);
}

void add_long_text_flags(Verb& verb, std::int64_t& max_tokens, LongText& long_text, const std::string& help,
                         bool may_split) {
  verb.add_option("--max-tokens", max_tokens, "Largest number of tokens in a text")
      ->type_name("N")
      ->default_text("the model's limit")
      ->check(kPositive);
  std::vector<std::pair<std::string, LongText>> names{{"error", LongText::error}, {"truncate", LongText::truncate}};
  if (may_split) names.emplace_back("split", LongText::split);
  add_choice(verb, "--long", long_text, names, help)->type_name("HOW")->description(help);
}

void add_overlap_flag(Verb& verb, std::int64_t& overlap, const std::int64_t& max_tokens) {
  const Flag* flag =
      verb.add_option("--overlap", overlap,
                      "Number of tokens that two neighbouring windows share; at most half of a window is used")
          ->type_name("N")
          ->check(kNotNegative);
  verb.check_flags([flag, &overlap, &max_tokens] {
    if (flag->given() && max_tokens > 0 && overlap >= max_tokens)
      throw UsageError("--overlap", "is " + std::to_string(overlap) + ", which is not less than the windows of " +
                                        std::to_string(max_tokens) + " tokens (--max-tokens)");
  });
}

void add_line_flags(Verb& verb, LineFlags& flags, const std::string& help) {
  add_model_flags(verb, flags.model, flags.adapter);
  Flag* texts = verb.add_option("text", flags.texts, help);
  texts->type_name("TEXT")->default_text("the lines of --input");
  add_input_flag(verb, flags.input)->excludes(texts);
  add_output_flag(verb, flags.output);
}

void add_batch_flag(Verb& verb, std::int64_t& batch_tokens) {
  verb.add_option("--batch-tokens", batch_tokens,
                  "Largest number of tokens in a batch, padding included; more takes more memory and is rarely faster")
      ->type_name("N")
      ->check(kPositive);
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
      throw InputError(reader.where(first + static_cast<std::int64_t>(error.text)) + ": " + text_of(error));
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
    throw InputError("text " + std::to_string(error.text + 1) + ": " + text_of(error));
  }
}

bool is_blank(const std::string& text) { return count_words(text) == 0; }

void warn_of(std::int64_t count, const std::string& noun, const std::string& done) {
  if (count > 0) warn(counted(count, noun) + (count == 1 ? " was " : " were ") + done);
}

void warn_of_cut(std::int64_t count, const std::string& noun) {
  warn_of(count, noun, "cut: longer than --max-tokens, or than the model's limit");
}

void warn_of_blank(std::int64_t count, const std::string& what) {
  if (count > 0) warn(counted(count, "empty text") + (count == 1 ? " has " : " have ") + what);
}

}  // namespace attend::cli
