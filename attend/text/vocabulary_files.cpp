#include "attend/text/vocabulary_files.h"

#include <vector>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

/// Calls f(line, number from 1) for each line, which ends with LF or CR LF.
template <typename F>
void each_line(std::string_view text, const F& f) {
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    f(line, number);
  }
}

}  // namespace

Vocabulary read_vocab_txt(std::string_view text, const std::string& file) {
  Vocabulary vocabulary;
  each_line(text, [&](std::string_view line, std::int64_t number) {
    if (count_invalid_utf8(line) > 0) fail<InputError>("tokenizer", file, ": line ", number, " is not valid UTF-8");
    vocabulary.add(line, static_cast<std::int32_t>(number - 1));
  });
  if (vocabulary.size() == 0) fail<InputError>("tokenizer", file, ": the vocabulary is empty");
  return vocabulary;
}

std::string write_vocab_txt(const Vocabulary& vocabulary) {
  std::string text;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    text += vocabulary.contains(id) ? std::string(vocabulary.token(id)) : "[unused" + std::to_string(id) + "]";
    text += '\n';
  }
  return text;
}

Bpe read_merges(std::string_view text, const std::string& file, Vocabulary vocabulary) {
  std::vector<BpeMerge> merges;
  each_line(text, [&](std::string_view line, std::int64_t number) {
    if (line.empty() || line.starts_with("#version")) return;
    const auto wrong = [&](const auto&... what) {
      fail<InputError>("tokenizer", file, ": line ", number, ": ", what...);
    };
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) wrong("expected two tokens with a space between");
    const auto id = [&](std::string_view token) {
      const auto found = vocabulary.id(token);
      if (!found) wrong("the token \"", replace_invalid_utf8(token), "\" is not in the vocabulary");
      return *found;
    };
    merges.push_back({id(line.substr(0, space)), id(line.substr(space + 1))});
  });
  try {
    return Bpe(std::move(vocabulary), std::move(merges));
  } catch (const InputError& error) {
    fail<InputError>("tokenizer", file, ": ", error.what());
  }
}

std::string write_merges(const Bpe& bpe) {
  std::string text = "#version: 0.2\n";
  for (const BpeMerge& merge : bpe.merges())
    text.append(bpe.vocabulary().token(merge.left)).append(" ").append(bpe.vocabulary().token(merge.right)) += '\n';
  return text;
}

}  // namespace attend
