// Any bytes as questions in SQuAD's format: the places of answers are those of their texts.
#include <cstdint>
#include <cstdlib>

#include "attend/core/error.h"
#include "attend/data/squad.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    const SquadFile file = read_squad(TextStream::of({reinterpret_cast<const char*>(data), size}));
    for (const Article& article : file.articles)
      for (const Passage& passage : article.passages)
        for (const PassageQuestion& question : passage.questions)
          for (const ReferenceAnswer& answer : question.answers)
            if (answer.span &&
                passage.text.substr(static_cast<std::size_t>(answer.span->begin),
                                    static_cast<std::size_t>(answer.span->end - answer.span->begin)) != answer.text)
              std::abort();
  } catch (const Error&) {
  }
  return 0;
}
