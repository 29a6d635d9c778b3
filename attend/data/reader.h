// Readers for corpora: one interface, and one function for each format. A reader gives one record at a time, in
// constant memory. Its texts are valid UTF-8, whatever the encoding of the file. It counts the records that it skips.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/core/tensor.h"
#include "attend/data/text_stream.h"

namespace attend {

/// A single text, or a text with its translation or label. A picture or a recording has feature vectors in place of the
/// source text.
struct Record {
  std::string source, target;
  std::int64_t line = 0;  ///< where the record begins in its file, from 1; in a .mo file, the number of the message
  Tensor features = {};   ///< float32 [T, D] in place of `source`; undefined for texts
};

/// How many records a reader skipped for one reason, and the line of the first one.
struct Skipped {
  std::string reason;
  std::int64_t count = 0;
  std::int64_t first_line = 0;
};

class CorpusReader {
 public:
  virtual ~CorpusReader() = default;

  /// Reads the next record. Returns false at the end. Throws InputError, with file and line, if the file is not valid
  /// in its format.
  virtual bool next(Record& record) = 0;
  /// Whether the records have targets.
  virtual bool has_targets() const { return true; }
  virtual const std::string& name() const = 0;   ///< the file, for messages
  virtual std::int64_t position() const = 0;     ///< bytes read so far
  virtual InvalidText invalid_text() const = 0;  ///< what could not be decoded so far

  const std::vector<Skipped>& skipped() const { return skipped_; }

 protected:
  void skip(std::string_view reason, std::int64_t line);

 private:
  std::vector<Skipped> skipped_;
};

/// The columns of source and target in a table: numbers from 1, or names from the first row. For JSON lines they are
/// keys; a dot goes into an inner object: "translation.it".
struct Columns {
  std::string source, target;  ///< an empty target means single texts
  bool header = false;         ///< the first row is a header; always true if a column is given by name
  /// If set, a row with too few columns is an error that names the expected columns: "source TAB target". If empty,
  /// such rows are skipped and counted, and it is an error only if no row has the columns.
  std::string required = {};
};

/// Language codes. "en" accepts en, en-US and EN_gb; "en-US" accepts only itself.
struct Languages {
  std::string source, target;
};

/// Each line is a single text.
std::unique_ptr<CorpusReader> read_lines(TextStream text);
/// Line n of one file is the translation of line n of the other. Throws if one file has more lines.
std::unique_ptr<CorpusReader> read_parallel(TextStream source, TextStream target);
/// Columns are separated by tabs. Quotes have no special meaning, as in most corpora.
std::unique_ptr<CorpusReader> read_tsv(TextStream text, Columns columns = {"1", "2"});
/// RFC 4180: a quoted field may contain separators, line breaks and doubled quotes.
std::unique_ptr<CorpusReader> read_csv(TextStream text, Columns columns = {"1", "2"}, char separator = ',');
/// Each line is a JSON object.
std::unique_ptr<CorpusReader> read_json_lines(TextStream text, Columns keys = {"source", "target"});
/// Translation Memory eXchange, 1.1 to 1.4. Inline codes of the original document are removed. The default source
/// language is that of the file's header.
std::unique_ptr<CorpusReader> read_tmx(TextStream text, Languages languages);
/// XLIFF 1.2 and 2.x. Skips untranslated units, and files in other languages.
std::unique_ptr<CorpusReader> read_xliff(TextStream text, Languages languages = {});
/// A gettext .po catalogue. Skips fuzzy, obsolete and missing translations. A message with a plural gives one record
/// for the singular and one for each plural form.
std::unique_ptr<CorpusReader> read_po(TextStream text);
/// A compiled .mo catalogue, in either byte order. `owner` keeps the bytes alive.
std::unique_ptr<CorpusReader> read_mo(std::string_view bytes, std::string name, std::shared_ptr<const void> owner = {});

enum class CorpusFormat { lines, parallel, tsv, csv, json_lines, tmx, xliff, po, mo };
/// The format of a file by the ending of its name: .tsv, .tab, .csv, .jsonl, .ndjson, .tmx, .xlf, .xliff, .po, .pot,
/// .mo, .gmo, .txt. None for other endings.
std::optional<CorpusFormat> format_of(const std::filesystem::path& path);

struct CorpusOptions {
  CorpusFormat format = CorpusFormat::lines;
  std::optional<Columns> columns;  ///< empty: the default columns of the format
  Languages languages;
};
/// Opens one file ("-" is standard input), or two files for CorpusFormat::parallel.
std::unique_ptr<CorpusReader> open_corpus(const std::vector<std::filesystem::path>& paths,
                                          const CorpusOptions& options);

}  // namespace attend
