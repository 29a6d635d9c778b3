// What verbs share that read lines, run a model on them, and write a result for each line.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "attend/cli/shared/input.h"
#include "attend/core/progress.h"
#include "attend/core/text_error.h"
#include "attend/text/tokenizer.h"

namespace attend::cli {

/// --model DIR, required, and --adapter DIR: see open_model().
void add_model_flags(Verb& verb, std::string& model, std::string& adapter);
/// --max-tokens N and --long HOW; `help` describes what happens to longer lines.
void add_long_text_flags(Verb& verb, std::int64_t& max_tokens, LongText& long_text, const std::string& help,
                         bool may_split = true);
/// --overlap N. Windows of max_tokens must be longer than it; that is checked when all flags are read.
void add_overlap_flag(Verb& verb, std::int64_t& overlap, const std::int64_t& max_tokens);
/// --batch-tokens N.
void add_batch_flag(Verb& verb, std::int64_t& batch_tokens);

/// The flags of a verb that takes texts from the command line or lines from files.
struct LineFlags {
  std::string model, adapter, output;
  std::vector<std::string> texts, input;
  bool json = false;
};
/// --model DIR, --adapter DIR, TEXT …, --input FILE …, --output FILE. `help` describes the texts.
void add_line_flags(Verb& verb, LineFlags& flags, const std::string& help = "Texts");

/// Work on a block of texts, which may report its progress.
using TextWork = std::function<void(const std::vector<std::string>& texts, const Progress& progress)>;
constexpr std::size_t kBlockLines = 4096;
/// Calls `work` with all lines of a reader, `most` at a time, and shows a progress bar. A TextError of the work becomes
/// an InputError that names the line.
void for_line_blocks(LineReader& reader, const std::string& label, const TextWork& work,
                     std::size_t most = kBlockLines);
/// The same with another number of lines for each block: `most` is called before a block is read.
void for_line_blocks(LineReader& reader, const std::string& label, const TextWork& work,
                     const std::function<std::size_t()>& most);
/// The same with the texts of the command line, if there are any.
void for_text_blocks(const LineFlags& flags, const std::string& label, const TextWork& work,
                     std::size_t most = kBlockLines);

/// Whether a text has no words: it is empty, or consists of white space. docs/lines.md describes what verbs do with it.
bool is_blank(const std::string& text);

/// The results of model(texts), which is called with the texts that are not blank; the others have an empty result.
auto without_blank(const std::vector<std::string>& texts, const auto& model) {
  std::vector<std::string> given;
  std::vector<std::size_t> places;  // of the given texts
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (!is_blank(texts[i])) given.push_back(texts[i]), places.push_back(i);
  try {
    auto found = model(given);
    decltype(found) results(texts.size());
    for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(found[i]);
    return results;
  } catch (const TextError& error) {
    throw TextError(places[error.text], error.what());
  }
}

/// How many texts were cut (result.truncated > 0), and how many were blank.
struct TextCounts {
  std::int64_t cut = 0, blank = 0;
};
/// Writes format(text, result) for every text, with the results of model(texts, progress), block by block. The model is
/// not given blank texts: they have an empty result.
TextCounts write_results(const LineFlags& flags, const std::string& label, TextWriter& writer, const auto& model,
                         const auto& format) {
  TextCounts counts;
  for_text_blocks(flags, label, [&](const std::vector<std::string>& texts, const Progress& progress) {
    const auto results = without_blank(texts, [&](const auto& given) { return model(given, progress); });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      counts.cut += results[i].truncated > 0, counts.blank += is_blank(texts[i]);
      writer.write(format(texts[i], results[i]));
    }
    writer.flush();
  });
  return counts;
}

/// Warns for example "12 lines were read in parts"; does nothing if the count is 0.
void warn_of(std::int64_t count, const std::string& noun, const std::string& done);
/// Warns how many texts were cut.
void warn_of_cut(std::int64_t count, const std::string& noun = "line");
/// Warns for example "2 empty texts have no label"; does nothing if the count is 0.
void warn_of_blank(std::int64_t count, const std::string& what);

}  // namespace attend::cli
