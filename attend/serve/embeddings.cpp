// OpenAI's shape of embeddings.
#include "attend/serve/api.h"
#include "attend/serve/api_error.h"
#include "attend/serve/large_reply.h"
#include "attend/text/base64.h"

namespace attend::serve {
namespace {

constexpr std::size_t kMostTextsAsTokens = 16;  // a text has hundreds of vectors

void write_vector(PartWriter& out, std::span<const float> vector) {
  const char* before = "[";
  for (const float value : vector) out << std::exchange(before, ",") << value;
  out << "]";
}

/// The answer with these vectors.
std::string with_usage(const std::string& data, const ServedModel& model, std::int64_t tokens) {
  const std::string count = std::to_string(tokens);
  return R"({"object":"list","data":[)" + data + R"(],"model":)" + dump(model.name) + R"(,"usage":{"prompt_tokens":)" +
         count + R"(,"total_tokens":)" + count + "}}";
}

/// A vector for each token in its context, in place of one for the text.
Reply embed_tokens(ServedModel& model, const std::vector<std::string>& texts, const ServedModel::Patience& patience) {
  if (texts.size() > kMostTextsAsTokens)
    throw invalid_value("input", "too many texts for vectors of their tokens: got " + std::to_string(texts.size()) +
                                     ", expected at most " + std::to_string(kMostTextsAsTokens));
  double bytes = 0;
  for (const std::string& text : texts) bytes += static_cast<double>(text.size());
  const double tokens_at_most = std::min(bytes + 2.0 * static_cast<double>(texts.size()),
                                         static_cast<double>(model.encoder->max_tokens()) * std::ssize(texts));
  constexpr double kNumber = 32;  // bytes, as a number and as text
  patience.reserve(kBytesToTokenize * bytes + kNumber * tokens_at_most * static_cast<double>(model.encoder->size()));
  std::string data;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {  // one call for each, so that other requests run in between
    const auto read = std::make_shared<TextStates>();
    const auto run = [&model, read, text = texts[i]] {
      *read = model.encoder->read(text);
      return std::string();
    };
    model.ask(run, patience, texts[i].size() > kLongText);
    PartWriter out;
    out << (i > 0 ? "," : "") << R"({"object":"embedding","index":)" << static_cast<std::int64_t>(i) << R"(,"tokens":)"
        << dump(read->tokens) << R"(,"embedding":[)";
    const std::int64_t width = read->states.dim(1);
    for (std::int64_t t = 0; t < read->states.dim(0); ++t)
      write_vector(out << (t > 0 ? "," : ""), {read->states.data() + t * width, static_cast<std::size_t>(width)});
    out << "]}";
    data += out.take();
    tokens += read->states.dim(0);
  }
  return json_reply(with_usage(data, model, tokens), patience);
}

}  // namespace

Reply embed(Api& api, const Call& call) {
  const ServedModel::Patience patience = api.patience(call);
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
  if (pool == "tokens") return embed_tokens(model, texts, patience);
  const std::string key = key_of(body, {"input", "model", "user", "encoding_format"});
  constexpr double kNumber = 32;  // bytes, as a number and as text
  const double numbers = static_cast<double>(texts.size()) * static_cast<double>(model.encoder->size(options));
  patience.reserve(kNumber * numbers);
  std::vector<Embedded> all = model.embed(std::move(texts), options, key, patience);
  auto write = [&model, base64, all = std::move(all)](PartWriter& out) {
    std::int64_t tokens = 0;
    out << R"({"object":"list","data":[)";
    for (std::size_t i = 0; i < all.size(); ++i) {
      out << (i ? "," : "") << R"({"object":"embedding","index":)" << static_cast<std::int64_t>(i);
      if (all[i].truncated > 0) out << R"(,"truncated":)" << all[i].truncated;
      out << R"(,"embedding":)";
      const std::vector<float>& vector = all[i].vector;
      if (base64)
        out << '"' + to_base64({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)}) + '"';
      else
        write_vector(out, vector);
      out << "}";
      tokens += all[i].tokens;
    }
    out << R"(],"model":)" << dump(model.name) << R"(,"usage":{"prompt_tokens":)" << tokens << R"(,"total_tokens":)"
        << tokens << "}}";
  };
  constexpr double kDigits = 12;  // bytes of a number in the answer
  return written_reply(std::move(write), kDigits * numbers, patience);
}

}  // namespace attend::serve
