#include "attend/tasks/classification/word_vectors.h"

#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "attend/core/error.h"
#include "attend/data/tokenized_texts.h"

namespace attend {
namespace {

/// One line of the file.
struct WordVector {
  std::string word;
  std::vector<float> values;
};

class WordVectorReader {
 public:
  explicit WordVectorReader(const std::filesystem::path& path) : path_(path), lines_(lines_of({path})) {}

  /// False at the end.
  bool next(WordVector& vector) {
    std::string line;
    while (lines_(line)) {
      ++number_;
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
      if (line.empty()) continue;
      parse(line, vector);
      if (number_ == 1 && vector.values.size() == 1) continue;  // the header of word2vec: words, width
      if (width_ == 0) width_ = vector.values.size();
      if (vector.values.empty() || vector.values.size() != width_)
        refuse("got " + std::to_string(vector.values.size()) + " numbers after the word, expected " +
               (width_ == 0 ? "some" : std::to_string(width_)));
      return true;
    }
    return false;
  }

 private:
  void parse(const std::string& line, WordVector& vector) const {
    const std::size_t end = line.find(' ');
    vector.word = line.substr(0, end);
    vector.values.clear();
    for (std::size_t at = end; at < line.size();) {
      at = line.find_first_not_of(' ', at);
      const char* const last = line.data() + line.size();
      float value = 0;
      const auto [rest, error] = std::from_chars(line.data() + at, last, value);
      if (error != std::errc() || !std::isfinite(value) || (rest != last && *rest != ' '))
        refuse("expected a word and numbers with spaces between them");
      vector.values.push_back(value);
      at = static_cast<std::size_t>(rest - line.data());
    }
  }
  [[noreturn]] void refuse(const std::string& why) const {
    fail<InputError>("vectors", path_.string(), ", line ", number_, ": ", why);
  }

  std::filesystem::path path_;
  std::function<bool(std::string&)> lines_;
  std::int64_t number_ = 0;
  std::size_t width_ = 0;
};

}  // namespace

std::int64_t word_vector_width(const std::filesystem::path& path) {
  WordVector first;
  if (!WordVectorReader(path).next(first)) fail<InputError>("vectors", path.string(), ": has no word vectors");
  return std::ssize(first.values);
}

void for_each_vector_word(const std::filesystem::path& path, const std::function<void(const std::string&)>& take) {
  WordVectorReader reader(path);
  for (WordVector vector; reader.next(vector);) take(vector.word);
}

std::int64_t read_word_vectors(const std::filesystem::path& path, const Tokenizer& tokenizer, const Tensor& table) {
  WordVectorReader reader(path);
  const std::int64_t width = table.dim(1);
  std::vector<bool> filled(static_cast<std::size_t>(table.dim(0)));
  std::int64_t found = 0;
  for (WordVector vector; reader.next(vector);) {
    if (std::ssize(vector.values) != width)
      fail<InputError>("vectors", path.string(), ": the vectors have ", vector.values.size(),
                       " numbers, but the embeddings of the model have ", width);
    // The tokenizer may convert words to lower case.
    const std::vector<std::int32_t> ids = tokenizer.ids(vector.word, false);
    if (ids.size() != 1 || ids[0] == tokenizer.special().unknown || filled[static_cast<std::size_t>(ids[0])]) continue;
    std::ranges::copy(vector.values, table.data() + ids[0] * width);
    filled[static_cast<std::size_t>(ids[0])] = true, ++found;
  }
  if (found == 0) fail<InputError>("vectors", path.string(), ": has none of the words of the texts");
  return found;
}

}  // namespace attend
