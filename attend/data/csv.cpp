// Comma-separated values (RFC 4180): a quoted field may contain separators, line breaks and doubled quotes.
#include <utility>

#include "attend/core/error.h"
#include "attend/data/table.h"

namespace attend {
namespace {

class CsvReader final : public TableReader {
 public:
  CsvReader(TextStream text, Columns columns, char separator)
      : TableReader(std::move(text), std::move(columns)), separator_(separator) {}

 protected:
  bool row(std::vector<std::string>& fields, std::int64_t& line) override {
    do {
      if (!text_.line(line_)) return false;
    } while (line_.empty());  // an empty line is not a row with one empty field
    line = text_.lines();
    fields.clear();
    for (std::size_t at = 0;;) {
      std::string& field = fields.emplace_back();
      if (at < line_.size() && line_[at] == '"') at = quoted(at + 1, field, line);
      // Text between a closing quote and the separator is kept, as spreadsheets do.
      const std::size_t end = line_.find(separator_, at);
      field.append(line_, at, end == std::string::npos ? end : end - at);
      if (end == std::string::npos) return true;
      at = end + 1;
    }
  }

  std::string separator() const override { return std::string("'") + separator_ + '\''; }

 private:
  /// Appends the text from `at` to the closing quote, over line breaks. Returns the position after the quote.
  std::size_t quoted(std::size_t at, std::string& field, std::int64_t row_line) {
    for (;;) {
      const std::size_t quote = line_.find('"', at);
      field.append(line_, at, quote == std::string::npos ? quote : quote - at);
      if (quote == std::string::npos) {
        if (field.size() > kLongestText || !text_.line(line_))
          fail<InputError>("corpus", name(), ":", row_line, ": a quote opens in this row and never closes");
        field += '\n';
        at = 0;
      } else if (quote + 1 < line_.size() && line_[quote + 1] == '"') {
        field += '"';
        at = quote + 2;
      } else {
        return quote + 1;
      }
    }
  }

  char separator_;
  std::string line_;
};

}  // namespace

std::unique_ptr<CorpusReader> read_csv(TextStream text, Columns columns, char separator) {
  return std::make_unique<CsvReader>(std::move(text), std::move(columns), separator);
}

}  // namespace attend
