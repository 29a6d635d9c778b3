// Regular expressions on long texts, with a small stack. The input is a pattern, a newline, and a text that is
// repeated. Any pattern gives matches in order within the limit of steps, or an InputError. For the patterns of real
// tokenizers, a text of twice the length takes at most 2.5 times the steps.
#include "attend/text/pattern.h"

#include <cstdint>
#include <cstdlib>

#include "attend/core/error.h"
#include "tests/support/small_stack.h"

namespace {

using namespace attend;

/// GPT-2, Llama 3, Qwen 2, GPT-4o, digits in groups from the end, DeepSeek's and BERT's kind.
const Pattern kReal[] = {
    Pattern::regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"),
    Pattern::regex(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
                   R"(\s*[\r\n]+|\s+(?!\S)|\s+)"),
    Pattern::regex(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
                   R"(\s*[\r\n]+|\s+(?!\S)|\s+)"),
    Pattern::regex(R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
                   R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
                   R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)"
                   R"( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
    Pattern::regex(R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))"),
    Pattern::regex(R"([!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
                   R"(\s*[\r\n]+|\s+(?!\S)|\s+)"),
    Pattern::regex(R"(\w+|[^\w\s]+)")};

std::int64_t search(const Pattern& pattern, const std::string& text) {
  PatternSearch search(pattern, text);
  std::size_t last = 0;
  while (const auto match = search.next()) {
    if (match->begin < last || match->end <= match->begin || match->end > text.size()) std::abort();
    last = match->end;
  }
  return search.steps();
}

std::string repeated(std::string_view unit, std::size_t size) {
  std::string text;
  while (text.size() < size) text += unit;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos || end + 1 == size || size > 200) return 0;
  const std::string_view unit = input.substr(end + 1);
  test::run_with_small_stack([&] {
    const std::string text = repeated(unit, 1'000), twice = text + text;
    try {
      search(Pattern::regex(std::string(input.substr(0, end))), twice);
    } catch (const InputError&) {
    }
    const Pattern& real = kReal[size % std::size(kReal)];
    if (2 * search(real, twice) > 5 * search(real, text) + 1'000) std::abort();
  });
  return 0;
}
