// Evaluation of answers to questions: exact match and F1 over words, by the rules of SQuAD's evaluation (Rajpurkar et
// al. 2016, 2018). Before the comparison, answers are converted to lower case, and punctuation and articles are
// removed, so it depends on the language.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// How the answers of a language are compared.
struct AnswerRules {
  std::vector<std::string_view> articles = {"a", "an", "the"};  ///< words that are removed
  /// Remove punctuation of all scripts. SQuAD removes that of ASCII only, and so do the rules of English.
  bool all_punctuation = false;
  bool elision = false;     ///< an apostrophe separates words: the article of "l'acqua" is "l"
  bool characters = false;  ///< each Chinese character and Japanese kana is a word
};
/// The rules of a language: de, en (SQuAD's own), es, fr, it, ja or zh; "other" has no articles. A region is ignored:
/// "en-US". Throws InputError for other languages.
AnswerRules answer_rules(std::string_view language);
/// The codes that answer_rules() takes.
std::vector<std::string> answer_languages();

/// The words of an answer that are compared.
std::vector<std::string> answer_words(std::string_view answer, const AnswerRules& rules = {});

struct AnswerScore {
  double exact = 0;  ///< 1: the words are those of a reference
  double f1 = 0;     ///< of the words, between 0 and 1
};
/// The best scores over all references. An empty prediction means "no answer"; it is right if there are no references,
/// or only some without words.
AnswerScore score_answer(std::string_view prediction, std::span<const std::string> references,
                         const AnswerRules& rules = {});

/// The sum over questions, and the means of both scores, between 0 and 1; 0 if there are no questions.
struct AnswerScores {
  std::int64_t questions = 0;
  double exact = 0, f1 = 0;

  void add(const AnswerScore& score) { ++questions, exact += score.exact, f1 += score.f1; }
  double exact_match() const { return questions > 0 ? exact / static_cast<double>(questions) : 0; }
  double mean_f1() const { return questions > 0 ? f1 / static_cast<double>(questions) : 0; }
};

}  // namespace attend
