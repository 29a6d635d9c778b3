#include "attend/decode/generation_config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

constexpr const char* kOpus = R"({
  "bad_words_ids": [[58100]], "bos_token_id": 0, "decoder_start_token_id": 58100, "eos_token_id": 0,
  "forced_eos_token_id": 0, "max_length": 512, "num_beams": 4, "pad_token_id": 58100, "renormalize_logits": true})";

TEST(GenerationConfig, ReadsTheFileOfAnOpusMtFolder) {
  const GenerationConfig config = GenerationConfig::read(Config::parse(kOpus, "opus"));
  EXPECT_EQ(config.search.beam, 4);
  EXPECT_EQ(config.search.max_length, 512);
  EXPECT_EQ(config.search.start, 58100);
  EXPECT_EQ(config.search.ends, std::vector<std::int32_t>{0});
  EXPECT_EQ(config.search.rules.bad_words, (std::vector<std::vector<std::int32_t>>{{58100}}));
  EXPECT_EQ(config.search.rules.forced_last, std::vector<std::int32_t>{0});
  EXPECT_TRUE(config.search.rules.renormalise);
  EXPECT_EQ(config.padding, 58100);
  EXPECT_TRUE(config.ignored.empty());
}

TEST(GenerationConfig, WritingAndReadingPreserveAllValues) {
  GenerationConfig config;
  SearchOptions& s = config.search;
  s.beam = 5, s.nbest = 2, s.length_penalty = 0.6, s.early_stopping = EarlyStopping::never, s.max_length = 99;
  s.start = 7, s.ends = {1, 2}, s.sampling = {.temperature = 0.5, .top_k = 9, .top_p = 0.25, .min_p = 0.125};
  s.rules = {.repetition_penalty = 1.5,
             .no_repeat_ngram = 3,
             .bad_words = {{4}, {5, 6}},
             .min_new_tokens = 2,
             .forced_first = 8,
             .forced_last = {1, 2},
             .suppressed = {9},
             .suppressed_first = {1, 3},
             .renormalise = true};
  config.padding = 3;
  const test::TempFolder folder;
  config.save(folder.path());
  const GenerationConfig read = GenerationConfig::read(folder.path());
  EXPECT_EQ(read.write().dump(), config.write().dump());
  EXPECT_EQ(read.search.early_stopping, EarlyStopping::never);
  EXPECT_EQ(read.search.ends, s.ends);
  EXPECT_EQ(read.search.rules.bad_words, s.rules.bad_words);
  EXPECT_EQ(read.search.rules.forced_first, s.rules.forced_first);
  EXPECT_EQ(read.search.sampling.min_p, 0.125);
  EXPECT_EQ(read.padding, 3);
}

TEST(GenerationConfig, ValuesOutOfRangeAreErrorsThatNameFileAndKey) {
  const auto refuses = [](const std::string& member, const std::string& why) {
    EXPECT_ERROR(GenerationConfig::read(Config::parse("{" + member + "}", "generation_config.json")),
                 "[config] generation_config.json: " + why);
  };
  refuses(R"("num_beams": 0)", "\"num_beams\" is 0, expected at least 1");
  refuses(R"("num_beams": 1099511627776)", "\"num_beams\" is 1099511627776, expected at most 1073741824");
  refuses(R"("temperature": -1)", "\"temperature\" is -1, expected at least 0");
  refuses(R"("top_p": 1.5)", "\"top_p\" is 1.5, expected at most 1");
  refuses(R"("repetition_penalty": 0)", "\"repetition_penalty\" is 0, expected above 0");
  refuses(R"("max_length": -5)", "\"max_length\" is -5, expected 0 to ");
  refuses(R"("min_length": -5)", "\"min_length\" is -5, expected 0 to ");
  refuses(R"("eos_token_id": -1)", "\"eos_token_id\" has -1, which is not a token id");
}

TEST(GenerationConfig, OlderFoldersHaveTheOptionsInConfigJson) {
  const test::TempFolder folder;
  std::ofstream(folder / "config.json") << R"({"model_type": "marian", "num_beams": 6, "eos_token_id": 3})";
  EXPECT_EQ(GenerationConfig::read(folder.path()).search.beam, 6);
  std::ofstream(folder / "generation_config.json") << R"({"early_stopping": true})";
  const SearchOptions search = GenerationConfig::read(folder.path(), {.beam = 2}).search;
  EXPECT_EQ(search.beam, 2);
  EXPECT_EQ(search.early_stopping, EarlyStopping::yes);
}

TEST(GenerationConfig, UnsupportedKeysAreListedUnlessTheyHaveNoEffect) {
  const GenerationConfig config = GenerationConfig::read(
      Config::parse(R"({"typical_p": 0.9, "num_beam_groups": 1, "diversity_penalty": 0, "penalty_alpha": null,
                        "guidance_scale": 1.5, "do_sample": true, "num_beams": 4})",
                    "some"));
  EXPECT_EQ(config.ignored, (std::vector<std::string>{"guidance_scale", "typical_p", "do_sample"}));
  EXPECT_FALSE(config.search.sample);
}

TEST(GenerationConfig, MinNewTokensReplacesMinLength) {
  const GenerationConfig config =
      GenerationConfig::read(Config::parse(R"({"min_length": 10, "min_new_tokens": 2})", "some"));
  EXPECT_EQ(config.search.rules.min_length, 0);
  EXPECT_EQ(config.search.rules.min_new_tokens, 2);
}

TEST(GenerationConfig, AValueOfAWrongTypeIsAnError) {
  for (const char* json :
       {R"({"num_beams": "four"})", R"({"bad_words_ids": [1, 2]})", R"({"early_stopping": "soon"})",
        R"({"eos_token_id": [[1]]})", R"({"forced_bos_token_id": 4294967296})", R"({"bad_words_ids": [[-1]]})"})
    EXPECT_THROW(GenerationConfig::read(Config::parse(json, "some")), InputError) << json;
}

}  // namespace
}  // namespace attend
