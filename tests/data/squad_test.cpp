#include "attend/data/squad.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "attend/core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

class Squad : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(folder_ / "file.json") << text;
    return folder_ / "file.json";
  }
  SquadFile read(const std::string& text) const { return read_squad(write(text)); }
  /// A file with one paragraph.
  SquadFile read(const std::string& context, const std::string& questions) const {
    return read(R"({"data": [{"title": "Castle", "paragraphs": [{"context": ")" + context + R"(", "qas": [)" +
                questions + "]}]}]}");
  }
  static std::string text_at(const Passage& paragraph, const ReferenceAnswer& answer) {
    return paragraph.text.substr(static_cast<std::size_t>(answer.span->begin),
                                 static_cast<std::size_t>(answer.span->end - answer.span->begin));
  }

  test::TempFolder folder_;
};

TEST_F(Squad, QuestionsHaveAnswersAtCodePoints) {
  const SquadFile file = read("Così è: la torre è del 1234.",
                              R"({"id": "q1", "question": "Quando?", "answers": [{"text": "1234", "answer_start": 23},
                                 {"text": "del 1234", "answer_start": 19}]},
                                 {"id": 7, "question": "Chi?", "answers": [], "is_impossible": true,
                                  "plausible_answers": [{"text": "torre", "answer_start": 11}]})");
  EXPECT_TRUE(file.warnings().empty());
  ASSERT_EQ(file.articles.size(), 1u);
  EXPECT_EQ(file.articles[0].title, "Castle");
  EXPECT_EQ(count_questions(file.articles), 2);
  const Passage& paragraph = file.articles[0].passages[0];
  const PassageQuestion &first = paragraph.questions[0], &second = paragraph.questions[1];
  EXPECT_EQ(first.references(), (std::vector<std::string>{"1234", "del 1234"}));
  EXPECT_EQ(text_at(paragraph, first.answers[0]), "1234");
  EXPECT_EQ(text_at(paragraph, first.answers[1]), "del 1234");
  EXPECT_EQ(second.id, "7");
  EXPECT_FALSE(second.answerable());
}

TEST_F(Squad, AnAnswerAtAWrongPlaceIsTheNearestOne) {
  const SquadFile file = read("red, blue, red, green",
                              R"({"id": "a", "question": "?", "answers": [{"text": "red", "answer_start": 9}]},
                                 {"id": "b", "question": "?", "answers": [{"text": " green ", "answer_start": 999}]},
                                 {"id": "c", "question": "?", "answers": [{"text": "red", "answer_start": -4}]},
                                 {"id": "d", "question": "?", "answers": [{"text": " blue", "answer_start": 4}]})");
  EXPECT_EQ(file.moved, 3);
  const auto& questions = file.articles[0].passages[0].questions;
  EXPECT_EQ(questions[0].answers[0].span, (Span{11, 14}));
  EXPECT_EQ(questions[1].answers[0].span, (Span{16, 21}));
  EXPECT_EQ(questions[2].answers[0].span, (Span{0, 3}));
  EXPECT_EQ(questions[3].answers[0].span, (Span{5, 9}));
  ASSERT_EQ(file.warnings().size(), 1u);
  EXPECT_EQ(file.warnings()[0],
            "3 answers are at another place of the paragraph than the file says, the first in article \"Castle\", "
            "question \"a\"; the nearest place was taken");
}

TEST_F(Squad, AnAnswerThatIsNotInTheParagraphHasNoPlace) {
  const SquadFile file = read("red and blue", R"({"id": "x", "question": "?",
      "answers": [{"text": "green", "answer_start": 0}, {"text": "", "answer_start": 0}]})");
  EXPECT_EQ(file.missing, 2);
  EXPECT_FALSE(file.articles[0].passages[0].questions[0].answers[0].span);
  EXPECT_EQ(file.warnings()[0], "2 answers are not in the paragraph, the first in article \"Castle\", question \"x\"");
}

TEST_F(Squad, BadFilesAreErrorsWithFileAndPlace) {
  EXPECT_ERROR(read_squad(folder_ / "none.json"), "none.json");
  EXPECT_ERROR(read(""), "file.json");
  EXPECT_ERROR(read("[1]"), "expected SQuAD's format");
  EXPECT_ERROR(read(R"({"version": "1.1"})"), "expected SQuAD's format");
  EXPECT_ERROR(read(R"({"data": []})"), "file.json: has no questions");
  EXPECT_ERROR(read(R"({"data": [{"title": "T"}]})"), "data[0]");
  EXPECT_ERROR(read("text", R"({"id": "x", "answers": []})"), "paragraphs[0].qas[0]");
  EXPECT_ERROR(read("text", R"({"id": [], "question": "?"})"), "qas[0].id");
  EXPECT_ERROR(read("text", R"({"id": "x", "question": "?", "answers": [{"text": "text"}]})"), "answers[0]");
  EXPECT_ERROR(read("text", R"({"id": "x", "question": "?", "answers": [{"text": "text", "answer_start": "0"}]})"),
               "answer_start");
  EXPECT_ERROR(read("text", R"({"id": "x", "question": "?", "is_impossible": true,
                                "answers": [{"text": "text", "answer_start": 0}]})"),
               "the question \"x\" of the article \"Castle\" is_impossible, but has answers");
}

TEST_F(Squad, WrittenArticlesAreReadBack) {
  SquadFile file = read("È la \\\"torre\\\"\\n del 1234.", R"({"id": "q1", "question": "È?", "answers": [
      {"text": " 1234", "answer_start": 17}, {"text": "no", "answer_start": 0}]}, {"id": "q2", "question": "b"})");
  EXPECT_EQ(file.moved, 0);
  write_squad(file.articles, folder_ / "copy.json");
  const SquadFile copy = read_squad(folder_ / "copy.json");
  EXPECT_EQ(copy.moved, 0);
  EXPECT_EQ(copy.missing, 1);
  const Passage &before = file.articles[0].passages[0], &after = copy.articles[0].passages[0];
  EXPECT_EQ(after.text, before.text);
  ASSERT_EQ(after.questions.size(), 2u);
  EXPECT_EQ(after.questions[0].references(), before.questions[0].references());
  EXPECT_EQ(after.questions[0].answers[0].span, before.questions[0].answers[0].span);
  EXPECT_EQ(after.questions[1].id, "q2");
  EXPECT_FALSE(after.questions[1].answerable());
}

TEST_F(Squad, ArticlesAreSplitAsAWholeAndTheSameWayEachTime) {
  std::vector<Article> articles;
  for (int a = 0; a < 20; ++a) {
    Article& article = articles.emplace_back(Article{std::to_string(a), {{"text", {}}}});
    for (int q = 0; q < 5; ++q)
      article.passages[0].questions.push_back({std::to_string(a) + "-" + std::to_string(q), "?", {}});
  }
  const ArticleSplit split = split_articles(articles, 0.1, 0.2, 3), again = split_articles(articles, 0.1, 0.2, 3);
  EXPECT_EQ(split.training.size(), 14u);
  EXPECT_EQ(split.validation.size(), 2u);
  EXPECT_EQ(split.test.size(), 4u);
  std::set<std::string> titles;
  for (const auto* part : {&split.training, &split.validation, &split.test})
    for (const Article& article : *part) titles.insert(article.title);
  EXPECT_EQ(titles.size(), 20u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(split.test[i].title, again.test[i].title);
  // The test part is chosen first, so it does not depend on the size of the validation part.
  const ArticleSplit more = split_articles(articles, 0.3, 0.2, 3);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(split.test[i].title, more.test[i].title);
  EXPECT_EQ(split_articles(articles, 0, 0, 3).training.size(), 20u);
  EXPECT_EQ(split_articles(articles, 0.001, 0, 3).validation.size(), 1u);
  EXPECT_ERROR(split_articles(articles, 0.5, 0.5, 3), "together below 1");
  EXPECT_ERROR(split_articles(articles, -0.5, 0.5, 3), "at least 0");
  EXPECT_ERROR(split_articles({articles[0]}, 0.5, 0, 3), "no article is left for training");
}

TEST_F(Squad, TwoQuestionsWithOneIdAreAnError) {
  std::vector<Article> articles = {{"A", {{"text", {{"1", "?", {}}, {"2", "?", {}}}}}},
                                   {"B", {{"text", {{"3", "?", {}}}}}}};
  EXPECT_NO_THROW(check_ids(articles));
  articles[1].passages[0].questions[0].id = "2";
  EXPECT_ERROR(check_ids(articles), "two questions have the id \"2\", the second one in the article \"B\"");
}

}  // namespace
}  // namespace attend
