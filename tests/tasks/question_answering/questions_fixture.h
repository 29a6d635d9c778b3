// Small files of questions about paragraphs for the tests: people live in towns and like things.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attend/core/random.h"
#include "attend/data/squad.h"
#include "tests/support/temp_folder.h"

namespace attend::test {

inline std::vector<Article> made_up_articles(int articles, std::uint64_t seed, bool unanswerable = false) {
  const std::vector<std::string> people = {"Anna", "Bruno", "Carla", "Dario"},
                                 towns = {"Rome", "Turin", "Milan", "Bari"},
                                 things = {"tea", "rain", "old songs", "maps"};
  Generator generator(seed);
  std::vector<Article> all;
  for (int a = 0; a < articles; ++a) {
    Article& article = all.emplace_back(Article{"Article " + std::to_string(a), {}});
    for (std::uint64_t p = 0; p < 4; ++p) {
      const auto random = philox(generator.next(), p);
      Passage passage;
      const auto say = [&](const std::string& text) {
        const auto begin = static_cast<std::int64_t>(passage.text.size());
        passage.text += text;
        return ReferenceAnswer{text, Span{begin, begin + static_cast<std::int64_t>(text.size())}};
      };
      const auto ask = [&](const std::string& question, std::vector<ReferenceAnswer> answers) {
        const std::string id =
            std::to_string(a) + "." + std::to_string(p) + "." + std::to_string(passage.questions.size());
        passage.questions.push_back({id, question, std::move(answers)});
      };
      for (std::size_t i = 0; i < 2; ++i) {
        const std::string& person = people[(random[0] + i) % 4];
        say(person + " lives in ");
        const ReferenceAnswer town = say(towns[(random[1] + i * (1 + random[2] % 3)) % 4]);
        say(" and likes ");
        const ReferenceAnswer thing = say(things[(random[3] + i) % 4]);
        say(". ");
        ask("Where does " + person + " live?", {town});
        ask("What does " + person + " like?", {thing, thing});
      }
      if (unanswerable) ask("Where does " + people[(random[0] + 2) % 4] + " live?", {});
      article.passages.push_back(std::move(passage));
    }
  }
  return all;
}

/// A folder with train.json, dev.json and dev2.json, in which some questions have no answer.
struct QuestionFolder : TempFolder {
  QuestionFolder() {
    write_squad(made_up_articles(20, 1), *this / "train.json");
    write_squad(made_up_articles(4, 2), *this / "dev.json");
    write_squad(made_up_articles(20, 1, true), *this / "train2.json");
    write_squad(made_up_articles(4, 2, true), *this / "dev2.json");
  }
};

}  // namespace attend::test
