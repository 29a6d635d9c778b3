#include "attend/decode/translator.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "attend/core/error.h"
#include "attend/data/batches.h"
#include "attend/decode/recurrent_stepper.h"
#include "attend/nn/module.h"
#include "attend/ops/tape.h"

namespace attend {

struct Translator::Model {
  Tokenizer source, target;
  SearchOptions words;  // start, end, never
  std::function<std::unique_ptr<Stepper>(const TokenBatch& sources, bool remember_attention)> read;
};

namespace {

/// A text, or a window of one that is too long, on its way.
struct Piece {
  std::size_t text;
  Encoding encoding;
  std::vector<Hypothesis> hypotheses = {};
};

std::vector<Piece> cut(const Tokenizer& tokenizer, std::span<const std::string> texts, const EncodeOptions& options) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (Encoding& window : tokenizer.encode_windows(texts[i], options)) pieces.push_back({i, std::move(window)});
  return pieces;
}

/// Neighbours in the order of length, as many as fit.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Piece>& pieces, std::int64_t batch_tokens) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return pieces[i].encoding.size(); });
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t longest = 0;
  for (const std::size_t i : order) {
    const bool full =
        !batches.empty() && longest * (static_cast<std::int64_t>(batches.back().size()) + 1) > batch_tokens;
    if (batches.empty() || full) batches.emplace_back(), longest = std::max<std::int64_t>(pieces[i].encoding.size(), 1);
    batches.back().push_back(i);
  }
  return batches;
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(tokenizer.token(id));
  return tokens;
}

Translation translation_of(const Translator::Model& model, const Piece& piece, const Hypothesis& hypothesis,
                           bool with_attention) {
  Translation t;
  t.text = model.target.decode(hypothesis.ids);
  t.score = hypothesis.score, t.ids = hypothesis.ids, t.finished = hypothesis.finished;
  t.truncated = piece.encoding.dropped;
  if (with_attention) {
    t.source_tokens = tokens_of(model.source, piece.encoding.ids);
    t.target_tokens = tokens_of(model.target, hypothesis.ids);
    t.attention = hypothesis.attention;
    for (std::vector<float>& row : t.attention) row.resize(piece.encoding.ids.size());  // without the padding
  }
  return t;
}

/// What follows a translation, when a text came in several pieces.
void append(Translation& whole, Translation&& part) {
  whole.text += (whole.text.empty() || part.text.empty() ? "" : " ") + part.text;
  whole.score += part.score, whole.finished &= part.finished, whole.truncated += part.truncated;
  whole.ids.insert(whole.ids.end(), part.ids.begin(), part.ids.end());
  const std::size_t before = whole.source_tokens.size();
  for (std::vector<float>& row : whole.attention) row.resize(before + part.source_tokens.size());
  for (std::vector<float>& row : part.attention) {
    row.insert(row.begin(), before, 0.f);
    whole.attention.push_back(std::move(row));
  }
  std::ranges::move(part.source_tokens, std::back_inserter(whole.source_tokens));
  std::ranges::move(part.target_tokens, std::back_inserter(whole.target_tokens));
}

std::int32_t needed(const char* what, const std::optional<std::int32_t>& id) {
  if (!id) fail<InputError>("translator", "the tokenizer has no ", what, " token, which a translator needs");
  return *id;
}

std::shared_ptr<const Translator::Model> recurrent(RecurrentTranslator translator, const Tokenizer& tokenizer) {
  const SpecialTokens& special = tokenizer.special();
  const std::int32_t end = needed("end-of-sentence", special.eos), padding = needed("padding", special.padding);
  auto model = std::make_shared<Translator::Model>(Translator::Model{tokenizer, tokenizer, {}, {}});
  model->words.start = model->words.end = end;
  model->words.never = {padding};
  if (special.unknown) model->words.never.push_back(*special.unknown);
  model->read = [translator = std::move(translator)](const TokenBatch& sources, bool remember) {
    return std::make_unique<RecurrentStepper>(translator, sources.ids, sources.lengths, remember);
  };
  return model;
}

}  // namespace

Translator::Translator(RecurrentTranslator model, const Tokenizer& tokenizer)
    : model_(recurrent(std::move(model), tokenizer)) {}

Translator::Translator(const std::filesystem::path& folder) {
  const Config config(folder / "config.json");
  const std::string type = config.text("model_type", "");
  if (type != kRecurrentTranslatorType)
    fail<InputError>("translator", folder.string(), ": holds a model of type \"", type, "\", expected a translator (",
                     kRecurrentTranslatorType, ")");
  RecurrentTranslator translator(RecurrentTranslatorOptions::read(config));
  load_parameters(translator, folder);
  model_ = recurrent(std::move(translator), load_tokenizer(folder));
}

const Tokenizer& Translator::source_tokenizer() const { return model_->source; }
const Tokenizer& Translator::target_tokenizer() const { return model_->target; }

std::vector<std::vector<Translation>> Translator::operator()(std::span<const std::string> texts,
                                                             const TranslateOptions& options,
                                                             const Progress& progress) const {
  const NoGrad no_grad;
  std::vector<Piece> pieces =
      cut(model_->source, texts, {.max_tokens = options.max_tokens, .long_text = options.long_text});
  std::int64_t done = 0;
  for (const std::vector<std::size_t>& batch : batches_of(pieces, options.batch_tokens)) {
    std::vector<std::span<const std::int32_t>> sources;
    sources.reserve(batch.size());
    for (const std::size_t i : batch) sources.emplace_back(pieces[i].encoding.ids);
    const std::int64_t longest = static_cast<std::int64_t>(sources.front().size());
    SearchOptions search_options = model_->words;
    search_options.beam = options.beam, search_options.nbest = options.nbest;
    search_options.length_penalty = options.length_penalty, search_options.remember_attention = options.attention;
    search_options.max_new_tokens = options.max_new_tokens > 0 ? options.max_new_tokens : 2 * longest + 20;
    const auto stepper = model_->read(pad(sources, search_options.never.front()), options.attention);
    std::vector<std::vector<Hypothesis>> found =
        search(*stepper, static_cast<std::int64_t>(batch.size()), search_options);
    for (std::size_t i = 0; i < batch.size(); ++i) pieces[batch[i]].hypotheses = std::move(found[i]);
    done += static_cast<std::int64_t>(batch.size());
    if (progress) progress(done, static_cast<std::int64_t>(pieces.size()));
  }

  std::vector<std::vector<Translation>> results(texts.size());
  for (const Piece& piece : pieces)
    for (std::size_t n = 0; n < piece.hypotheses.size(); ++n) {
      Translation part = translation_of(*model_, piece, piece.hypotheses[n], options.attention);
      std::vector<Translation>& all = results[piece.text];
      const bool first = &piece == pieces.data() || (&piece)[-1].text != piece.text;
      if (first)
        all.push_back(std::move(part));
      else if (n < all.size())
        append(all[n], std::move(part));
    }
  return results;
}

Translation Translator::operator()(const std::string& text, const TranslateOptions& options) const {
  return (*this)(std::span(&text, 1), options).front().front();
}

}  // namespace attend
