#include "attend/data/squad.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/json.h"
#include "attend/core/wording.h"
#include "attend/data/batches.h"
#include "attend/data/code_points.h"

namespace attend {
namespace {

/// The byte at which each code point of a text begins, and the end of the text.
std::vector<std::int64_t> begins_of_code_points(std::string_view text) {
  std::vector<std::int64_t> begins;
  std::int64_t at = 0;
  for_each_code_point(text, [&](char32_t, std::string_view bytes) { begins.push_back(at), at += std::ssize(bytes); });
  begins.push_back(at);
  return begins;
}

std::string_view without_outer_space(std::string_view text) {
  const std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(space) + 1 - first);
}

/// The occurrence of `part` in `text` that is nearest to the byte `near`.
std::optional<std::int64_t> nearest_occurrence(std::string_view text, std::string_view part, std::int64_t near) {
  std::optional<std::int64_t> best;
  if (part.empty()) return best;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
    const auto found = static_cast<std::int64_t>(at);
    if (!best || std::abs(found - near) < std::abs(*best - near)) best = found;
  }
  return best;
}

/// A string, or the digits of a number.
std::string id_of(const JsonValue& value) {
  if (!value.is_string() && !value.is_integer()) value.fail_kind("a string");
  return value.is_string() ? std::string(value.string()) : value.shown();
}

class SquadReader {
 public:
  explicit SquadReader(SquadFile& file) : file_(file) {}

  void read(const JsonValue& root) {
    if (!root.is_object() || !root.find("data"))
      root.fail("expected SQuAD's format: an object with a list of articles under \"data\"");
    root["data"].each_element([&](const JsonValue& article) {
      Article& added = file_.articles.emplace_back();
      added.title = article.string("title", "");
      article["paragraphs"].each_element(
          [&](const JsonValue& paragraph) { added.passages.push_back(paragraph_of(paragraph)); });
    });
  }

 private:
  Passage paragraph_of(const JsonValue& value) {
    Passage paragraph{std::string(value["context"].string()), {}};
    const std::vector<std::int64_t> begins = begins_of_code_points(paragraph.text);
    value["qas"].each_element([&](const JsonValue& question) {
      PassageQuestion& added = paragraph.questions.emplace_back();
      added.id = id_of(question["id"]);
      added.question = question["question"].string();
      if (const auto answers = question.find("answers"))
        answers->each_element([&](const JsonValue& answer) {
          added.answers.push_back(answer_of(answer, paragraph.text, begins, added.id));
        });
      if (question.boolean("is_impossible", false) && added.answerable())
        question.fail("the question \"", added.id, "\" of the article \"", file_.articles.back().title,
                      "\" is_impossible, but has answers");
    });
    return paragraph;
  }

  ReferenceAnswer answer_of(const JsonValue& value, std::string_view text, const std::vector<std::int64_t>& begins,
                            const std::string& question) {
    const std::string_view written = value["text"].string(), trimmed = without_outer_space(written);
    ReferenceAnswer answer{std::string(trimmed), {}};
    const std::int64_t start = value["answer_start"].integer();
    const auto code_point = static_cast<std::size_t>(std::clamp<std::int64_t>(start, 0, std::ssize(begins) - 1));
    const std::int64_t said = begins[code_point] + (trimmed.empty() ? 0 : trimmed.data() - written.data());
    if (const auto found = nearest_occurrence(text, trimmed, said)) {
      if ((start < 0 || *found != said) && file_.moved++ == 0) file_.first_moved = place(question);
      answer.span = Span{*found, *found + std::ssize(trimmed)};
    } else if (file_.missing++ == 0) {
      file_.first_missing = place(question);
    }
    return answer;
  }

  std::string place(const std::string& question) const {
    return "article \"" + file_.articles.back().title + "\", question \"" + question + "\"";
  }

  SquadFile& file_;
};

}  // namespace

const ReferenceAnswer* PassageQuestion::found() const {
  const auto found =
      std::ranges::find_if(answers, [](const ReferenceAnswer& answer) { return answer.span.has_value(); });
  return found == answers.end() ? nullptr : &*found;
}

std::vector<std::string> PassageQuestion::references() const {
  std::vector<std::string> texts;
  for (const ReferenceAnswer& answer : answers) texts.push_back(answer.text);
  return texts;
}

std::int64_t Article::questions() const {
  std::int64_t count = 0;
  for (const Passage& paragraph : passages) count += std::ssize(paragraph.questions);
  return count;
}

std::int64_t count_questions(const std::vector<Article>& articles) {
  std::int64_t count = 0;
  for (const Article& article : articles) count += article.questions();
  return count;
}

std::vector<std::string> SquadFile::warnings() const {
  std::vector<std::string> all;
  if (moved > 0)
    all.push_back(counted(moved, "answer") + (moved == 1 ? " is" : " are") +
                  " at another place of the paragraph than the file says, the first in " + first_moved +
                  "; the nearest place was taken");
  if (missing > 0)
    all.push_back(counted(missing, "answer") + (missing == 1 ? " is" : " are") +
                  " not in the paragraph, the first in " + first_missing);
  if (invalid.count > 0) all.push_back(invalid.warning());
  return all;
}

SquadFile read_squad(const std::filesystem::path& file) { return read_squad(TextStream::open(file)); }

SquadFile read_squad(TextStream stream) {
  SquadFile file;
  SquadReader(file).read(JsonDocument(stream.rest(), stream.name(), "squad").root());
  file.invalid = stream.invalid();
  if (count_questions(file.articles) == 0) fail<InputError>("squad", stream.name(), ": has no questions");
  return file;
}

void write_squad(const std::vector<Article>& articles, const std::filesystem::path& path) {
  using Json = nlohmann::ordered_json;
  AtomicFile file(path);
  file.write(R"({"version": "v2.0", "data": [)");
  for (std::size_t a = 0; a < articles.size(); ++a) {
    Json article{{"title", articles[a].title}, {"paragraphs", Json::array()}};
    for (const Passage& paragraph : articles[a].passages) {
      Json& added = article["paragraphs"].emplace_back(Json{{"context", paragraph.text}, {"qas", Json::array()}});
      for (const PassageQuestion& question : paragraph.questions) {
        Json answers = Json::array();
        for (const ReferenceAnswer& answer : question.answers) {
          const auto begin = static_cast<std::size_t>(answer.span ? answer.span->begin : 0);
          const std::int64_t start =
              answer.span ? count_code_points(std::string_view(paragraph.text).substr(0, begin)) : -1;
          answers.push_back({{"text", answer.text}, {"answer_start", start}});
        }
        added["qas"].push_back({{"id", question.id},
                                {"question", question.question},
                                {"is_impossible", !question.answerable()},
                                {"answers", std::move(answers)}});
      }
    }
    file.write((a == 0 ? "\n" : ",\n") + article.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  file.write("\n]}\n");
  file.commit();
}

void check_ids(const std::vector<Article>& articles) {
  std::set<std::string_view> ids;
  for (const Article& article : articles)
    for (const Passage& passage : article.passages)
      for (const PassageQuestion& question : passage.questions)
        if (!ids.insert(question.id).second)
          fail<InputError>("squad", "two questions have the id \"", question.id, "\", the second one in the article \"",
                           article.title, "\"");
}

ArticleSplit split_articles(std::vector<Article> articles, double validation, double test, std::uint64_t seed) {
  if (!(validation >= 0 && test >= 0 && validation + test < 1))
    fail<InputError>("squad", "the shares for validation and test must be at least 0, and together below 1: got ",
                     validation, " and ", test);
  const auto all = static_cast<double>(count_questions(articles));
  enum class Part : std::uint8_t { training, validation, test };
  std::vector<Part> parts(articles.size(), Part::training);
  const std::vector<std::int64_t> order = shuffled(std::ssize(articles), {seed, 0});
  auto take = [&, next = order.begin()](Part part, double share) mutable {
    for (double held = 0; share > 0 && (held == 0 || held < share * all - 0.5) && next != order.end(); ++next) {
      const auto article = static_cast<std::size_t>(*next);
      parts[article] = part, held += static_cast<double>(articles[article].questions());
    }
  };
  take(Part::test, test), take(Part::validation, validation);
  ArticleSplit split;
  for (std::size_t a = 0; a < articles.size(); ++a)
    (parts[a] == Part::training     ? split.training
     : parts[a] == Part::validation ? split.validation
                                    : split.test)
        .push_back(std::move(articles[a]));
  if (count_questions(split.training) == 0)
    fail<InputError>("squad", "no article is left for training: got ", counted(std::ssize(articles), "article"),
                     " and the shares ", validation, " for validation and ", test, " for test");
  return split;
}

}  // namespace attend
