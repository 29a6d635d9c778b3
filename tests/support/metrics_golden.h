// Reads the sentences and scores of tests/golden/metrics.py.
#pragma once
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace attend::test {

struct ScoredSentence {
  std::string hypothesis;
  std::vector<std::string> references;  ///< two
  std::string tokens;                   ///< of the hypothesis with the tokenizer 13a, separated by spaces
  double bleu, bleu_of_first, chrf, chrf_plus;
};

/// The last entry has no text: it holds the scores of the corpus.
inline std::vector<ScoredSentence> scored_sentences() {
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/metrics.tsv");
  std::vector<ScoredSentence> sentences;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields(1);
    for (const char c : line) c == '\t' ? fields.emplace_back() : fields.back().append(1, c);
    if (fields.size() != 8) throw std::runtime_error("metrics.tsv: a line without 8 fields");
    for (std::string& field : fields)
      for (std::size_t at; (at = field.find("\\t")) != std::string::npos;) field.replace(at, 2, 1, '\t');
    sentences.push_back({fields[0],
                         {fields[1], fields[2]},
                         fields[3],
                         std::stod(fields[4]),
                         std::stod(fields[5]),
                         std::stod(fields[6]),
                         std::stod(fields[7])});
  }
  if (sentences.size() < 2) throw std::runtime_error("tests/golden/metrics.tsv is missing or empty");
  return sentences;
}

/// The hypotheses and references of all sentences, in the format of the corpus metrics.
struct ScoredCorpus {
  std::vector<std::string> hypotheses;
  std::vector<std::vector<std::string>> references{2};
};
inline ScoredCorpus corpus_of(const std::vector<ScoredSentence>& sentences) {
  ScoredCorpus corpus;
  for (std::size_t i = 0; i + 1 < sentences.size(); ++i) {
    corpus.hypotheses.push_back(sentences[i].hypothesis);
    for (std::size_t r = 0; r < 2; ++r) corpus.references[r].push_back(sentences[i].references[r]);
  }
  return corpus;
}

}  // namespace attend::test
