// What callers of a language model and of a translator may want of the search alike.
#pragma once
#include "attend/decode/search.h"

namespace attend {

/// Over what a folder says, what the caller does, if anything: of GenerateOptions or TranslateOptions.
template <typename Options>
void take_wishes(const Options& options, SearchOptions& search) {
  const auto take = [](auto& value, const auto& given) {
    if (given) value = *given;
  };
  take(search.length_penalty, options.length_penalty);
  take(search.max_new_tokens, options.max_new_tokens);
  take(search.rules.min_new_tokens, options.min_new_tokens);
  if (options.min_new_tokens) search.rules.min_length = 0;
  take(search.rules.no_repeat_ngram, options.no_repeat_ngram);
  take(search.rules.repetition_penalty, options.repetition_penalty);
  take(search.sampling.temperature, options.temperature);
  take(search.sampling.top_k, options.top_k);
  take(search.sampling.top_p, options.top_p);
  take(search.sampling.min_p, options.min_p);
  search.seed = options.seed;
}

}  // namespace attend
