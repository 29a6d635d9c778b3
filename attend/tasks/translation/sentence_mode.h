// Whether a translator reads one sentence at a time or whole texts, and how a model's folder records it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/formats/config.h"

namespace attend {

/// What a translator is given at once. A model that was trained on single sentences translates the first sentence of a
/// longer text and drops the others.
enum class SentenceMode : std::uint8_t {
  split,  ///< one sentence; the translations are joined again
  whole,  ///< the whole text, unless it has more tokens than the model takes
};
inline const std::vector<std::pair<std::string, SentenceMode>> kSentenceModeNames = {{"split", SentenceMode::split},
                                                                                     {"whole", SentenceMode::whole}};

/// Reads "attend_sentences" of a config.json. Throws InputError when it has another value than "split" or "whole".
std::optional<SentenceMode> recorded_sentence_mode(const Config& config);
/// Writes the key into the config.json of a folder. Other programs ignore it.
void record_sentence_mode(const std::filesystem::path& folder, SentenceMode mode);

/// Finds the mode that fits training data.
class SentenceCounter {
 public:
  void add(std::string_view source);
  std::int64_t texts() const { return texts_; }
  /// `whole` if more than a tenth of the texts have several sentences.
  SentenceMode mode() const { return 10 * several_ > texts_ ? SentenceMode::whole : SentenceMode::split; }

 private:
  std::int64_t texts_ = 0, several_ = 0;
};

}  // namespace attend
