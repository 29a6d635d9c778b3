#include "attend/explain/interlinear.h"

#include <gtest/gtest.h>

#include "attend/core/error.h"

namespace attend {
namespace {

const AlignedTexts kApples{"Mi piacciono le mele rosse.", "I like red apples.", {{0, 0}, {1, 1}, {4, 2}, {3, 3}}};

TEST(Interlinear, SetsBelowEachWordWhatItBecame) {
  EXPECT_EQ(interlinear(kApples),
            "  Mi  piacciono  le  mele     rosse.\n"
            "  I₁  like₂      ·   apples₄  red₃\n");
}

TEST(Interlinear, SeveralWordsOfOneStandInTheirOrder) {
  EXPECT_EQ(interlinear({"Mangerò", "I will eat", {{0, 2}, {0, 0}, {0, 1}}}), "  Mangerò\n  I₁ will₂ eat₃\n");
}

TEST(Interlinear, BreaksWhereTheLineIsFull) {
  EXPECT_EQ(interlinear(kApples, {.width = 20}),
            "  Mi  piacciono  le\n"
            "  I₁  like₂      ·\n"
            "  mele     rosse.\n"
            "  apples₄  red₃\n");
}

TEST(Interlinear, PaintsWordsThatBelongTogetherAlike) {
  const std::string text = interlinear({"due mele", "two apples", {{0, 0}, {1, 1}}}, {.colour = true});
  EXPECT_NE(text.find("\x1b[38;2;0;114;178mdue\x1b[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[38;2;0;114;178mtwo₁\x1b[0m"), std::string::npos) << text;
}

TEST(Interlinear, OfNothingIsNothingAndBadLinksAreErrors) {
  EXPECT_EQ(interlinear({"", "", {}}), "");
  EXPECT_THROW(interlinear({"a", "b", {{1, 0}}}), Error);
  EXPECT_THROW(interlinear({"a", "b", {{0, 1}}}), Error);
}

}  // namespace
}  // namespace attend
