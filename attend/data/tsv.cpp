// Tab-separated values: each line is a row, and quotes have no special meaning.
#include <utility>

#include "attend/data/table.h"

namespace attend {
namespace {

class TsvReader final : public TableReader {
 public:
  using TableReader::TableReader;

 protected:
  bool row(std::vector<std::string>& fields, std::int64_t& line) override {
    if (!text_.line(line_)) return false;
    line = text_.lines();
    std::size_t count = 0;
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = line_.find('\t', begin);
      if (fields.size() <= count) fields.emplace_back();
      fields[count++].assign(line_, begin, end == std::string::npos ? end : end - begin);
    }
    fields.resize(count);
    return true;
  }

  std::string separator() const override { return "tab"; }

 private:
  std::string line_;
};

}  // namespace

std::unique_ptr<CorpusReader> read_tsv(TextStream text, Columns columns) {
  return std::make_unique<TsvReader>(std::move(text), std::move(columns));
}

}  // namespace attend
