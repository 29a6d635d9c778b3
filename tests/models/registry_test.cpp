#include "attend/models/registry.h"

#include <gtest/gtest.h>

#include "attend/core/folder.h"
#include "attend/models/causal_lm.h"
#include "attend/text/training/train_words.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

/// A tokenizer of the characters of a text.
Tokenizer characters_of(const std::string& text) {
  return train_characters([text, done = false](std::string& line) mutable {
    line = text;
    return !std::exchange(done, true);
  });
}

/// Saves a small model with its tokenizer.
void save_small(const Tokenizer& tokenizer, const fs::path& folder) {
  CausalLmOptions options;
  options.vocabulary = tokenizer.size(), options.positions = 4, options.width = 4, options.layers = 1;
  options.heads = 1, options.start = 0, options.ends = {0};
  CausalLm model(options);
  save_model(model, tokenizer, folder);
}

TEST(ModelFolder, ATokenizerWithOtherTokensIsRefused) {
  const test::TempFolder folder;
  save_small(characters_of("abc"), folder.path());
  EXPECT_EQ(ModelFolder(folder.path()).tokenizer().size(), characters_of("abc").size());
  save_tokenizer(characters_of("abd"), folder.path());
  EXPECT_ERROR(ModelFolder(folder.path()).tokenizer(), "is not the one that the weights were trained with");
  save_tokenizer(characters_of("abc"), folder.path());
  Config config(folder / "config.json");
  config.set("n_ctx", 4), config.save(folder / "config.json");
  EXPECT_NO_THROW((void)ModelFolder(folder.path()).tokenizer()) << "other files may be edited";
}

TEST(ModelFolder, TokensAddedBehindTheOthersAreAllowed) {
  const Tokenizer few = characters_of("ab"), more = characters_of("abc");
  EXPECT_EQ(vocabulary_digest(more, few.size()), vocabulary_digest(few));
  EXPECT_NE(vocabulary_digest(more), vocabulary_digest(few));
  const test::TempFolder folder;
  save_small(few, folder.path());
  save_tokenizer(more, folder.path());
  EXPECT_EQ(ModelFolder(folder.path()).tokenizer().size(), more.size());
}

TEST(ModelFolder, IsNotMixedWithAModelThatReplacesIt) {
  const test::TempFolder folder;
  save_small(characters_of("abc"), folder.path());
  const ModelFolder opened(folder.path());
  FolderUpdate update(folder.path());
  save_small(characters_of("xyz"), update.stage());
  update.commit();
  EXPECT_ERROR(opened.weights(), "was changed while it was being read");
  EXPECT_ERROR(opened.tokenizer(), "was changed while it was being read");
  EXPECT_NO_THROW((void)ModelFolder(folder.path()).tokenizer());
}

TEST(ModelFolder, ReadsAnUpdateThatIsNotInPlaceYet) {
  const test::TempFolder folder;
  save_small(characters_of("abc"), folder.path());
  fs::create_directories(folder / ".attend-update");
  save_small(characters_of("uvwxyz"), folder / ".attend-update");
  fs::remove(folder / "config.json");
  const ModelFolder opened(folder.path());
  EXPECT_EQ(opened.tokenizer().size(), characters_of("uvwxyz").size());
  EXPECT_NO_THROW((void)opened.model());
}

}  // namespace
}  // namespace attend
