#include "attend/tasks/translation/translator.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "attend/core/error.h"
#include "attend/core/stop.h"
#include "attend/data/batches.h"
#include "attend/data/hash.h"
#include "attend/decode/generation_options.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_tokens.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/letter_case.h"
#include "attend/text/sentences.h"
#include "attend/text/shown_token.h"

namespace attend {

struct Translator::Model : TranslationModel {};

namespace {

/// Largest number of hypotheses at once: their logits take most of the memory.
constexpr std::int64_t kMaxRows = 256;
/// Other sentences join when only so many hypotheses are left.
constexpr std::int64_t kRefillRows = kMaxRows / 2;

/// A part of a text that is translated by itself: a sentence, the whole text, or a part of a sentence that is too long.
struct SourcePiece {
  std::size_t text;
  Encoding encoding = {};                 // spans are in the whole text
  std::vector<std::int32_t> source = {};  // what the model reads: the ids of the encoding, perhaps with letter case
  bool first = true;                      // of its text
  std::string between = {};               // the white space between it and the piece before
  bool touches = false;                   // there is none, as between sentences of Chinese
  bool cut = false;                       // begins inside a sentence
  bool too_long = false;                  // its text, or its sentence, has more tokens than fit
  bool whole = true;                      // the only piece of its text
  std::vector<Hypothesis> hypotheses = {};
  std::vector<std::vector<std::vector<float>>> attention = {};  // of each hypothesis
  std::vector<AttentionMap> maps = {};                          // of each
};

bool is_blank(const Encoding& encoding) {
  return std::ranges::all_of(encoding.special, [](std::uint8_t special) { return special != 0; });
}

std::string text_in(std::string_view text, Span span) {
  return std::string(
      text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)));
}

/// The encoding of a part of a text, with spans in the whole text.
Encoding moved_by(Encoding encoding, std::int64_t offset) {
  for (std::size_t i = 0; i < encoding.spans.size(); ++i)
    if (!encoding.special[i]) encoding.spans[i].begin += offset, encoding.spans[i].end += offset;
  return encoding;
}

/// Replaces the language token that the tokenizer has added.
void set_language(Encoding& encoding, const LanguageTokens& languages, std::int32_t language) {
  for (std::size_t i = 0; i < encoding.ids.size(); ++i)
    if (encoding.special[i] &&
        std::ranges::find(languages.all, encoding.ids[i], &LanguageTokens::Language::id) != languages.all.end())
      encoding.ids[i] = language;
}

/// The tokens of a text in the target language, after the start token: they begin with the language, unless the decoder
/// starts with it.
std::vector<std::int32_t> target_ids(const TranslationModel& model, const std::string& text) {
  std::vector<std::int32_t> ids = model.target.ids(text);
  if (!ids.empty() && model.target_language && !model.target.languages().starts_decoder)
    ids.insert(ids.begin(), *model.target_language);
  return ids;
}

/// A part of a text, before it is encoded.
struct Part {
  SourcePiece piece;
  Span span;  // in its text
};

/// The sentences of a text. A text with one sentence or none is one part, with the white space around it.
std::vector<Part> sentence_parts(std::size_t index, std::string_view text) {
  const std::vector<Span> all = sentences(text);
  if (all.size() <= 1) return {{{.text = index}, {0, std::ssize(text)}}};
  std::vector<Part> parts;
  std::int64_t end = 0;  // of the sentence before
  for (const Span& sentence : all) {
    const auto before = static_cast<std::size_t>(end), begin = static_cast<std::size_t>(sentence.begin);
    SourcePiece piece{.text = index, .between = text_in(text, {end, sentence.begin}), .whole = false};
    piece.touches = !parts.empty() && sentences_touch(text.substr(0, before), text.substr(begin));
    parts.push_back({std::move(piece), sentence});
    end = sentence.end;
  }
  return parts;
}

/// Windows of a sentence with more tokens than the model takes.
void cut_windows(const Tokenizer& tokenizer, std::string_view text, Part part, std::int64_t limit,
                 std::vector<SourcePiece>& pieces) {
  part.piece.too_long = true, part.piece.whole = false;
  const EncodeOptions options{.max_tokens = limit, .long_text = LongText::split};
  for (Encoding& window : tokenizer.encode_windows(text_in(text, part.span), options)) {
    part.piece.encoding = moved_by(std::move(window), part.span.begin);
    pieces.push_back(part.piece);
    part.piece.cut = true;
  }
}

/// The white space between two translations: that between their sources, unless the target's script wants another.
std::string between(std::string_view left, std::string_view right, const SourcePiece& piece) {
  if (left.empty() || right.empty()) return "";
  if (piece.cut) return words_touch(left, right) ? "" : " ";
  const bool touches = sentences_touch(left, right);
  if (touches == piece.touches || piece.between.find('\n') != std::string::npos) return piece.between;
  if (touches) return "";
  constexpr std::string_view kWideSpace = "　";
  return piece.between.empty() || piece.between.find(kWideSpace) != std::string::npos ? " " : piece.between;
}

std::vector<SourcePiece> cut(const TranslationModel& model, std::span<const std::string> texts,
                             const TranslateOptions& options) {
  const std::int64_t model_limit = model.spec.max_source;
  const std::int64_t limit = options.max_tokens > 0 && (model_limit == 0 || options.max_tokens < model_limit)
                                 ? options.max_tokens
                                 : model_limit;
  const bool splits = options.sentences.value_or(model.sentences) == SentenceMode::split;
  std::vector<Part> parts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (splits)
      std::ranges::move(sentence_parts(i, texts[i]), std::back_inserter(parts));
    else
      parts.push_back({{.text = i}, {0, std::ssize(texts[i])}});
  }
  std::vector<std::string> part_texts;
  for (const Part& part : parts) part_texts.push_back(text_in(texts[part.piece.text], part.span));
  std::vector<Encoding> encodings = model.source.encode_all(part_texts);

  std::vector<SourcePiece> pieces;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Part& part = parts[p];
    const std::size_t text = part.piece.text;
    Encoding& encoding = encodings[p];
    if (is_blank(encoding)) continue;
    if (limit == 0 || encoding.size() <= limit) {
      part.piece.encoding = moved_by(std::move(encoding), part.span.begin);
      pieces.push_back(std::move(part.piece));
    } else if (options.long_text == LongText::truncate) {
      encoding = model.source.encode(part_texts[p], {.max_tokens = limit, .long_text = LongText::truncate});
      part.piece.encoding = moved_by(std::move(encoding), part.span.begin);
      pieces.push_back(std::move(part.piece));
    } else if (options.long_text == LongText::split) {
      if (splits)
        cut_windows(model.source, texts[text], part, limit, pieces);
      else
        for (const Part& sentence : sentence_parts(text, texts[text]))
          cut_windows(model.source, texts[text], sentence, limit, pieces);
    } else {
      throw TextError(text, std::string(part.piece.whole ? "the text" : "a sentence") + " is too long: got " +
                                std::to_string(encoding.size()) + " tokens, expected at most " + std::to_string(limit));
    }
  }
  for (std::size_t i = 1; i < pieces.size(); ++i) pieces[i].first = pieces[i].text != pieces[i - 1].text;
  for (SourcePiece& piece : pieces) {
    if (model.source_language) set_language(piece.encoding, model.source.languages(), *model.source_language);
    piece.source = ids_with_case(piece.encoding, texts[piece.text], model.spec.case_step);
  }
  return pieces;
}

/// The pieces in order of length, longest first.
std::vector<std::size_t> by_length(const std::vector<SourcePiece>& pieces) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return pieces[i].encoding.size(); });
  return order;
}

/// Batches of pieces of similar length.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<SourcePiece>& pieces, std::int64_t batch_tokens,
                                                 std::int64_t rows_each) {
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t longest = 0;
  for (const std::size_t i : by_length(pieces)) {
    const std::int64_t count = batches.empty() ? 0 : static_cast<std::int64_t>(batches.back().size()) + 1;
    if (batches.empty() || longest * count > batch_tokens || count * rows_each > kMaxRows)
      batches.emplace_back(), longest = std::max<std::int64_t>(pieces[i].encoding.size(), 1);
    batches.back().push_back(i);
  }
  return batches;
}

SearchOptions search_options(const TranslationModel& model, GenerationOptions options) {
  const SearchOptions& folder = model.generation.search;
  const bool samples = options.samples() || (folder.sample && options.sample.value_or(true));
  if (options.nbest && !options.beam && !samples && !options.greedy.value_or(false))
    options.beam = std::max(folder.beam, *options.nbest);
  return resolve(options, folder, model.target);
}

SearchInput search_input(const TranslationModel& model, const SourcePiece& piece, const SearchOptions& search,
                         const std::vector<std::int32_t>& prefix) {
  SearchInput input;
  input.source = piece.source;
  if (piece.first) input.prefix = prefix;
  const auto prompt = static_cast<std::int64_t>(input.prefix.size()) + 1;
  std::int64_t more = search.max_new_tokens;
  if (more == 0) more = search.max_length > 0 ? search.max_length - prompt : 2 * piece.encoding.size() + 20;
  if (model.network->max_positions() > 0) more = std::min(more, model.network->max_positions() + 1 - prompt);
  if (more < 1)
    throw TextError(piece.text, "the prefix leaves no room for a translation: got " + std::to_string(prompt - 1) +
                                    " tokens of prefix");
  input.max_new_tokens = more;
  const auto& ids = piece.source;
  input.stream = hash_text({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(ids[0])}).low;
  return input;
}

/// The layer that the options choose. Throws when the model lacks it, or the head.
std::size_t chosen_layer(const TranslationModel& model, const TranslateOptions& options) {
  const auto [count, heads] = model.spec.cross;
  if (count == 0) fail<InputError>("translator", "the model has no attention to show");
  // Deep decoders prepare the next token in their last layer, unless it is a pointer.
  const std::int64_t wanted = options.layer.value_or(count > 4 && !model.spec.pointer ? -2 : -1);
  if (wanted < -count || wanted >= count)
    fail<InputError>("translator", "the decoder has no such layer: got ", wanted, ", expected 0 to ", count - 1,
                     ", or -1 to ", -count, " from the last");
  if (options.head && (*options.head < 0 || *options.head >= heads))
    fail<InputError>("translator", "a layer has no such head: got ", *options.head, ", expected 0 to ", heads - 1);
  return static_cast<std::size_t>(wanted < 0 ? count + wanted : wanted);
}

/// One head, or the mean of all.   [B, H, T, S] -> [targets][sources] of row b
std::vector<std::vector<float>> chosen_head(const Tensor& weights, const std::optional<std::int64_t>& head,
                                            std::int64_t b, std::int64_t targets, std::int64_t sources) {
  const std::int64_t H = weights.dim(1), T = weights.dim(2), S = weights.dim(3);
  const std::int64_t first = head.value_or(0), heads = head ? 1 : H;
  std::vector<std::vector<float>> map(static_cast<std::size_t>(targets));
  for (std::int64_t t = 0; t < targets; ++t) {
    std::vector<float>& row = map[static_cast<std::size_t>(t)];
    row.resize(static_cast<std::size_t>(sources));
    for (std::int64_t h = first; h < first + heads; ++h) {
      const float* from = weights.data() + ((b * H + h) * T + t) * S;
      for (std::int64_t s = 0; s < sources; ++s)
        row[static_cast<std::size_t>(s)] += from[s] / static_cast<float>(heads);
    }
  }
  return map;
}

/// The text of a piece, and the spans of its tokens in it.
struct PieceText {
  std::string text;
  std::vector<Span> spans;
};
PieceText text_of(const std::string& whole, const Encoding& encoding) {
  Span all{std::ssize(whole), 0};
  for (std::size_t i = 0; i < encoding.spans.size(); ++i)
    if (!encoding.special[i])
      all = {std::min(all.begin, encoding.spans[i].begin), std::max(all.end, encoding.spans[i].end)};
  if (all.begin >= all.end) return {whole, encoding.spans};
  PieceText part{whole.substr(static_cast<std::size_t>(all.begin), static_cast<std::size_t>(all.end - all.begin)),
                 encoding.spans};
  for (std::size_t i = 0; i < part.spans.size(); ++i)
    if (!encoding.special[i]) part.spans[i].begin -= all.begin, part.spans[i].end -= all.begin;
  return part;
}

/// The map of a hypothesis, with room for its weights.
AttentionMap map_of(const TranslationModel& model, const std::string& text, const SourcePiece& piece,
                    const Hypothesis& hypothesis, const AttentionSelection& selection) {
  AttentionMap map;
  const PieceText source = piece.whole ? PieceText{text, piece.encoding.spans} : text_of(text, piece.encoding);
  map.kind = model.kind, map.text = source.text;
  map.translation = model.target.decode(hypothesis.ids);
  map.truncated = piece.encoding.dropped;
  const AttentionTokens sources = attention_tokens(model.source, piece.encoding.ids, source.text, source.spans);
  const AttentionTokens targets =
      attention_tokens(model.target, hypothesis.ids, *map.translation, spans_of(model.target, hypothesis.ids));
  // The decoder's inputs: the start token, and all generated tokens but the last.
  AttentionTokens read = targets;
  const std::int32_t start = model.generation.search.start;
  read.shown.insert(read.shown.begin(), shown_token(model.target, start)), read.shown.pop_back();
  read.written.insert(read.written.begin(), model.target.token(start)), read.written.pop_back();
  read.words.insert(read.words.begin(), -1), read.words.pop_back();
  AttentionView encoder{AttentionKind::encoder, false, sources, sources};
  AttentionView decoder{AttentionKind::decoder, true, read, read};
  AttentionView cross{AttentionKind::cross, false, targets, sources};
  const auto add = [&](AttentionView& view, const Seq2SeqSpec::Attention& there) {
    const bool is_cross = view.kind == AttentionKind::cross;
    AttentionSelection own = selection;
    if (is_cross && model.spec.pointer && own.one_layer && own.layers.empty()) own.layers = {-1};
    if (there.layers == 0 || !prepare(view, there.layers, there.heads, own, is_cross)) return;
    if (view.kind == AttentionKind::cross) map.main = map.views.size();
    map.views.push_back(std::move(view));
  };
  add(encoder, model.spec.encoder), add(decoder, model.spec.decoder), add(cross, model.spec.cross);
  if (map.views.empty())
    fail<InputError>("attention", "the model has no attention of that kind; of type \"", model.kind, "\", it has ",
                     model.spec.encoder.layers > 0 ? "encoder, decoder and cross" : "cross only");
  return map;
}

/// The attention of the n-th hypotheses of some pieces: one more pass over their tokens, with a probe.
void record_attention(const TranslationModel& model, std::span<const std::string> texts,
                      std::vector<SourcePiece>& pieces, const std::vector<std::size_t>& batch, std::size_t n,
                      const TranslateOptions& options) {
  std::vector<std::vector<std::int32_t>> inputs;
  std::vector<AttentionMap> maps(batch.size());
  std::vector<AttentionMap*> wanted(batch.size());
  for (std::size_t b = 0; b < batch.size(); ++b) {
    SourcePiece& piece = pieces[batch[b]];
    std::vector<std::int32_t>& tokens = inputs.emplace_back(1, model.generation.search.start);
    if (n >= piece.hypotheses.size()) continue;
    const std::vector<std::int32_t>& ids = piece.hypotheses[n].ids;
    if (ids.empty()) continue;
    tokens.insert(tokens.end(), ids.begin(), ids.end() - 1);
    if (!options.maps) continue;
    maps[b] = map_of(model, texts[piece.text], piece, piece.hypotheses[n], *options.maps);
    wanted[b] = &maps[b];
  }
  const auto chosen = static_cast<std::int64_t>(chosen_layer(model, options));
  Probe probe([&](const Probe::Record& record) {
    keep(record, wanted);
    if (const AttentionPlace place = place_of(record.layer);
        place.kind != AttentionKind::cross || place.layer != chosen)
      return;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      SourcePiece& piece = pieces[batch[b]];
      if (n < piece.hypotheses.size())
        piece.attention.push_back(chosen_head(record.weights, options.head, static_cast<std::int64_t>(b),
                                              static_cast<std::int64_t>(piece.hypotheses[n].ids.size()),
                                              piece.encoding.size()));
    }
  });
  std::vector<std::span<const std::int32_t>> ids;
  for (const std::size_t i : batch) ids.emplace_back(pieces[i].source);
  const TokenBatch sources = pad(ids, model.padding);
  const std::vector<std::span<const std::int32_t>> rows(inputs.begin(), inputs.end());
  model.network->record_attention(sources.ids, sources.lengths, pad(rows, model.padding).ids, probe);
  for (std::size_t b = 0; b < batch.size(); ++b) pieces[batch[b]].maps.push_back(std::move(maps[b]));
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(tokenizer.token(id));
  return tokens;
}

Translation translation_of(const TranslationModel& model, const std::string& text, const SourcePiece& piece,
                           std::size_t n, bool with_attention) {
  const Hypothesis& hypothesis = piece.hypotheses[n];
  Translation t;
  t.text = model.target.decode(hypothesis.ids);
  t.score = hypothesis.score, t.log_probability = hypothesis.log_probability, t.ids = hypothesis.ids,
  t.finished = hypothesis.finished;
  t.cuts = piece.cut ? 1 : 0, t.too_long = piece.too_long, t.truncated = piece.encoding.dropped,
  t.invalid = piece.encoding.invalid;
  if (with_attention && n < piece.attention.size()) {
    t.source_tokens = tokens_of(model.source, piece.encoding.ids);
    t.source_spans = piece.encoding.spans;
    t.target_tokens = tokens_of(model.target, hypothesis.ids);
    t.target_spans = spans_of(model.target, hypothesis.ids);
    t.attention = piece.attention[n];
  }
  if (with_attention && n < piece.maps.size() && !piece.maps[n].views.empty()) {
    AttentionMap& map = t.maps.emplace_back(piece.maps[n]);
    map.score = t.score;
    // The map counts words in the piece.
    Translation own = t;
    if (!piece.whole) own.source_spans = text_of(text, piece.encoding).spans;
    map.alignments = align_words(map.text, own);
  }
  return t;
}

/// Appends the translation of the next piece of a text.
void append(Translation& whole, Translation&& part, const SourcePiece& piece) {
  whole.text += between(whole.text, part.text, piece);
  const auto offset = static_cast<std::int64_t>(whole.text.size());
  whole.text += part.text;
  whole.score += part.score, whole.log_probability += part.log_probability;
  whole.finished &= part.finished, whole.truncated += part.truncated;
  whole.pieces += part.pieces, whole.cuts += part.cuts, whole.invalid += part.invalid;
  whole.too_long |= part.too_long;
  whole.ids.insert(whole.ids.end(), part.ids.begin(), part.ids.end());
  const std::size_t before = whole.source_tokens.size();
  constexpr std::size_t kMostWeights = 64 << 20;  // 256 MB: the matrix grows with the square of the text
  if (!part.attention.empty() &&
      (before + part.source_tokens.size()) >
          kMostWeights / std::max<std::size_t>(whole.attention.size() + part.attention.size(), 1))
    fail<InputError>("translate", "the text is too long to give its attention as one matrix: got more than ",
                     kMostWeights, " weights; translate it line by line");
  for (std::vector<float>& row : whole.attention) row.resize(before + part.source_tokens.size());
  for (std::vector<float>& row : part.attention) {
    row.insert(row.begin(), before, 0.f);
    whole.attention.push_back(std::move(row));
  }
  for (Span& span : part.target_spans) span.begin += offset, span.end += offset;
  std::ranges::move(part.source_tokens, std::back_inserter(whole.source_tokens));
  std::ranges::move(part.source_spans, std::back_inserter(whole.source_spans));
  std::ranges::move(part.target_tokens, std::back_inserter(whole.target_tokens));
  std::ranges::move(part.target_spans, std::back_inserter(whole.target_spans));
  std::ranges::move(part.maps, std::back_inserter(whole.maps));
}

/// One hypothesis of each piece of a text.
struct Combination {
  double score = 0;                      // the sum of their scores
  std::vector<std::size_t> chosen = {};  // the hypothesis of each piece
};

/// The nbest combinations with the highest sums, best first. Samples are combined in their order, the n-th of each
/// piece to the n-th of the text, so that they stay independent of each other.
std::vector<Combination> combinations(std::span<const SourcePiece> pieces, const SearchOptions& search) {
  const auto nbest = static_cast<std::size_t>(search.nbest);
  std::vector<Combination> best(search.sample ? nbest : 1);
  for (const SourcePiece& piece : pieces) {
    struct Candidate {
      double score;
      std::size_t before, hypothesis;
    };
    std::vector<Candidate> candidates;
    const std::vector<Hypothesis>& own = piece.hypotheses;
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (search.sample) {
        const std::size_t n = std::min(i, own.size() - 1);
        candidates.push_back({best[i].score + own[n].score, i, n});
        continue;
      }
      // (i + 1) × (j + 1) candidates are at least as good as this one.
      for (std::size_t j = 0; j < own.size() && (i + 1) * (j + 1) <= nbest; ++j)
        candidates.push_back({best[i].score + own[j].score, i, j});
    }
    if (!search.sample) std::ranges::stable_sort(candidates, std::greater(), &Candidate::score);
    candidates.resize(std::min(candidates.size(), nbest));
    std::vector<Combination> longer;
    for (const auto& [score, before, hypothesis] : candidates) {
      // With one candidate there is nothing to copy; the time would grow with the square of the number of pieces.
      longer.push_back({score, candidates.size() == 1 ? std::move(best[before].chosen) : best[before].chosen});
      longer.back().chosen.push_back(hypothesis);
    }
    best = std::move(longer);
  }
  return best;
}

}  // namespace

Translator::Translator(const ModelFolder& folder)
    : model_(std::make_shared<const Model>(Model{load_translation_model(folder)})) {}

Translator::Translator(Transformer model, const Tokenizer& source, const Tokenizer& target)
    : model_(std::make_shared<const Model>(Model{translation_model(std::move(model), source, target)})) {}

Translator::Translator(RecurrentTranslator model, const Tokenizer& tokenizer)
    : model_(std::make_shared<const Model>(Model{translation_model(std::move(model), tokenizer)})) {}

const Tokenizer& Translator::source_tokenizer() const { return model_->source; }
const Tokenizer& Translator::target_tokenizer() const { return model_->target; }
const GenerationConfig& Translator::generation() const { return model_->generation; }
Translator Translator::with_generation(GenerationConfig generation) const {
  Model changed = *model_;
  changed.generation = std::move(generation);
  return Translator(std::make_shared<const Model>(std::move(changed)));
}
const LanguageTokens& Translator::languages() const { return model_->source.languages(); }

void Translator::check(const TranslateOptions& options) const {
  in_languages(*model_, options.source_language, options.target_language);
  if (options.attention || options.maps) chosen_layer(*model_, options);
}

std::int64_t Translator::max_new_tokens(const std::string& prefix) const {
  if (model_->network->max_positions() == 0) return 0;
  return model_->network->max_positions() - static_cast<std::int64_t>(model_->target.ids(prefix).size());
}

std::int64_t Translator::max_source_tokens() const { return model_->spec.max_source; }
bool Translator::lowercase() const { return model_->spec.case_step > 0; }
SentenceMode Translator::sentences() const { return model_->sentences; }

std::shared_ptr<const GenerativeModel> Translator::generator() const { return model_->network; }

struct TranslationJob::Content {
  std::shared_ptr<const TranslationModel> model;
  std::span<const std::string> texts;
  TranslateOptions options;
  SearchOptions search;
  std::vector<SourcePiece> pieces;
  std::vector<std::size_t> order = {};  // the pieces of the requests
  std::vector<EngineRequest> requests = {};
  std::size_t answered = 0;

  bool needs_attention() const { return options.attention || options.maps; }
  void record_attention() {
    const std::int64_t hypotheses = options.only_best_attention ? 1 : search.nbest;
    for (const std::vector<std::size_t>& batch :
         batches_of(pieces, options.batch_tokens, std::max(search.beam, search.nbest)))
      for (std::int64_t n = 0; n < hypotheses; ++n) {
        check_stop();
        attend::record_attention(*model, texts, pieces, batch, static_cast<std::size_t>(n), options);
      }
  }
};

TranslationJob::~TranslationJob() = default;
TranslationJob::TranslationJob(TranslationJob&&) noexcept = default;
TranslationJob& TranslationJob::operator=(TranslationJob&&) noexcept = default;

TranslationJob::TranslationJob(const Translator& translator, std::span<const std::string> texts,
                               const TranslateOptions& options) {
  translator.check(options);
  const auto chosen = std::make_shared<const TranslationModel>(
      in_languages(*translator.model_, options.source_language, options.target_language));
  const TranslationModel& model = *chosen;
  content_ = std::make_unique<Content>(
      Content{chosen, texts, options, search_options(model, options.search), cut(model, texts, options)});
  const std::vector<std::int32_t> prefix = target_ids(model, options.search.prefix.value_or(""));
  content_->order = by_length(content_->pieces);
  std::vector<SearchInput> inputs;
  for (const std::size_t i : content_->order)
    inputs.push_back(search_input(model, content_->pieces[i], content_->search, prefix));
  content_->requests = make_requests(*model.network, content_->search, std::move(inputs));
}

std::vector<EngineRequest> TranslationJob::take_requests() { return std::move(content_->requests); }

void TranslationJob::set(std::size_t request, std::vector<Hypothesis>&& hypotheses) {
  content_->pieces[content_->order[request]].hypotheses = std::move(hypotheses);
  ++content_->answered;
}

bool TranslationJob::complete() const { return content_->answered == content_->pieces.size(); }

std::vector<std::vector<Translation>> TranslationJob::finish() {
  Content& job = *content_;
  if (job.needs_attention()) job.record_attention();
  const auto shown = [&](std::size_t n) {
    return job.needs_attention() && (n == 0 || !job.options.only_best_attention);
  };
  std::vector<std::vector<Translation>> results(job.texts.size());
  for (std::size_t begin = 0, end = 0; begin < job.pieces.size(); begin = end) {
    check_stop();
    const std::size_t index = job.pieces[begin].text;
    while (end < job.pieces.size() && job.pieces[end].text == index) ++end;
    const std::span<const SourcePiece> pieces = std::span(job.pieces).subspan(begin, end - begin);
    for (const Combination& combination : combinations(pieces, job.search)) {
      std::vector<Translation>& all = results[index];
      const bool with_attention = shown(all.size());
      Translation& whole = all.emplace_back();
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        Translation part =
            translation_of(*job.model, job.texts[index], pieces[p], combination.chosen[p], with_attention);
        if (p == 0)
          whole = std::move(part);
        else
          append(whole, std::move(part), pieces[p]);
      }
      if (job.search.sample) whole.seed = job.search.seed;
    }
  }
  for (std::vector<Translation>& all : results)
    if (all.empty()) all.emplace_back().pieces = 0;
  return results;
}

std::vector<std::vector<Translation>> Translator::operator()(std::span<const std::string> texts,
                                                             const TranslateOptions& options,
                                                             const Progress& progress) const {
  TranslationJob job(*this, texts, options);
  std::vector<EngineRequest> requests = job.take_requests();
  Engine engine(model_->network,
                {.rows = kMaxRows, .source_tokens = options.batch_tokens, .read_tokens = options.batch_tokens});
  std::size_t joined = 0;
  std::int64_t done = 0;
  do {
    // Sources are encoded together: the next ones join when half of the batch is free.
    if (engine.rows() <= kRefillRows && 2 * engine.source_tokens() <= options.batch_tokens)
      for (; joined < requests.size() && engine.has_room(requests[joined]); ++joined) {
        EngineListener listener;
        listener.done = [&, i = joined](std::vector<Hypothesis>&& hypotheses) {
          job.set(i, std::move(hypotheses));
          if (progress) progress(++done, std::ssize(requests));
        };
        engine.join(std::move(requests[joined]), std::move(listener));
      }
  } while (engine.step() || joined < requests.size());
  return job.finish();
}

Translation Translator::operator()(const std::string& text, const TranslateOptions& options) const {
  return (*this)(std::span(&text, 1), options).front().front();
}

Translation Translator::attention_of(const std::string& text, const std::string& translation,
                                     const TranslateOptions& options) const {
  const TranslationModel model = in_languages(*model_, options.source_language, options.target_language);
  chosen_layer(model, options);
  const NoGrad no_grad;
  const Training no_training(false);
  TranslateOptions whole = options;
  whole.sentences = SentenceMode::whole;
  if (whole.long_text == LongText::split) whole.long_text = LongText::error;
  std::vector<SourcePiece> pieces = cut(model, std::span(&text, 1), whole);
  if (pieces.empty()) fail<InputError>("attention", "the text is blank");
  Hypothesis given{.ids = target_ids(model, translation), .finished = true};
  if (given.ids.empty()) fail<InputError>("attention", "the translation is blank");
  given.ids.push_back(model.generation.search.ends.front());
  if (model.network->max_positions() > 0 && std::ssize(given.ids) > model.network->max_positions())
    fail<InputError>("attention", "the translation is too long: got ", given.ids.size(), " tokens, expected at most ",
                     model.network->max_positions());
  pieces.front().hypotheses = {std::move(given)};
  record_attention(model, std::span(&text, 1), pieces, {0}, 0, options);
  Translation looked = translation_of(model, text, pieces.front(), 0, true);
  looked.text = translation;
  for (AttentionMap& map : looked.maps) map.score.reset();
  return looked;
}

}  // namespace attend
