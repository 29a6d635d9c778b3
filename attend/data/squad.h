// Reads and writes questions about paragraphs in the JSON format of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018),
// and splits them by article. SQuAD-it, MLQA and many others have this format:
//
//   {"version": "v2.0", "data": [{"title": …, "paragraphs": [{"context": …, "qas": [{"id": …, "question": …,
//     "is_impossible": false, "answers": [{"text": …, "answer_start": …}]}]}]}]}
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attend/data/text_stream.h"
#include "attend/text/tokenizer.h"

namespace attend {

/// An answer that a person gave.
struct ReferenceAnswer {
  std::string text;  ///< without white space around it
  /// Its bytes in the paragraph. None: the paragraph does not have the text.
  std::optional<Span> span;
};

struct PassageQuestion {
  std::string id, question;
  std::vector<ReferenceAnswer> answers;  ///< empty: the paragraph does not answer the question

  bool answerable() const { return !answers.empty(); }
  /// The first answer that the paragraph has; null if there is none.
  const ReferenceAnswer* found() const;
  /// The texts of all answers, in order.
  std::vector<std::string> references() const;
};

/// A paragraph and its questions.
struct Passage {
  std::string text;
  std::vector<PassageQuestion> questions;
};

struct Article {
  std::string title;
  std::vector<Passage> passages;

  std::int64_t questions() const;
};

/// The number of questions of all articles.
std::int64_t count_questions(const std::vector<Article>& articles);

/// The content of a file, and what was found to be wrong in it.
struct SquadFile {
  std::vector<Article> articles;
  std::int64_t moved = 0;    ///< answers that are not where the file says; the nearest place in the paragraph counts
  std::int64_t missing = 0;  ///< answers that their paragraphs do not have
  std::string first_moved, first_missing;  ///< article and question of the first one
  InvalidText invalid = {};                ///< text that could not be decoded

  /// One line for each of the problems above.
  std::vector<std::string> warnings() const;
};

/// Reads a file. "answer_start" counts code points. Throws InputError, with the file and the place in it, if it has
/// another format or no questions, and if a question that "is_impossible" has answers. Needs memory for a few times the
/// size of the file.
SquadFile read_squad(TextStream file);
SquadFile read_squad(const std::filesystem::path& file);

/// Throws InputError if two questions have the same id. Predictions are found by it.
void check_ids(const std::vector<Article>& articles);

/// Writes articles in the format of SQuAD 2.0. Answers without a span get the place -1.
void write_squad(const std::vector<Article>& articles, const std::filesystem::path& file);

struct ArticleSplit {
  std::vector<Article> training, validation, test;
};
/// Divides articles at random. Whole articles go to test and to validation until they have these shares of all
/// questions, at least one article for a share above 0, the others to training. The order of the articles in each part
/// is that of the file. Throws InputError if the shares are not between 0 and 1, or if there is no article left for
/// training.
ArticleSplit split_articles(std::vector<Article> articles, double validation, double test, std::uint64_t seed);

}  // namespace attend
