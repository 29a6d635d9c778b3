// The generation options are declared once. The program's flags, the fields of requests, generation_config.json and the
// served description of the API agree with that declaration.
#include "attend/decode/generation_options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "attend/core/error.h"
#include "attend/decode/generation_config.h"
#include "attend/serve/api_error.h"
#include "attend/serve/generation_fields.h"
#include "attend/serve/openapi.h"
#include "attend/text/tokenizer.h"
#include "tests/support/run_program.h"

namespace attend::test {
namespace {

using serve::Fields;
using Json = serve::Json;

const std::string kGpt2 = " --model " ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer ";

/// The text with single spaces, as the help breaks lines anywhere.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (c != ' ' && c != '\n')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  return line;
}

// A value that differs from the default, in a request.
Json example(const Option<bool>&) { return true; }
Json example(const Option<std::string>&) { return "x"; }
Json example(const Option<EarlyStopping>&) { return "never"; }
Json example(const Option<std::vector<std::string>>&) { return Json::array({"x", "y"}); }
Json example(const Option<std::vector<LogitBias>>&) { return {{"3", -5}}; }
template <typename T>
Json example(const Option<T>& option) {
  const Range range = option.request.value_or(option.range);
  return range.contains(3) ? Json(3) : Json(0.75);
}

struct Endpoint {
  serve::GenerationFields fields;
  std::vector<std::string> requests;  ///< schemas
  const char* verb;
  std::set<std::string> own_words = {};  ///< options that the help of the verb explains in other words
};
const std::vector<Endpoint> kEndpoints{
    {serve::generation_fields("completions"), {"CompletionRequest", "ChatRequest"}, "generate"},
    {serve::generation_fields("translations"), {"TranslateRequest"}, "translate"},
    {serve::generation_fields("summaries"), {"SummarizeRequest"}, "summarize", {"max_new_tokens", "min_new_tokens"}}};

TEST(GenerationOptions, EveryFlagIsInTheHelpWithItsMeaningAndDefault) {
  for (const Endpoint& endpoint : kEndpoints) {
    const std::string help = one_line(run_attend(std::string(endpoint.verb) + " --help").output);
    const SearchOptions defaults = default_search(endpoint.fields.models);
    visit_options([&](const auto& option) {
      std::string flag = flag_of(option);  // "-n,--nbest", which the help writes as "-n, --nbest"
      for (std::size_t at = 0; (at = flag.find(',', at)) != flag.npos; ++at) flag.insert(at + 1, " ");
      if (endpoint.own_words.contains(option.name)) return;
      if (!option.is_flag || !applies(option, endpoint.fields.models) || !endpoint.fields.has(option.name)) {
        EXPECT_FALSE(contains(help, flag + " ")) << endpoint.verb << " has " << flag;
        return;
      }
      EXPECT_TRUE(contains(help, " " + flag + " ")) << endpoint.verb << " has no " << flag;
      std::string meaning = one_line(option.meaning);
      if (const auto value = default_text(option, defaults)) meaning += " (default: " + *value + ")";
      EXPECT_TRUE(contains(help, meaning)) << flag << ": " << meaning;
    });
  }
}

TEST(GenerationOptions, FlagsRefuseWhatIsOutOfRange) {
  visit_options([&]<typename T>(const Option<T>& option) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (!std::isfinite(option.range.least)) return;
      const double wrong = option.range.above ? option.range.least : option.range.least - 1;
      const std::string flag = flag_of(option.name);
      const Outcome outcome = run_for_errors("generate" + kGpt2 + "x " + flag + "=" + std::to_string(wrong));
      EXPECT_EQ(outcome.code, 2) << flag;
      EXPECT_TRUE(contains(outcome.output, flag)) << outcome.output;
    }
  });
}

TEST(GenerationOptions, RequestsReadEveryFieldAndNameTheOneThatIsWrong) {
  for (const Endpoint& endpoint : kEndpoints)
    serve::visit_fields(endpoint.fields, [&](const auto& option, const OptionAlias& alias) {
      const auto read = [&](const Json& value) {
        const Json body{{alias.name, value}};
        Fields fields(body);
        const GenerationOptions options = read_generation_options(fields, endpoint.fields, 10);
        fields.refuse_others();
        return (options.*option.field).has_value();
      };
      EXPECT_TRUE(read(example(option))) << alias.name;
      EXPECT_FALSE(read(nullptr)) << alias.name;
      try {
        read(Json::array({Json::array()}));
        ADD_FAILURE() << alias.name << " takes anything";
      } catch (const serve::ApiError& error) {
        EXPECT_EQ(error.param, alias.name);
      }
    });
}

TEST(GenerationOptions, TheServedDescriptionHasEveryFieldWithItsMeaningAndRange) {
  const Json document = Json::parse(serve::openapi_document());
  EXPECT_FALSE(contains(serve::openapi_document(), "x-generation-options"));
  for (const Endpoint& endpoint : kEndpoints)
    for (const std::string& request : endpoint.requests) {
      const Json& properties = document["components"]["schemas"][request]["properties"];
      serve::visit_fields(endpoint.fields, [&]<typename T>(const Option<T>& option, const OptionAlias& alias) {
        ASSERT_TRUE(properties.contains(alias.name)) << request << " has no " << alias.name;
        const Json& schema = properties[alias.name]["anyOf"][0];
        EXPECT_TRUE(schema["description"].get<std::string>().starts_with(option.meaning)) << alias.name;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
          const Range range = option.request.value_or(option.range);
          const auto offset = static_cast<double>(alias.offset);
          if (std::isfinite(range.least)) {
            EXPECT_EQ(schema["minimum"], range.least + offset) << alias.name;
          }
          if (std::isfinite(range.most)) {
            EXPECT_EQ(schema["maximum"], alias.most.value_or(range.most)) << alias.name;
          }
        }
      });
      visit_options([&](const auto& option) {
        if (!applies(option, endpoint.fields.models) || !endpoint.fields.has(option.name)) {
          EXPECT_FALSE(properties.contains(option.name)) << request << " has " << option.name;
        }
      });
    }
}

TEST(GenerationOptions, GenerationConfigKeepsEveryOptionThatHasAKey) {
  std::set<std::string> keys;
  visit_options([&]<typename T>(const Option<T>& option) {
    if (!option.config_key) return;
    EXPECT_TRUE(keys.insert(option.config_key).second) << option.config_key;
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      GenerationConfig config;
      if constexpr (std::is_enum_v<T>)
        option.setting(config.search) = T::never;
      else
        option.setting(config.search) = static_cast<T>(option.range.contains(3) ? 3 : 0.75);
      const Config written = config.write();
      EXPECT_TRUE(written.has(option.config_key)) << option.config_key;
      GenerationConfig read = GenerationConfig::read(written);
      EXPECT_EQ(option.setting(read.search), option.setting(config.search)) << option.config_key;
    } else {
      ADD_FAILURE() << option.config_key << " is not tested";
    }
  });
  EXPECT_EQ(keys.size(), 13u);
}

TEST(GenerationOptions, OfTheCallerOverrideThoseOfTheFolder) {
  const SearchOptions folder{.beam = 5, .nbest = 2, .length_penalty = 0.5, .ends = {7}, .rules = {.min_length = 9}};
  const Tokenizer tokenizer = load_tokenizer(ATTEND_SOURCE_DIR "/tests/models/fixtures/gpt2_tokenizer");
  const auto resolved = [&](const GenerationOptions& options) { return resolve(options, folder, tokenizer); };
  EXPECT_EQ(resolved({}).beam, 5);
  EXPECT_EQ(resolved({}).nbest, 1) << "one input gives one text, unless the caller asks for more";
  EXPECT_EQ(resolved({.length_penalty = 2}).length_penalty, 2);
  EXPECT_EQ(resolved({.min_new_tokens = 3}).rules.min_length, 0);
  EXPECT_TRUE(resolved({.top_k = 3}).sample);
  EXPECT_EQ(resolved({.top_k = 3}).beam, 1);
  EXPECT_EQ(resolved({.greedy = true}).beam, 1);
  EXPECT_TRUE(resolved({.ignore_eos = true}).ends.empty());
  EXPECT_EQ(resolved({.ignore_eos = true}).rules.suppressed, std::vector<std::int32_t>{7});
  EXPECT_FALSE(resolved({.bad_words = std::vector<std::string>{"the"}}).rules.bad_words.empty());
}

}  // namespace
}  // namespace attend::test
