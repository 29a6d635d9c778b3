#include "attend/tasks/language_model/gguf_export.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "attend/tasks/language_model/chat.h"
#include "attend/tasks/language_model/language_model.h"
#include "attend/text/training/train_words.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

fs::path fixture(const std::string& name) { return fs::path(ATTEND_SOURCE_DIR) / "tests/models/fixtures" / name; }

TEST(GgufExport, CharactersOfSeveralBytesHaveMerges) {
  const test::TempFolder folder;
  bool read = false;
  const Tokenizer characters = train_characters([&](std::string& line) {
    line = "né €";
    return !std::exchange(read, true);
  });
  CausalLmOptions o;
  o.vocabulary = characters.size(), o.positions = 8, o.width = 4, o.layers = 1, o.heads = 2, o.start = 0, o.ends = {0};
  save_gguf(CausalLm(o), characters, folder / "m.gguf", GgufType::f32, "m");
  const std::string file = (std::stringstream() << std::ifstream(folder / "m.gguf").rdbuf()).str();
  for (const char* part : {"Ã ©", "â Ĥ", "âĤ ¬", "Ċ", "Ġ"}) EXPECT_NE(file.find(part), file.npos) << part;
}

TEST(GgufExport, ModelsThatLlamaCppDoesNotSupportAreErrors) {
  const test::TempFolder folder;
  const Tokenizer tokenizer = load_tokenizer(fixture("gpt2_tokenizer"));
  const auto save = [&](const char* model) {
    save_gguf(load_causal_lm(fixture(model)), tokenizer, folder / "m.gguf", GgufType::f32, "m");
  };
  EXPECT_ERROR(save("gpt2_switches"), "llama.cpp's GPT-2");
  EXPECT_ERROR(save("gpt2_unscaled"), "llama.cpp's GPT-2");
  const Tokenizer words = load_tokenizer(fs::path(ATTEND_SOURCE_DIR) / "tests/tasks/fixtures/bert_words");
  EXPECT_ERROR(save_gguf(load_causal_lm(fixture("gpt2_tokenizer")), words, folder / "m.gguf", GgufType::f32, "m"),
               "llama.cpp has no tokenizer like this model's");
}

TEST(GgufExport, AnExportedModelOpensAgain) {
  const test::TempFolder folder;
  const LanguageModel original(fixture("gpt2_tokenizer"));
  save_gguf(original.network(), original.tokenizer(), folder / "m.gguf", GgufType::f32, "m");
  const LanguageModel opened(folder / "m.gguf");
  for (const std::string text : {"low lower", "a  newest", "é"}) {
    EXPECT_EQ(opened.tokenizer().ids(text), original.tokenizer().ids(text)) << text;
    EXPECT_EQ(opened(text, {{.max_new_tokens = 8}}).ids, original(text, {{.max_new_tokens = 8}}).ids) << text;
  }
}

TEST(GgufExport, TheChatTemplatesComeBackWithTheirTokens) {
  const test::TempFolder folder;
  const LanguageModel original(fixture("gpt2_tokenizer"));
  const ChatTemplate chat = ChatTemplate("{{ messages[0].content }}{{ eos_token }}")
                                .with_tool_template("{{ tools[0].name }}{{ messages[0].content }}", "with tools");
  save_gguf(original.network(), original.tokenizer(), folder / "m.gguf", GgufType::f32, "m", chat);
  const std::optional<ChatTemplate> opened = chat_template_of(ModelFolder(folder / "m.gguf"));
  ASSERT_TRUE(opened);
  const std::string messages = R"([{"role": "user", "content": "low"}])", tools = R"([{"name": "f"}])";
  EXPECT_EQ(opened->render({.messages = messages}),
            "low" + original.tokenizer().token(original.network().options.end()));
  EXPECT_EQ(opened->render({.messages = messages, .tools = tools}), "flow");
  save_gguf(original.network(), original.tokenizer(), folder / "none.gguf", GgufType::f32, "m");
  EXPECT_FALSE(chat_template_of(ModelFolder(folder / "none.gguf")));
}

}  // namespace
}  // namespace attend
