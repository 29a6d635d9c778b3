// Which language a text is in, and how sure that is.
#include "attend/data/identify_language.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attend {
namespace {

double confidence(const std::string& text, const std::string& language) {
  for (const LanguageGuess& guess : identify_language(text, {language}))
    if (guess.language == language) return guess.confidence;
  ADD_FAILURE() << language << " is not among the guesses";
  return 0;
}

TEST(IdentifyLanguage, RunningTextIsRecognised) {
  for (const auto& [language, text] : {
           std::pair("en", "It was the best of times, it was the worst of times, and they had everything before them."),
           {"it", "Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, che la via era smarrita."},
           {"de", "Als Gregor Samsa eines Morgens erwachte, fand er sich in seinem Bett und war nicht mehr er selbst."},
           {"fr",
            "Longtemps, je me suis couché de bonne heure et la lumière de la lampe ne me gênait pas dans le lit."},
           {"es",
            "El perro y el gato no están en la casa, porque los niños juegan con ellos, pero es muy tarde para mí."},
           {"ru", "Все счастливые семьи похожи друг на друга, но каждая несчастливая семья не похожа на то, что было."},
           {"el", "Πες μου, Μούσα, για τον πολύτροπο άντρα που πλανήθηκε πολύ."},
           {"ja", "吾輩は猫である。名前はまだ無い。"},
           {"zh", "学而时习之，不亦说乎？"},
       }) {
    const auto guesses = identify_language(text);
    ASSERT_FALSE(guesses.empty()) << text;
    EXPECT_EQ(guesses.front().language, language) << text;
    EXPECT_GT(guesses.front().confidence, 0.6) << text;
  }
}

TEST(IdentifyLanguage, LittleEvidenceGivesLittleConfidence) {
  EXPECT_LT(confidence("Anna", "it"), 0.2);
  EXPECT_LT(confidence("gatto", "it"), 0.2);
  EXPECT_LT(confidence("12 345", "it"), 0.01);
  EXPECT_LT(confidence("", "it"), 0.01);
  EXPECT_LT(confidence("Il gatto", "it"), confidence("Il gatto dorme, ma il cane non dorme e la ragazza legge", "it"));
}

TEST(IdentifyLanguage, AnotherLanguageOrScriptGivesLittleConfidence) {
  EXPECT_LT(confidence("It was the best of times, it was the worst of times.", "it"), 0.1);
  EXPECT_LT(confidence("Быть или не быть", "it"), 0.01);
}

TEST(IdentifyLanguage, MixedTextIsLessSureThanItsParts) {
  const std::string english = "It was the best of times and the worst of times.";
  const std::string italian = "Il gatto non dorme e la ragazza legge un libro per il cane.";
  const double mixed = confidence(english + " " + italian, "it");
  EXPECT_GT(mixed, 0);
  EXPECT_LT(mixed, 0.6);
  EXPECT_LT(mixed, confidence(italian, "it"));
}

TEST(IdentifyLanguage, ConfidencesAddUpToAtMostOne) {
  for (const char* text : {"Il gatto", "the cat and der Hund", "Быть или не быть", "o", "日本 the"}) {
    double sum = 0;
    for (const LanguageGuess& guess : identify_language(text)) {
      EXPECT_GE(guess.confidence, 0);
      sum += guess.confidence;
    }
    EXPECT_LE(sum, 1 + 1e-9) << text;
  }
}

TEST(IdentifyLanguage, CandidatesThatAreNotKnownAreToldByTheirScript) {
  EXPECT_GT(confidence("Habari ya asubuhi", "sw"), 0);
  EXPECT_EQ(confidence("Быть или не быть", "sw"), 0);
}

}  // namespace
}  // namespace attend
