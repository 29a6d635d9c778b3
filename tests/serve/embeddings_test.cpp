// Embeddings are the library's.
#include "attend/tasks/embedding/text_encoder.h"
#include "attend/text/base64.h"
#include "tests/serve/serving.h"

namespace attend::test {
namespace {

TEST(Embeddings, AreTheLibrarysAsNumbersAndInBase64) {
  const TextEncoder encoder(kSentences);
  const std::vector<std::string> texts{"to be or not to be", "that is the question"};
  const Tensor expected = encoder.embed(texts).vectors;
  const auto answer = serving().post("/v1/embeddings", {{"model", "sentences"}, {"input", texts}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto encoded =
      serving().post("/v1/embeddings", {{"model", "sentences"}, {"input", texts}, {"encoding_format", "base64"}});
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& vector = answer.json["data"][i]["embedding"];
    ASSERT_EQ(std::ssize(vector), expected.dim(1));
    std::string bytes;
    ASSERT_TRUE(from_base64(encoded.json["data"][i]["embedding"].get<std::string>(), bytes));
    ASSERT_EQ(bytes.size(), vector.size() * sizeof(float));
    for (std::size_t d = 0; d < vector.size(); ++d) {
      const float exact =
          expected.data()[static_cast<std::int64_t>(i) * expected.dim(1) + static_cast<std::int64_t>(d)];
      EXPECT_NEAR(vector[d].get<float>(), exact, 1e-5);
      EXPECT_EQ(reinterpret_cast<const float*>(bytes.data())[d], vector[d].get<float>());
    }
  }
  EXPECT_GT(answer.json["usage"]["prompt_tokens"], 8);
  const auto one =
      serving().post("/v1/embeddings", {{"model", "words"}, {"input", "to be"}, {"pool", "cls"}, {"normalize", true}});
  double length = 0;
  for (const Json& value : one.json["data"][0]["embedding"]) length += value.get<double>() * value.get<double>();
  EXPECT_NEAR(length, 1, 1e-5);
}

}  // namespace
}  // namespace attend::test
