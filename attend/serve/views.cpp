// Attend's own endpoints: tokens, labels, masked tokens, attention, questions about stories, and the numbers of the
// lessons.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "attend/attention/pooling.h"
#include "attend/attention/positions.h"
#include "attend/core/random.h"
#include "attend/explain/attention_json.h"
#include "attend/ops/tape.h"
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/generation_fields.h"
#include "attend/serve/large_reply.h"
#include "attend/text/sentences.h"

namespace attend::serve {
namespace {

constexpr std::int64_t kMostWeights = 8 << 20;  // in one answer, which then has about a hundred megabytes
constexpr std::int64_t kManyTokens = 64;        // to generate; more take a while

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

void write_rows(PartWriter& out, const Tensor& matrix, bool first = true) {
  const std::int64_t width = matrix.dim(1);
  for (std::int64_t row = 0; row < matrix.dim(0); ++row) {
    out << (first && row == 0 ? "[" : ",[");
    for (std::int64_t i = 0; i < width; ++i) {
      if (i > 0) out << ",";
      out << matrix.data()[row * width + i];
    }
    out << "]";
  }
}

/// Bytes of all its texts.
std::size_t text_bytes(const AttentionRequest& request) {
  return request.text.size() + request.pair.value_or("").size() + request.target.value_or("").size();
}

/// Estimate of the memory that the attention weights of a text and their digits need.
double attention_bytes(const ServedModel& model, const AttentionRequest& request) {
  const std::size_t bytes = text_bytes(request);
  // A token has about two bytes or more.
  double tokens = static_cast<double>(bytes) / 2 + 8 + static_cast<double>(request.search.max_new_tokens.value_or(0));
  if (model.context) tokens = std::min(tokens, static_cast<double>(*model.context));
  const auto chosen = [](const std::vector<std::int64_t>& some, std::int64_t all) {
    return static_cast<double>(some.empty() ? all : std::min(std::ssize(some), all));
  };
  const double views = model.translator ? 3 : 1;
  const double weights = views * chosen(request.selection.layers, model.layers) *
                         chosen(request.selection.heads, model.heads) * tokens * tokens;
  return kBytesToTokenize * static_cast<double>(bytes) + sizeof(float) * weights +
         32 * std::min(weights, static_cast<double>(kMostWeights));
}

}  // namespace

Reply tokenize(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "tokenize");
  std::vector<std::string> texts = fields.texts("input");
  fields.refuse_others();
  patience.reserve(8.0 * static_cast<double>(call.body.size()));  // the ids, at most one for each byte
  std::vector<std::vector<std::int32_t>> ids;
  double tokens = 0;
  for (std::string& text : texts) {
    ids.push_back(model.ids(std::move(text), patience, /*special_tokens=*/true));
    tokens += static_cast<double>(ids.back().size());
  }
  constexpr double kToken = 24;  // bytes in the answer
  auto write = [&model, ids = std::move(ids)](PartWriter& out) {
    out << R"({"model":)" << dump(model.name) << R"(,"data":[)";
    for (std::size_t i = 0; i < ids.size(); ++i) {
      out << (i > 0 ? "," : "") << R"({"index":)" << static_cast<std::int64_t>(i) << R"(,"tokens":)";
      const char* before = "[";
      for (const std::int32_t id : ids[i]) out << std::exchange(before, ",") << dump(model.tokenizer->token(id));
      out << (ids[i].empty() ? "[]" : "]") << R"(,"ids":)";
      before = "[";
      for (const std::int32_t id : ids[i]) out << std::exchange(before, ",") << std::int64_t{id};
      out << (ids[i].empty() ? "[]}" : "]}");
    }
    out << "]}";
  };
  return written_reply(std::move(write), kToken * tokens, patience);
}

Reply classify(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "classify");
  ClassifyOptions options;
  const Json& input = fields.required("input");
  std::vector<std::string> texts;
  options.pairs = input.is_array() && !input.empty() && input.front().is_array();
  if (options.pairs) {
    fields.check_number_of_texts("input", input.size());
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
  const std::vector<std::string>& labels = model.classifier->labels();
  constexpr double kText = 500, kLabel = 200;  // bytes, as JSON and as text
  patience.reserve(static_cast<double>(texts.size()) * (kText + kLabel * static_cast<double>(labels.size())));
  const std::vector<Classification> all = model.classify(std::move(texts), options, key, patience);
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
  return json_reply(dump({{"model", model.name}, {"data", std::move(data)}}), patience);
}

Reply fill_mask(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "fill-mask");
  std::vector<std::string> texts = fields.texts("input");
  FillOptions options;
  options.top = fields.integer("top", 1, 1000).value_or(options.top);
  options.long_text = long_text(fields, LongText::error);
  fields.refuse_others();
  const std::string mask_token = model.tokenizer->token(model.tokenizer->special().mask.value());
  constexpr double kCandidate = 400;        // bytes, as JSON and as text
  constexpr std::size_t kShortestMask = 6;  // bytes
  double masks = 0;
  for (const std::string& text : texts)
    masks +=
        std::min(static_cast<double>(text.size()) / static_cast<double>(std::min(mask_token.size(), kShortestMask)) + 1,
                 static_cast<double>(model.context.value_or(text.size() + 1)));
  patience.reserve(masks * static_cast<double>(options.top) * kCandidate);
  const std::vector<FilledText> all = model.fill(std::move(texts), options, key_of(body, {"input", "model"}), patience);
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
  return json_reply(dump({{"model", model.name}, {"mask_token", mask_token}, {"data", std::move(data)}}), patience);
}

Reply attention(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "attention");
  AttentionRequest request;
  request.text = fields.text("input");
  request.pair = fields.optional_text("pair");
  request.target = fields.optional_text("target");
  request.source_language = fields.optional_text("source_lang").value_or("");
  request.target_language = fields.optional_text("target_lang").value_or("");
  request.search = read_generation_options(fields, generation_fields("attention"));
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
  patience.reserve(attention_bytes(model, request));
  const bool is_long = text_bytes(request) > kLongToAttend || request.search.max_new_tokens.value_or(0) > kManyTokens;
  return json_reply(model.ask(run, patience, is_long), patience);
}

/// A question about a story, with the hops of a memory network over its sentences.
Reply answer_question(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "answer");
  std::vector<std::string> story = fields.texts("story");
  std::string question = fields.text("question");
  const std::int64_t top =
      std::min<std::int64_t>(fields.integer("top", 1, 1000).value_or(1), std::ssize(model.stories->answers()));
  fields.refuse_others();
  std::size_t bytes = question.size();
  for (const std::string& sentence : story) bytes += sentence.size();
  patience.reserve(kBytesToTokenize * static_cast<double>(bytes));
  if (body["story"].is_string()) {
    story = split_sentences(story.front());
    fields.check_number_of_texts("story", story.size());
  }
  constexpr double kSentence = 200, kWeight = 40, kAnswer = 400;  // bytes, as JSON and as text
  patience.reserve(static_cast<double>(story.size()) *
                       (kSentence + kWeight * static_cast<double>(model.stories->hops())) +
                   kAnswer * static_cast<double>(top));
  const auto run = [&model, story = std::move(story), question = std::move(question), top] {
    const StoryAnswer found = (*model.stories)(story, question, top);
    Json answers = Json::array();
    for (const auto& [answer, prob] : found.best) answers.push_back({{"answer", answer}, {"prob", prob}});
    Json json{{"model", model.name}, {"question", question}, {"answer", found.answer},
              {"prob", found.prob},  {"hops", found.hops},   {"answers", std::move(answers)}};
    if (found.dropped > 0) json["truncated"] = found.dropped;
    if (found.unknown > 0) json["unknown"] = found.unknown;
    return dump(json);
  };
  return json_reply(model.ask(run, patience, bytes > kLongText), patience);
}

Reply lesson_positions(Api& api, const Call& call) {
  const std::int64_t width = query_integer(call, "width", 2, 1024, 64);
  const std::int64_t length = query_integer(call, "length", 1, 2048, 100);
  const auto write = [width, length](PartWriter& out) {
    constexpr std::int64_t kRows = 64;  // at once
    const NoGrad no_grad;
    out << R"({"width":)" << width << R"(,"length":)" << length << R"(,"values":[)";
    for (std::int64_t first = 0; first < length; first += kRows)
      write_rows(out, sinusoidal_positions(std::min(kRows, length - first), width, first), first == 0);
    out << "]}";
  };
  constexpr double kNumber = 12;  // bytes in the answer
  return written_reply(write, kNumber * static_cast<double>(width * length), api.patience(call));
}

/// Noisy points of a curve, and the estimate of Nadaraya–Watson regression.
Reply lesson_pooling(Api& api, const Call& call) {
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
  PartWriter weights;
  write_rows(weights, probe.records().front().weights.reshape({points, points}));
  std::string json = dump({{"x", x.to_vector()},
                           {"y", y.to_vector()},
                           {"truth", true_values},
                           {"query", query.to_vector()},
                           {"fit", fit.to_vector()},
                           {"average", average.to_vector()}});
  json.pop_back();
  return json_reply(json + R"(,"weights":[)" + weights.take() + "]}", api.patience(call));
}

}  // namespace attend::serve
