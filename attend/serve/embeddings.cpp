// OpenAI's shape of embeddings.
#include <charconv>

#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/text/base64.h"

namespace attend::serve {
namespace {

constexpr std::size_t kMostTextsAsTokens = 16;  // a text has hundreds of vectors

/// A vector for each token in its context, in place of one for the text.
Reply embed_tokens(ServedModel& model, const std::vector<std::string>& texts, const ServedModel::Patience& patience) {
  if (texts.size() > kMostTextsAsTokens)
    throw invalid_value("input", "too many texts for vectors of their tokens: got " + std::to_string(texts.size()) +
                                     ", expected at most " + std::to_string(kMostTextsAsTokens));
  const auto run = [&model, texts] {
    Json data = Json::array();
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const TextStates read = model.encoder->read(texts[i]);
      Json vectors = Json::array();
      for (std::int64_t t = 0; t < read.states.dim(0); ++t)
        vectors.push_back(read.states.view_rows(t, t + 1).to_vector());
      tokens += read.states.dim(0);
      data.push_back(
          {{"object", "embedding"}, {"index", i}, {"tokens", read.tokens}, {"embedding", std::move(vectors)}});
    }
    return dump({{"object", "list"},
                 {"data", std::move(data)},
                 {"model", model.name},
                 {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
  };
  return {.body = model.ask(run, patience)};
}

}  // namespace

Reply embed(Api& api, const Call& call) {
  const Json body = parse_object(call.body);
  Fields fields(body);
  ServedModel& model = api.model(fields, "embed");
  std::vector<std::string> texts = fields.texts("input");
  const bool base64 = fields.choice("encoding_format", {"float", "base64"}) == "base64";
  EmbedOptions options;
  options.long_text = long_text(fields, LongText::error, /*can_split=*/true);
  const auto pool = fields.choice("pool", {"mean", "cls", "max", "tokens"});
  if (pool && *pool != "tokens")
    options.pool = *pool == "cls" ? Pooling::cls : *pool == "max" ? Pooling::max : Pooling::mean;
  options.normalize = fields.flag("normalize");
  options.prompt = fields.optional_text("prompt");
  if (const auto prompt = fields.optional_text("prompt_name")) {
    options.prompt = model.encoder->prompt(*prompt);
    if (!options.prompt) throw invalid_value("prompt_name", "the model has no prompt \"" + *prompt + "\"");
  }
  if (const auto size = fields.integer("dimensions", 1, 1 << 20); size && *size != model.encoder->size(options))
    throw invalid_value("dimensions", "the model's vectors have " + std::to_string(model.encoder->size(options)) +
                                          " dimensions, and cannot have others");
  fields.ignore("user");
  fields.refuse_others();
  if (pool == "tokens") return embed_tokens(model, texts, api.patience(call));
  const std::string key = key_of(body, {"input", "model", "user", "encoding_format"});
  const std::vector<Embedded> all = model.embed(std::move(texts), options, key, api.patience(call));
  std::int64_t tokens = 0;
  for (const Embedded& one : all) tokens += one.tokens;

  // By hand: the shortest digits that read back as the same float.
  std::string data;
  for (std::size_t i = 0; i < all.size(); ++i) {
    data += std::string(i ? "," : "") + R"({"object":"embedding","index":)" + std::to_string(i);
    if (all[i].truncated > 0) data += R"(,"truncated":)" + std::to_string(all[i].truncated);
    data += R"(,"embedding":)";
    const std::vector<float>& vector = all[i].vector;
    if (base64) {
      data += '"' + to_base64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)}) + '"';
    } else {
      char separator = '[';
      for (const float value : vector) {
        char digits[32];
        data += separator;
        data.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
        separator = ',';
      }
      data += ']';
    }
    data += '}';
  }
  return {.body = R"({"object":"list","data":[)" + data + R"(],"model":)" + dump(model.name) +
                  R"(,"usage":{"prompt_tokens":)" + std::to_string(tokens) + R"(,"total_tokens":)" +
                  std::to_string(tokens) + "}}"};
}

}  // namespace attend::serve
