#include "attend/tasks/translation/sentence_mode.h"

#include "attend/text/sentences.h"

namespace attend {

constexpr const char* kKey = "attend_sentences";

std::optional<SentenceMode> recorded_sentence_mode(const Config& config) {
  if (!config.has(kKey)) return {};
  return config.choice(kKey, kSentenceModeNames);
}

void record_sentence_mode(const std::filesystem::path& folder, SentenceMode mode) {
  Config config(folder / "config.json");
  config.set(kKey, name_of(mode, kSentenceModeNames));
  config.save(folder / "config.json");
}

void SentenceCounter::add(std::string_view source) {
  ++texts_;
  if (sentences(source).size() > 1) ++several_;
}

}  // namespace attend
