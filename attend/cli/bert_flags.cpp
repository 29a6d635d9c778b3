#include "attend/cli/bert_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "attend/cli/progress.h"
#include "attend/decode/text_error.h"

namespace attend::cli {

void add_model_flag(CLI::App& verb, std::string& model) {
  verb.add_option("-m,--model", model, "The model's folder")->type_name("DIR")->required();
}

void add_long_text_flags(CLI::App& verb, std::int64_t& max_tokens, LongText& long_text, const std::string& help,
                         bool may_split) {
  verb.add_option("--max-tokens", max_tokens, "Tokens of a line at most; otherwise what the model takes")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  std::map<std::string, LongText> names{{"error", LongText::error}, {"truncate", LongText::truncate}};
  if (may_split) names.emplace("split", LongText::split);
  std::string now;
  for (const auto& [name, meaning] : names)
    if (meaning == long_text) now = name;
  verb.add_option("--long", long_text, help)
      ->type_name("HOW")
      ->transform(CLI::CheckedTransformer(names).description(""))
      ->default_str(now);
}

void add_batch_flag(CLI::App& verb, std::int64_t& batch_tokens) {
  verb.add_option("--batch-tokens", batch_tokens, "Tokens that are read at once: more memory, rarely more speed")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
}

void for_line_blocks(LineReader& reader, const std::string& label,
                     const std::function<void(const std::vector<std::string>&, const Progress&)>& work) {
  ProgressBar bar(label, "B");
  std::int64_t bytes_before = 0;
  for (std::vector<std::string> lines; reader.next(lines, 4096); bytes_before = reader.bytes_read()) {
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

void warn_of(std::int64_t count, const std::string& what) {
  if (count > 0) warn(grouped(count) + " " + what);
}

}  // namespace attend::cli
