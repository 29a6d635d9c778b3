// Summaries of documents: Attend's own endpoint. The keys of an answer are those of `attend summarize --json`.
#include "attend/serve/api.h"
#include "attend/serve/generation_fields.h"
#include "attend/serve/large_reply.h"
#include "attend/text/character_positions.h"

namespace attend::serve {
namespace {

/// Parts of long texts whose attention is computed at once: the encoder's weights grow with the square of the tokens.
constexpr std::int64_t kTokensToAttend = 1024;

Json as_json(std::size_t index, const std::string& document, const Summary& summary) {
  Json json{{"index", index}, {"summary", summary.text}, {"score", summary.score}, {"ids", summary.ids}};
  if (!summary.finished) json["finish"] = "length";
  json["parts"] = summary.parts;
  if (summary.truncated > 0) json["truncated"] = summary.truncated;
  if (summary.sentences.empty()) return json;
  Json& sentences = json["sentences"] = Json::array();
  const CharacterPositions characters(document);
  for (const SourceSentence& sentence : summary.sentences) {
    const Span place = characters(sentence.span);
    sentences.push_back({{"start", place.begin}, {"end", place.end}, {"weight", sentence.weight}});
  }
  return json;
}

}  // namespace

Reply summarize(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "summarize");
  const std::vector<std::string> texts = fields.texts("input");
  SummarizeOptions options;
  options.search = read_generation_options(fields, generation_fields("summaries"));
  options.source_prefix = fields.optional_text("source_prefix");
  options.max_source_tokens = fields.integer("max_source_tokens", 1, std::int64_t{1} << 30).value_or(0);
  options.candidates = fields.integer("candidates", 1, 64);
  if (fields.find("long")) options.long_text = long_text(fields, LongText::split, /*can_split=*/true);
  options.sources = fields.flag("sentences").value_or(false);
  options.batch_tokens = kTokensToAttend;
  fields.refuse_others();
  const std::vector<Summary> all = model.summarize(texts, options, patience);
  Json data = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) data.push_back(as_json(i, texts[i], all[i]));
  Json json{{"model", model.name}, {"data", std::move(data)}};
  const auto sampled = std::ranges::find_if(all, [](const Summary& one) { return one.seed.has_value(); });
  if (sampled != all.end()) json["seed"] = *sampled->seed;
  return json_reply(dump(json), patience);
}

}  // namespace attend::serve
