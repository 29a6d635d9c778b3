#include "attend/tasks/embedding/text_encoder.h"

#include <algorithm>
#include <cmath>

#include "attend/core/error.h"
#include "attend/core/finite.h"
#include "attend/kernels/unit_rows.h"
#include "attend/ops/tape.h"
#include "attend/text/unicode.h"

namespace attend {

struct TextEncoder::Model {
  SentenceFolder sentence;
  BertReader reader;
};

namespace {

/// The text that sentence-transformers passes to the tokenizer: prompt and text, stripped of white space, and in lower
/// case if the folder says so.
std::string prepared(const std::string& prompt, const std::string& text, bool lower) {
  const std::string whole = prompt + text;
  std::string out;
  std::size_t kept = 0;  // bytes up to the last character that is not white space
  for (std::size_t at = 0; at < whole.size();) {
    const CodePoint c = decode_utf8(whole, at);
    const auto size = static_cast<std::size_t>(c.size);
    const bool space = is_space(c.value);
    if (!space || !out.empty()) {
      if (const LowerCase lowered = lower_case(c.value); lower && c.valid) {
        append_utf8(lowered.first, out);
        if (lowered.second) append_utf8(lowered.second, out);
      } else {
        out.append(whole, at, size);
      }
    }
    if (!space) kept = out.size();
    at += size;
  }
  out.resize(kept);
  return out;
}

/// Pools the states of one text; cls and last ignore `skipped`, the others skip that many states.   x [T, W] -> y [W]
void pool(Pooling pooling, std::int64_t skipped, std::int64_t T, std::int64_t W, const float* x, float* y) {
  if (pooling == Pooling::cls) return void(std::copy_n(x, W, y));
  if (pooling == Pooling::last) return void(std::copy_n(x + (T - 1) * W, W, y));
  const std::int64_t begin = std::min(skipped, T - 1);
  if (pooling == Pooling::max) {
    std::copy_n(x + begin * W, W, y);
    for (std::int64_t t = begin + 1; t < T; ++t)
      for (std::int64_t i = 0; i < W; ++i) y[i] = std::max(y[i], x[t * W + i]);
    return;
  }
  float total = 0;
  std::fill_n(y, W, 0.f);
  for (std::int64_t t = begin; t < T; ++t) {
    const float weight = pooling == Pooling::weighted_mean ? static_cast<float>(t + 1) : 1.f;
    total += weight;
    for (std::int64_t i = 0; i < W; ++i) y[i] += weight * x[t * W + i];
  }
  const float scale = 1.f / (pooling == Pooling::mean_sqrt_length ? std::sqrt(total) : total);
  for (std::int64_t i = 0; i < W; ++i) y[i] *= scale;
}

Tensor unit_length(const Tensor& x) {
  Tensor y = Tensor::like(x);
  std::vector<float> scales(static_cast<std::size_t>(x.dim(0)));
  kernels::unit_rows(x.dim(0), x.dim(1), x.data(), 1e-12f, y.data(), scales.data());
  return y;
}

void check_size(const char* module, std::int64_t expected, const Tensor& x) {
  if (x.dim(1) != expected)
    fail<InputError>("embed", "the module ", module, " takes vectors of ", expected,
                     " numbers, but the module before gives ", x.dim(1), "; do pooling and modules belong together?");
}

/// Applies the modules after the pooling.   [N, D] -> [N, size]
Tensor finished(const SentenceFolder& sentence, const EmbedOptions& options, Tensor x) {
  bool normalized = false;
  for (const SentenceLayer& layer : sentence.layers) {
    normalized = std::holds_alternative<UnitLength>(layer);
    if (const auto* dense = std::get_if<Dense>(&layer)) {
      check_size("Dense", dense->linear.weight.dim(1), x);
      x = dense->linear(x, dense->activation);
    } else if (const auto* norm = std::get_if<Norm>(&layer)) {
      check_size("LayerNorm", norm->gain.numel(), x);
      x = (*norm)(x);
    } else if (options.normalize.value_or(true)) {
      x = unit_length(x);
    }
  }
  return options.normalize.value_or(false) && !normalized ? unit_length(x) : x;
}

std::vector<Pooling> poolings(const SentenceFolder& sentence, const EmbedOptions& options) {
  return options.pool ? std::vector{*options.pool} : sentence.pooling;
}

}  // namespace

TextEncoder::TextEncoder(const std::filesystem::path& folder) {
  SentenceFolder sentence = SentenceFolder::read(folder);
  BertReader reader(ModelFolder(sentence.model), BertHead::none);
  model_ = std::make_shared<Model>(Model{std::move(sentence), std::move(reader)});
}
TextEncoder::TextEncoder(const std::filesystem::path& folder, const ModelFolder& model)
    : model_(std::make_shared<Model>(Model{SentenceFolder::read(folder), BertReader(model, BertHead::none)})) {}

Embeddings TextEncoder::embed(std::span<const std::string> texts, const EmbedOptions& options,
                              const Progress& progress) const {
  const NoGrad no_grad;
  const auto& [sentence, reader] = *model_;
  const std::string prompt = options.prompt.value_or(sentence.default_prompt);
  std::vector<std::string> whole;
  for (const std::string& text : texts) whole.push_back(prepared(prompt, text, sentence.lower_case));
  const std::vector<BertWindow> windows =
      reader.windows(whole, {.max_tokens = options.max_tokens > 0 ? options.max_tokens : sentence.max_tokens,
                             .long_text = options.long_text});
  // The tokens of the prompt and the special tokens before it, without the special token after it.
  const std::int64_t skipped = sentence.pool_prompt || prompt.empty()
                                   ? 0
                                   : reader.tokenizer.encode(prepared(prompt, "", sentence.lower_case)).size() - 1;

  const std::vector<Pooling> ways = poolings(sentence, options);
  const std::int64_t W = reader.model.options.width, D = W * std::ssize(ways);
  const std::vector<std::int64_t> zeros(texts.size());
  Embeddings result{.vectors = {}, .tokens = zeros, .truncated = zeros, .pieces = zeros};
  for (const BertWindow& window : windows) {
    result.truncated[window.text] += window.encoding.dropped;
    ++result.pieces[window.text];
    result.tokens[window.text] += window.encoding.size();
  }
  const Tensor pooled = Tensor::zeros({std::ssize(texts), D});
  std::vector<float> one(static_cast<std::size_t>(W));
  reader.read(
      windows, options.batch_tokens,
      [&](const BertBatch& batch) {
        for (std::size_t b = 0; b < batch.windows.size(); ++b) {
          const BertWindow& window = windows[batch.windows[b]];
          const float share = static_cast<float>(batch.lengths[b]) /
                              static_cast<float>(result.tokens[window.text]);  // 1 if the text has one window
          float* row = pooled.data() + static_cast<std::int64_t>(window.text) * D;
          for (std::size_t way = 0; way < ways.size(); ++way, row += W) {
            pool(ways[way], skipped, batch.lengths[b], W, batch.states.data() + batch.begins[b] * W, one.data());
            for (std::size_t i = 0; i < one.size(); ++i) row[i] += share * one[i];
          }
        }
      },
      progress);
  result.vectors = finished(sentence, options, pooled);
  check_finite("embed", result.vectors.span());
  return result;
}

Tensor TextEncoder::operator()(const std::string& text, const EmbedOptions& options) const {
  return embed(std::span(&text, 1), options).vectors.reshape({-1});
}

TextStates TextEncoder::read(const std::string& text, bool attention) const {
  const std::vector<BertWindow> windows = model_->reader.windows(std::span(&text, 1), {.long_text = LongText::error});
  const Encoding& encoding = windows.front().encoding;
  Probe probe;
  TextStates result{{}, encoding.spans, model_->reader.read(encoding, attention ? &probe : nullptr), probe.records()};
  for (const std::int32_t id : encoding.ids) result.tokens.push_back(model_->reader.tokenizer.token(id));
  return result;
}

std::int64_t TextEncoder::size(const EmbedOptions& options) const {
  std::int64_t size = model_->reader.model.options.width * std::ssize(poolings(model_->sentence, options));
  for (const SentenceLayer& layer : model_->sentence.layers)
    if (const auto* dense = std::get_if<Dense>(&layer)) size = dense->linear.weight.dim(0);
  return size;
}

std::int64_t TextEncoder::max_tokens() const {
  const std::int64_t own = model_->reader.max_tokens, said = model_->sentence.max_tokens;
  return said > 0 ? std::min(own, said) : own;
}

std::optional<std::string> TextEncoder::prompt(const std::string& name) const {
  const Config& prompts = model_->sentence.prompts;
  if (!prompts.has(name)) return {};
  return prompts.text(name);
}

}  // namespace attend
