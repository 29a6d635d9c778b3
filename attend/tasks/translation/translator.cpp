#include "attend/tasks/translation/translator.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/data/hash.h"
#include "attend/decode/generation_options.h"
#include "attend/ops/dropout.h"
#include "attend/ops/tape.h"
#include "attend/tasks/attention/attention_tokens.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translation_model.h"
#include "attend/text/sentences.h"
#include "attend/text/shown_token.h"

namespace attend {

struct Translator::Model : TranslationModel {};

namespace {

/// The most hypotheses at once: their logits are the largest thing in memory.
constexpr std::int64_t kMaxRows = 256;
/// With so few hypotheses left, others join them.
constexpr std::int64_t kRefillRows = kMaxRows / 2;

/// A text, or a part of one that is too long, on its way.
struct Piece {
  std::size_t text;
  Encoding encoding;         // spans are in the whole text
  bool first = true;         // of its text
  std::string between = {};  // what stands between it and the one before
  bool touches = false;      // the one before, as sentences of its script do
  bool cut = false;          // begins inside a sentence
  bool whole = true;         // nothing of its text is in another
  std::vector<Hypothesis> hypotheses = {};
  std::vector<std::vector<std::vector<float>>> attention = {};  // of each hypothesis
  std::vector<AttentionMap> maps = {};                          // of each
};

bool is_blank(const Encoding& encoding) {
  return std::ranges::all_of(encoding.special, [](std::uint8_t special) { return special != 0; });
}

/// Windows of a sentence with more tokens than the model takes.
void cut_windows(const Tokenizer& tokenizer, std::string_view text, Span sentence, std::int64_t limit, Piece piece,
                 std::vector<Piece>& pieces) {
  const auto begin = static_cast<std::size_t>(sentence.begin), end = static_cast<std::size_t>(sentence.end);
  const EncodeOptions options{.max_tokens = limit, .long_text = LongText::split};
  for (Encoding& window : tokenizer.encode_windows(text.substr(begin, end - begin), options)) {
    for (std::size_t i = 0; i < window.spans.size(); ++i)
      if (!window.special[i]) window.spans[i].begin += sentence.begin, window.spans[i].end += sentence.begin;
    piece.encoding = std::move(window);
    pieces.push_back(piece);
    piece.first = false, piece.cut = true;
  }
}

/// A text that is too long, by sentences.
void cut_sentences(const Tokenizer& tokenizer, std::size_t index, std::string_view text, std::int64_t limit,
                   std::vector<Piece>& pieces) {
  std::size_t end = 0;  // of the sentence before
  for (const Span& sentence : sentences(text)) {
    const auto begin = static_cast<std::size_t>(sentence.begin);
    const Piece piece{index,
                      {},
                      end == 0,
                      std::string(text.substr(end, begin - end)),
                      end > 0 && sentences_touch(text.substr(0, end), text.substr(begin)),
                      false,
                      false};
    cut_windows(tokenizer, text, sentence, limit, piece, pieces);
    end = static_cast<std::size_t>(sentence.end);
  }
}

/// What stands between two translations: what stood between their sources, unless they are written in another way.
std::string between(std::string_view left, std::string_view right, const Piece& piece) {
  if (left.empty() || right.empty()) return "";
  if (piece.cut) return words_touch(left, right) ? "" : " ";
  const bool touches = sentences_touch(left, right);
  if (touches == piece.touches || piece.between.find('\n') != std::string::npos) return piece.between;
  if (touches) return "";
  constexpr std::string_view kWideSpace = "　";
  return piece.between.empty() || piece.between.find(kWideSpace) != std::string::npos ? " " : piece.between;
}

std::vector<Piece> cut(const TranslationModel& model, std::span<const std::string> texts,
                       const TranslateOptions& options) {
  const std::int64_t model_limit = model.spec.max_source;
  const std::int64_t limit = options.max_tokens > 0 && (model_limit == 0 || options.max_tokens < model_limit)
                                 ? options.max_tokens
                                 : model_limit;
  std::vector<Encoding> encodings = model.source.encode_all(texts);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Encoding& encoding = encodings[i];
    if (is_blank(encoding)) continue;
    if (limit == 0 || encoding.size() <= limit) {
      pieces.push_back({i, std::move(encoding)});
    } else if (options.long_text == LongText::truncate) {
      pieces.push_back({i, model.source.encode(texts[i], {.max_tokens = limit, .long_text = LongText::truncate})});
    } else if (options.long_text == LongText::split) {
      cut_sentences(model.source, i, texts[i], limit, pieces);
    } else {
      throw TextError(i, "the text is too long: got " + std::to_string(encoding.size()) + " tokens, expected at most " +
                             std::to_string(limit));
    }
  }
  return pieces;
}

/// The longest first.
std::vector<std::size_t> by_length(const std::vector<Piece>& pieces) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return pieces[i].encoding.size(); });
  return order;
}

/// Neighbours in the order of length, as many as fit.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Piece>& pieces, std::int64_t batch_tokens,
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

SearchInput search_input(const TranslationModel& model, const Piece& piece, const SearchOptions& search,
                         const std::vector<std::int32_t>& prefix) {
  SearchInput input;
  input.source = piece.encoding.ids;
  if (piece.first) input.prefix = prefix;
  const auto prompt = static_cast<std::int64_t>(input.prefix.size()) + 1;
  std::int64_t more = search.max_new_tokens;
  if (more == 0) more = search.max_length > 0 ? search.max_length - prompt : 2 * piece.encoding.size() + 20;
  if (model.network->max_positions() > 0) more = std::min(more, model.network->max_positions() + 1 - prompt);
  if (more < 1)
    throw TextError(piece.text, "the prefix leaves no room for a translation: got " + std::to_string(prompt - 1) +
                                    " tokens of prefix");
  input.max_new_tokens = more;
  const auto& ids = piece.encoding.ids;
  input.stream = hash_text({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(ids[0])}).low;
  return input;
}

/// The layer that the options choose. Throws when the model lacks it, or the head.
std::size_t chosen_layer(const TranslationModel& model, const TranslateOptions& options) {
  const auto [count, heads] = model.spec.cross;
  if (count == 0) fail<InputError>("translator", "the model has no attention, so there is none to look at");
  // Deep decoders think of the next word in their last layer already.
  const std::int64_t wanted = options.layer.value_or(count > 4 ? -2 : -1);
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

/// What a piece was cut from its text, and the spans of its tokens in that.
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
AttentionMap map_of(const TranslationModel& model, const std::string& text, const Piece& piece, const Hypothesis& said,
                    const AttentionSelection& selection) {
  AttentionMap map;
  const PieceText source = piece.whole ? PieceText{text, piece.encoding.spans} : text_of(text, piece.encoding);
  map.kind = model.kind, map.text = source.text;
  map.translation = model.target.decode(said.ids);
  map.truncated = piece.encoding.dropped;
  const AttentionTokens sources = attention_tokens(model.source, piece.encoding.ids, source.text, source.spans);
  const AttentionTokens targets =
      attention_tokens(model.target, said.ids, *map.translation, spans_of(model.target, said.ids));
  // What the decoder reads when it says them: the start, and all but the last.
  AttentionTokens read = targets;
  const std::int32_t start = model.generation.search.start;
  read.shown.insert(read.shown.begin(), shown_token(model.target, start)), read.shown.pop_back();
  read.written.insert(read.written.begin(), model.target.token(start)), read.written.pop_back();
  read.words.insert(read.words.begin(), -1), read.words.pop_back();
  AttentionView encoder{AttentionKind::encoder, false, sources, sources};
  AttentionView decoder{AttentionKind::decoder, true, read, read};
  AttentionView cross{AttentionKind::cross, false, targets, sources};
  const auto add = [&](AttentionView& view, const Seq2SeqSpec::Attention& there) {
    if (there.layers == 0 || !prepare(view, there.layers, there.heads, selection, view.kind == AttentionKind::cross))
      return;
    if (view.kind == AttentionKind::cross) map.main = map.views.size();
    map.views.push_back(std::move(view));
  };
  add(encoder, model.spec.encoder), add(decoder, model.spec.decoder), add(cross, model.spec.cross);
  if (map.views.empty())
    fail<InputError>("attention", "the model has no attention of that kind; of type \"", model.kind, "\", it has ",
                     model.spec.encoder.layers > 0 ? "encoder, decoder and cross" : "cross only");
  return map;
}

/// Where the n-th hypotheses of some pieces look: all of them said once more, with a probe.
void look(const TranslationModel& model, std::span<const std::string> texts, std::vector<Piece>& pieces,
          const std::vector<std::size_t>& batch, std::size_t n, const TranslateOptions& options) {
  std::vector<std::vector<std::int32_t>> said;
  std::vector<AttentionMap> maps(batch.size());
  std::vector<AttentionMap*> wanted(batch.size());
  for (std::size_t b = 0; b < batch.size(); ++b) {
    Piece& piece = pieces[batch[b]];
    std::vector<std::int32_t>& words = said.emplace_back(1, model.generation.search.start);
    if (n >= piece.hypotheses.size()) continue;
    const std::vector<std::int32_t>& ids = piece.hypotheses[n].ids;
    if (ids.empty()) continue;
    words.insert(words.end(), ids.begin(), ids.end() - 1);
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
      Piece& piece = pieces[batch[b]];
      if (n < piece.hypotheses.size())
        piece.attention.push_back(chosen_head(record.weights, options.head, static_cast<std::int64_t>(b),
                                              static_cast<std::int64_t>(piece.hypotheses[n].ids.size()),
                                              piece.encoding.size()));
    }
  });
  std::vector<std::span<const std::int32_t>> ids;
  for (const std::size_t i : batch) ids.emplace_back(pieces[i].encoding.ids);
  const TokenBatch sources = pad(ids, model.padding);
  const std::vector<std::span<const std::int32_t>> rows(said.begin(), said.end());
  model.network->record_attention(sources.ids, sources.lengths, pad(rows, model.padding).ids, probe);
  for (std::size_t b = 0; b < batch.size(); ++b) pieces[batch[b]].maps.push_back(std::move(maps[b]));
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(tokenizer.token(id));
  return tokens;
}

Translation translation_of(const TranslationModel& model, const std::string& text, const Piece& piece, std::size_t n,
                           bool with_attention) {
  const Hypothesis& hypothesis = piece.hypotheses[n];
  Translation t;
  t.text = model.target.decode(hypothesis.ids);
  t.score = hypothesis.score, t.ids = hypothesis.ids, t.finished = hypothesis.finished;
  t.cuts = piece.cut ? 1 : 0, t.truncated = piece.encoding.dropped, t.invalid = piece.encoding.invalid;
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
    // Words are counted in the piece, as the map's tokens are.
    Translation own = t;
    if (!piece.whole) own.source_spans = text_of(text, piece.encoding).spans;
    map.alignments = align_words(map.text, own);
  }
  return t;
}

/// What follows a translation, when a text came in several pieces.
void append(Translation& whole, Translation&& part, const Piece& piece) {
  whole.text += between(whole.text, part.text, piece);
  const auto offset = static_cast<std::int64_t>(whole.text.size());
  whole.text += part.text;
  whole.score += part.score, whole.finished &= part.finished, whole.truncated += part.truncated;
  whole.pieces += part.pieces, whole.cuts += part.cuts, whole.invalid += part.invalid;
  whole.ids.insert(whole.ids.end(), part.ids.begin(), part.ids.end());
  const std::size_t before = whole.source_tokens.size();
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

void Translator::check(const TranslateOptions& options) const {
  if (options.attention || options.maps) chosen_layer(*model_, options);
}

std::int64_t Translator::max_new_tokens(const std::string& prefix) const {
  if (model_->network->max_positions() == 0) return 0;
  return model_->network->max_positions() - static_cast<std::int64_t>(model_->target.ids(prefix).size());
}

std::shared_ptr<const GenerativeModel> Translator::generator() const { return model_->network; }

struct TranslationJob::Content {
  std::shared_ptr<const TranslationModel> model;
  std::span<const std::string> texts;
  TranslateOptions options;
  SearchOptions search;
  std::vector<Piece> pieces;
  std::vector<std::size_t> order = {};  // the pieces of the requests
  std::vector<EngineRequest> requests = {};
  std::size_t answered = 0;

  bool looks() const { return options.attention || options.maps; }
  void look() {
    const std::int64_t hypotheses = options.only_best_attention ? 1 : search.nbest;
    for (const std::vector<std::size_t>& batch :
         batches_of(pieces, options.batch_tokens, std::max(search.beam, search.nbest)))
      for (std::int64_t n = 0; n < hypotheses; ++n)
        attend::look(*model, texts, pieces, batch, static_cast<std::size_t>(n), options);
  }
};

TranslationJob::~TranslationJob() = default;
TranslationJob::TranslationJob(TranslationJob&&) noexcept = default;
TranslationJob& TranslationJob::operator=(TranslationJob&&) noexcept = default;

TranslationJob::TranslationJob(const Translator& translator, std::span<const std::string> texts,
                               const TranslateOptions& options) {
  translator.check(options);
  const TranslationModel& model = *translator.model_;
  content_ = std::make_unique<Content>(
      Content{translator.model_, texts, options, search_options(model, options.search), cut(model, texts, options)});
  const std::vector<std::int32_t> prefix = model.target.ids(options.search.prefix.value_or(""));
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
  if (job.looks()) job.look();
  const auto shown = [&](std::size_t n) { return job.looks() && (n == 0 || !job.options.only_best_attention); };
  std::vector<std::vector<Translation>> results(job.texts.size());
  for (const Piece& piece : job.pieces) {
    std::vector<Translation>& all = results[piece.text];
    const std::string& text = job.texts[piece.text];
    const std::size_t last = piece.hypotheses.size() - 1;
    if (piece.first)
      for (std::size_t n = 0; n <= last; ++n) all.push_back(translation_of(*job.model, text, piece, n, shown(n)));
    else
      for (std::size_t n = 0; n < all.size(); ++n)
        append(all[n], translation_of(*job.model, text, piece, std::min(n, last), shown(n)), piece);
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
    // Sources are encoded together: the next ones join when a good part of the batch is free.
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
  const TranslationModel& model = *model_;
  chosen_layer(model, options);
  const NoGrad no_grad;
  const Training no_training(false);
  TranslateOptions whole = options;
  if (whole.long_text == LongText::split) whole.long_text = LongText::error;
  std::vector<Piece> pieces = cut(model, std::span(&text, 1), whole);
  if (pieces.empty()) fail<InputError>("attention", "the text is blank: there is nothing to look at");
  Hypothesis given{.ids = model.target.ids(translation), .finished = true};
  if (given.ids.empty()) fail<InputError>("attention", "the translation is blank: there is nothing that looks");
  given.ids.push_back(model.generation.search.ends.front());
  if (model.network->max_positions() > 0 && std::ssize(given.ids) > model.network->max_positions())
    fail<InputError>("attention", "the translation is too long: got ", given.ids.size(), " tokens, expected at most ",
                     model.network->max_positions());
  pieces.front().hypotheses = {std::move(given)};
  attend::look(model, std::span(&text, 1), pieces, {0}, 0, options);
  Translation looked = translation_of(model, text, pieces.front(), 0, true);
  looked.text = translation;
  for (AttentionMap& map : looked.maps) map.score.reset();
  return looked;
}

}  // namespace attend
