#include "attend/data/phrase_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "attend/core/error.h"
#include "attend/data/phrases/english.h"
#include "attend/data/phrases/grammar.h"
#include "attend/data/split.h"

namespace attend {

inline bool operator==(const PhrasePair& a, const PhrasePair& b) {
  return a.source == b.source && a.target == b.target;
}

namespace {

using namespace phrases;

const PhraseBook& large_book() {
  static const PhraseBook kBook = phrase_book({.pairs = 60'000, .held_out = 2'000});
  return kBook;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<PhrasePair> all_of(const PhraseBook& book) {
  std::vector<PhrasePair> all = book.training;
  all.insert(all.end(), book.held_out.begin(), book.held_out.end());
  return all;
}

TEST(PhraseBook, NoSourceComesTwiceEvenWrittenDifferently) {
  std::set<std::string> sources;
  for (const PhrasePair& pair : all_of(large_book()))
    EXPECT_TRUE(sources.insert(split_key(pair.source)).second) << pair.source;
  EXPECT_EQ(sources.size(), 62'000);
}

TEST(PhraseBook, EveryItalianSentenceHasOneTranslation) {
  std::map<std::string, std::string> translations;
  for (std::uint64_t i = 0; i < 80'000; ++i) {
    Dice dice({99, i});
    const Text text = some_sentence(dice);
    const auto [place, isnew] = translations.emplace(text.italian, text.english);
    EXPECT_EQ(place->second, text.english) << text.italian;
  }
  EXPECT_GT(translations.size(), 60'000);
}

TEST(PhraseBook, TheSameSeedGivesTheSamePairs) {
  const PhraseBookOptions options{.pairs = 500, .held_out = 100, .seed = 5};
  const PhraseBook one = phrase_book(options), two = phrase_book(options);
  EXPECT_EQ(one.training, two.training);
  EXPECT_EQ(one.held_out, two.held_out);
  const PhraseBook other = phrase_book({.pairs = 500, .held_out = 100, .seed = 6});
  EXPECT_FALSE(other.held_out == one.held_out);
}

TEST(PhraseBook, HeldOutPairsAreInNoTrainingSet) {
  std::set<std::string> held_out;
  for (const std::uint64_t seed : {1, 2})
    for (const PhrasePair& pair : phrase_book({.pairs = 0, .held_out = 3000, .seed = seed}).held_out)
      held_out.insert(split_key(pair.source));
  for (const std::uint64_t seed : {1, 3})
    for (const PhrasePair& pair : phrase_book({.pairs = 20'000, .seed = seed}).training)
      EXPECT_FALSE(held_out.contains(split_key(pair.source))) << pair.source;
}

TEST(PhraseBook, EachSideDependsOnItsOwnNumber) {
  const PhraseBook few = phrase_book({.pairs = 100, .held_out = 300}),
                   more = phrase_book({.pairs = 2000, .held_out = 10});
  EXPECT_TRUE(std::equal(more.held_out.begin(), more.held_out.end(), few.held_out.begin()));
  EXPECT_TRUE(std::equal(few.training.begin(), few.training.end(), more.training.begin()));
}

TEST(PhraseBook, SentencesAreShortAndLong) {
  std::map<std::size_t, int> counts;
  std::size_t all = 0;
  for (const PhrasePair& pair : large_book().training) {
    const std::size_t length = words_of(pair.source).size();
    ++counts[length], all += length;
    EXPECT_LE(length, 30) << pair.source;
  }
  const double mean = static_cast<double>(all) / 60'000;
  EXPECT_GT(mean, 5);
  EXPECT_LT(mean, 9);
  const auto share = [&](std::size_t from, std::size_t to) {
    int sum = 0;
    for (const auto& [length, count] : counts)
      if (length >= from && length <= to) sum += count;
    return sum / 60'000.0;
  };
  EXPECT_GT(share(1, 4), 0.1);
  EXPECT_GT(share(10, 14), 0.1);
  EXPECT_GT(share(15, 30), 0.005);
}

TEST(PhraseBook, SentencesBeginWithACapitalAndEndWithTheSameMark) {
  for (const auto& [source, target] : all_of(large_book())) {
    EXPECT_TRUE((source[0] >= 'A' && source[0] <= 'Z') || source.starts_with("È")) << source;
    EXPECT_TRUE(target[0] >= 'A' && target[0] <= 'Z') << target;
    EXPECT_EQ(source.back(), target.back()) << source;
    EXPECT_NE(std::string_view(".!?").find(source.back()), std::string_view::npos) << source;
    for (const std::string& side : {source, target}) {
      EXPECT_EQ(side.find("  "), std::string::npos) << side;
      EXPECT_EQ(side.find(" ,"), std::string::npos) << side;
      EXPECT_EQ(side.find("\t"), std::string::npos) << side;
    }
  }
}

bool begins_with_vowel(const std::string& word) {
  return std::string_view("aeiouAEIOU").find(word[0]) != std::string_view::npos || word.starts_with("è");
}
bool begins_heavily(const std::string& word) {
  return word[0] == 'z' ||
         (word.size() > 1 && word[0] == 's' && std::string_view("aeiou").find(word[1]) == std::string_view::npos);
}

TEST(PhraseBook, ItalianArticlesFitTheNextWord) {
  const std::set<std::string> light = {"il", "i", "del", "dei", "al", "ai", "nel", "sul", "quel", "quei", "bel", "bei"};
  const std::set<std::string> heavy = {"gli", "degli", "agli", "quegli", "begli",
                                       "uno", "dello", "allo", "nello",  "quello"};
  const std::set<std::string> feminine = {"una", "della", "alla", "nella", "sulla", "quella", "bella"};
  std::map<std::string, int> seen;
  for (const PhrasePair& pair : all_of(large_book())) {
    std::vector<std::string> words = words_of(pair.source);
    words[0][0] = static_cast<char>(std::tolower(words[0][0]));
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const std::string &word = words[i], &next = words[i + 1];
      ++seen[word];
      if (light.contains(word)) {
        EXPECT_FALSE(begins_with_vowel(next) || begins_heavily(next)) << pair.source;
      }
      if (heavy.contains(word)) {
        EXPECT_TRUE(begins_heavily(next) || (begins_with_vowel(next) && word.ends_with("gli"))) << pair.source;
      }
      // "bella" and "quella" also follow their noun, or before another adjective.
      if (feminine.contains(word) && word != "bella") {
        EXPECT_FALSE(begins_with_vowel(next)) << pair.source;
      }
      if (word == "un") {
        EXPECT_FALSE(begins_heavily(next)) << pair.source;
      }
    }
    for (const std::string& word : words)
      if (const std::size_t at = word.find('\'');
          at != std::string::npos && at + 1 < word.size() && word.substr(0, at) != "c") {
        EXPECT_TRUE(begins_with_vowel(word.substr(at + 1)) || word[at + 1] == 'h') << pair.source;
      }
  }
  for (const char* word : {"il", "i", "gli", "uno", "quei", "quegli", "bei", "nella", "sulla", "dei"})
    EXPECT_GT(seen[word], 0) << word << " never came: the test has looked at nothing";
}

TEST(PhraseBook, EnglishWordsAgree) {
  const std::set<std::pair<std::string, std::string>> wrong = {
      {"I", "is"},  {"I", "are"},  {"I", "has"},   {"I", "does"},   {"he", "are"},   {"she", "am"},
      {"we", "is"}, {"we", "was"}, {"they", "is"}, {"they", "was"}, {"they", "has"}, {"does", "they"},
      {"do", "he"}, {"do", "she"}, {"is", "they"}, {"these", "is"},
  };
  for (const PhrasePair& pair : all_of(large_book())) {
    std::vector<std::string> words = words_of(pair.target);
    if (words[0] != "I") words[0][0] = static_cast<char>(std::tolower(words[0][0]));
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      EXPECT_FALSE(wrong.contains({words[i], words[i + 1]})) << pair.target;
      const bool vowel = begins_with_vowel(words[i + 1]), sounds_like_you = words[i + 1].starts_with("useful");
      if (words[i] == "a") {
        EXPECT_TRUE(!vowel || sounds_like_you) << pair.target;
      }
      if (words[i] == "an") {
        EXPECT_TRUE(vowel && !sounds_like_you) << pair.target;
      }
    }
  }
}

TEST(PhraseBook, HasDifficultConstructions) {
  const auto has = [&](const std::string& source, const std::string& target) {
    return std::ranges::any_of(large_book().training, [&](const PhrasePair& pair) {
      return pair.source.find(source) != std::string::npos && pair.target.find(target) != std::string::npos;
    });
  };
  EXPECT_TRUE(has("Non ho ", "I did not "));     // dropped pronoun, negation, past
  EXPECT_TRUE(has("Sono andata ", "I went "));   // agreement with a dropped subject
  EXPECT_TRUE(has("L'ho ", " it"));              // pronoun before the verb
  EXPECT_TRUE(has(" di Marco", "Marco's "));     // reordering
  EXPECT_TRUE(has("Mi piacciono ", "I like "));  // subject and object change places
  EXPECT_TRUE(has("Dove ", "Where did "));       // do
  EXPECT_TRUE(has(" che ", " who "));
  EXPECT_TRUE(has("Se ", "If "));
  EXPECT_TRUE(has(" perché ", " because "));
}

TEST(PhraseBook, MorePairsThanItHasAreAnError) {
  EXPECT_THROW(phrase_book({.pairs = 1'000'000'000}), InputError);
  EXPECT_THROW(phrase_book({.pairs = -1}), InputError);
  EXPECT_TRUE(phrase_book({.pairs = 0}).training.empty());
}

TEST(Italian, ArticlesDependOnGenderNumberAndSound) {
  using enum Gender;
  using enum Number;
  EXPECT_EQ(italian::definite_article(masculine, singular, "libro"), "il");
  EXPECT_EQ(italian::definite_article(masculine, singular, "studente"), "lo");
  EXPECT_EQ(italian::definite_article(masculine, singular, "amico"), "l'");
  EXPECT_EQ(italian::definite_article(masculine, plural, "sali"), "i");
  EXPECT_EQ(italian::definite_article(masculine, plural, "zaini"), "gli");
  EXPECT_EQ(italian::definite_article(feminine, singular, "isola"), "l'");
  EXPECT_EQ(italian::definite_article(feminine, plural, "isole"), "le");
  EXPECT_EQ(italian::indefinite_article(masculine, "amico"), "un");
  EXPECT_EQ(italian::indefinite_article(feminine, "amica"), "un'");
  EXPECT_EQ(italian::like_article("be", masculine, plural, "alberi"), "begli");
  EXPECT_EQ(italian::with_preposition("di", "gli", "amici"), "degli amici");
  EXPECT_EQ(italian::with_preposition("in", "l'", "armadio"), "nell'armadio");
  EXPECT_EQ(italian::with_preposition("vicino a", "il", "letto"), "vicino al letto");
  EXPECT_EQ(italian::with_preposition("con", "lo", "zio"), "con lo zio");
  EXPECT_EQ(italian::with_preposition("di", "", "Marco"), "di Marco");
}

TEST(Italian, WordsAgreeAndVerbsAreConjugated) {
  using enum Gender;
  using enum Number;
  EXPECT_EQ(italian::agree("bianco", feminine, plural), "bianche");
  EXPECT_EQ(italian::agree("simpatico", masculine, plural), "simpatici");
  EXPECT_EQ(italian::agree("vecchio", masculine, plural), "vecchi");
  EXPECT_EQ(italian::agree("verde", feminine, plural), "verdi");
  EXPECT_EQ(italian::agree("blu", feminine, plural), "blu");
  EXPECT_EQ(italian::present("cercare", kTu), "cerchi");
  EXPECT_EQ(italian::present("mangiare", kNoi), "mangiamo");
  EXPECT_EQ(italian::present("capire", kLoro), "capiscono");
  EXPECT_EQ(italian::future("mangiare", kIo), "mangerò");
  EXPECT_EQ(italian::future("cercare", kLui), "cercherà");
  EXPECT_EQ(italian::future("studiare", kLoro), "studieranno");
  EXPECT_EQ(italian::future("venire", kIo), "verrò");
  EXPECT_EQ(italian::imperfect("dormire", kIo), "dormivo");
  EXPECT_EQ(italian::gerund("bere"), "bevendo");
  EXPECT_EQ(italian::participle("andare", feminine, plural), "andate");
  EXPECT_EQ(italian::participle("scrivere"), "scritto");
  EXPECT_EQ(italian::imperative("parlare", kTu), "parla");
  EXPECT_EQ(italian::attach("leggere", "lo"), "leggerlo");
}

TEST(English, WordsAreInflected) {
  EXPECT_EQ(english::plural("strawberry"), "strawberries");
  EXPECT_EQ(english::plural("policeman"), "policemen");
  EXPECT_EQ(english::plural("toy"), "toys");
  EXPECT_EQ(english::with_article("umbrella"), "an umbrella");
  EXPECT_EQ(english::with_article("useful book"), "a useful book");
  EXPECT_EQ(english::possessive("the girls", true), "the girls'");
  EXPECT_EQ(english::possessive("the children", true), "the children's");
  EXPECT_EQ(english::past("wait for"), "waited for");
  EXPECT_EQ(english::past("carry"), "carried");
  EXPECT_EQ(english::progressive("write"), "writing");
  EXPECT_EQ(english::progressive("get up"), "getting up");
  EXPECT_EQ(english::third_person("watch"), "watches");
  EXPECT_EQ(english::superlative("big", "bigger"), "biggest");
  EXPECT_EQ(english::superlative("useful", ""), "most useful");
}

}  // namespace
}  // namespace attend
