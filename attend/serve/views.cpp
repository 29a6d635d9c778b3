// Attend's own endpoints: tokens, labels, masked tokens, attention, and the numbers of the lessons.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "attend/attention/pooling.h"
#include "attend/attention/positions.h"
#include "attend/core/random.h"
#include "attend/explain/attention_json.h"
#include "attend/ops/tape.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/generation_fields.h"

namespace attend::serve {
namespace {

constexpr std::int64_t kMostWeights = 8 << 20;  // in one answer, which then has about a hundred megabytes

/// A number from the query of the address.
double query_number(const Call& call, const char* key, double least, double most, double otherwise) {
  const auto found = call.query.find(key);
  if (found == call.query.end()) return otherwise;
  double value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [at, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc() || at != end || !(value >= least && value <= most))
    throw invalid_value(key, std::string("\"") + key + "\" is not in its range: got \"" + found->second +
                                 "\", expected " + Json(least).dump() + " to " + Json(most).dump());
  return value;
}

std::int64_t query_integer(const Call& call, const char* key, std::int64_t least, std::int64_t most,
                           std::int64_t otherwise) {
  const double value =
      query_number(call, key, static_cast<double>(least), static_cast<double>(most), static_cast<double>(otherwise));
  if (value != std::floor(value)) throw invalid_value(key, std::string("\"") + key + "\" is a whole number");
  return static_cast<std::int64_t>(value);
}

Json rows_of(const Tensor& matrix) {
  Json rows = Json::array();
  for (std::int64_t row = 0; row < matrix.dim(0); ++row) rows.push_back(matrix.view_rows(row, row + 1).to_vector());
  return rows;
}

}  // namespace

Reply tokenize(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "tokenize");
  const std::vector<std::string> texts = fields.texts("input");
  fields.refuse_others();
  Json data = Json::array();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Encoding encoding = model.encode(texts[i]);
    Json tokens = Json::array();
    for (const std::int32_t id : encoding.ids) tokens.push_back(model.tokenizer->token(id));
    data.push_back({{"index", i}, {"tokens", std::move(tokens)}, {"ids", encoding.ids}});
  }
  return {.body = dump({{"model", model.name}, {"data", std::move(data)}})};
}

Reply classify(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "classify");
  ClassifyOptions options;
  const Json& input = fields.required("input");
  std::vector<std::string> texts;
  options.pairs = input.is_array() && !input.empty() && input.front().is_array();
  if (options.pairs) {
    for (const Json& pair : input) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
        throw invalid_value("input", "a pair is an array of two texts");
      std::string first = pair[0].get<std::string>();
      std::ranges::replace(first, '\t', ' ');  // a tab separates the two
      texts.push_back(first + "\t" + pair[1].get<std::string>());
    }
  } else {
    texts = fields.texts("input");
  }
  options.long_text = long_text(fields, LongText::error);
  fields.refuse_others();
  const std::string key = key_of(body, {"input", "model"}) + (options.pairs ? "pairs" : "");
  const std::vector<Classification> all = model.classify(std::move(texts), options, key, api.patience(call));
  const std::vector<std::string>& labels = model.classifier->labels();
  Json data = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Json probabilities = Json::object();
    for (std::size_t l = 0; l < labels.size(); ++l) probabilities[labels[l]] = all[i].probabilities[l];
    Json one{{"index", i},
             {"label", labels[all[i].label]},
             {"prob", all[i].probabilities[all[i].label]},
             {"probs", std::move(probabilities)}};
    if (model.classifier->several_labels()) {
      Json& holding = one["labels"] = Json::array();
      for (const std::size_t l : all[i].predicted) holding.push_back(labels[l]);
    }
    if (all[i].truncated > 0) one["truncated"] = all[i].truncated;
    data.push_back(std::move(one));
  }
  return {.body = dump({{"model", model.name}, {"data", std::move(data)}})};
}

Reply fill_mask(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "fill-mask");
  std::vector<std::string> texts = fields.texts("input");
  FillOptions options;
  options.top = fields.integer("top", 1, 1000).value_or(options.top);
  options.long_text = long_text(fields, LongText::error);
  fields.refuse_others();
  const std::string mask_token = model.tokenizer->token(model.tokenizer->special().mask.value());
  const std::vector<FilledText> all =
      model.fill(std::move(texts), options, key_of(body, {"input", "model"}), api.patience(call));
  Json data = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].masks.empty())
      throw invalid_value(
          "input", "input " + std::to_string(i) + " hides nothing: write " + mask_token + " where a word is hidden");
    Json masks = Json::array();
    for (const FilledMask& mask : all[i].masks) {
      Json candidates = Json::array();
      for (const MaskCandidate& c : mask.candidates)
        candidates.push_back({{"token", c.token}, {"id", c.id}, {"prob", c.probability}});
      masks.push_back({{"position", mask.position}, {"candidates", std::move(candidates)}});
    }
    Json one{{"index", i}, {"masks", std::move(masks)}};
    if (all[i].truncated > 0) one["truncated"] = all[i].truncated;
    data.push_back(std::move(one));
  }
  return {.body = dump({{"model", model.name}, {"mask_token", mask_token}, {"data", std::move(data)}})};
}

Reply attention(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "attention");
  AttentionRequest request;
  request.text = fields.text("input");
  request.pair = fields.optional_text("pair");
  request.target = fields.optional_text("target");
  request.search = read_generation_options(fields, FieldNames::openai, OptionModels::all, 0, {"beam"});
  if (const std::int64_t tokens = fields.integer("max_tokens", 0, 1024).value_or(0); tokens > 0)
    request.search.max_new_tokens = tokens;
  request.selection.layers = fields.integers("layers");
  request.selection.heads = fields.integers("heads");
  request.long_text = long_text(fields, LongText::error);
  const std::int64_t top_k = fields.integer("top_k", 1, 4096).value_or(0);
  fields.refuse_others();
  const auto run = [&model, request, top_k] {
    const AttentionMap map = (*model.attention)(request).front();
    std::int64_t weights = 0;
    for (const AttentionView& view : map.views)
      for (const Tensor& layer : view.weights) weights += top_k > 0 ? layer.numel() / 16 : layer.numel();
    if (weights > kMostWeights)
      throw ApiError(400, "input_too_long",
                     "there are too many weights: " + std::to_string(weights) + ", expected at most " +
                         std::to_string(kMostWeights) + "; ask for fewer layers or heads, or for the top_k of each row",
                     "input");
    return to_json(map, {.model = model.name, .top_k = top_k, .main_layers = false});
  };
  return {.body = model.ask(run, api.patience(call))};
}

Reply lesson_positions(Api&, const Call& call) {
  const std::int64_t width = query_integer(call, "width", 2, 1024, 64);
  const std::int64_t length = query_integer(call, "length", 1, 2048, 100);
  const NoGrad no_grad;
  return {.body =
              dump({{"width", width}, {"length", length}, {"values", rows_of(sinusoidal_positions(length, width))}})};
}

/// Noisy points of a curve, and the estimate of Nadaraya–Watson regression.
Reply lesson_pooling(Api&, const Call& call) {
  const double width = query_number(call, "width", 0.01, 100, 1);
  const std::int64_t points = query_integer(call, "points", 2, 200, 50);
  Generator generator(static_cast<std::uint64_t>(query_integer(call, "seed", 0, std::int64_t{1} << 53, 1)));
  constexpr float kEnd = 5.f;
  const auto truth = [](float x) { return 2 * std::sin(x) + std::pow(x, 0.8f); };
  const NoGrad no_grad;
  Tensor x = Tensor::empty({points}), y = Tensor::empty({points});
  const Tensor query = Tensor::empty({points});
  fill_uniform(x, 0, kEnd, generator);
  fill_normal(y, 0, 0.5f, generator);
  std::ranges::sort(x.span());
  std::vector<float> true_values;
  for (std::int64_t i = 0; i < points; ++i) {
    y.data()[i] += truth(x.data()[i]);
    query.data()[i] = kEnd * static_cast<float>(i) / static_cast<float>(points - 1);
    true_values.push_back(truth(query.data()[i]));
  }
  Probe probe;
  const Gaussian kernel{Tensor::scalar(static_cast<float>(1 / width))};
  const Tensor fit = nadaraya_watson(kernel, query, x, y, {.probe = &probe});
  const Tensor average = nadaraya_watson(Uniform(), query, x, y);
  return {.body = dump({{"x", x.to_vector()},
                        {"y", y.to_vector()},
                        {"truth", true_values},
                        {"query", query.to_vector()},
                        {"fit", fit.to_vector()},
                        {"average", average.to_vector()},
                        {"weights", rows_of(probe.records().front().weights.reshape({points, points}))}})};
}

}  // namespace attend::serve
