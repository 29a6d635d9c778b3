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

#include "attend/data/text_stream.h"

namespace attend {

/// One text, or a text and what belongs to it: its translation, its label.
struct Record {
  std::string source, target;
  std::int64_t line = 0;  ///< where it begins in its file, from 1; in a .mo file, which message it is
};

/// What a reader passed over for one reason, and where it first did.
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
  /// Whether records have a target.
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

/// Which columns of a table hold source and target: numbers from 1, or names that the first row has. Of JSON lines they
/// are keys, with dots into objects inside: "translation.it".
struct Columns {
  std::string source, target;  ///< no target: one text a record
  bool header = false;         ///< the first row is no record; so it is, whatever this says, when a column has a name
  /// What every row of a table must hold, for the error about a row with too few columns: "source TAB target". Empty:
  /// such rows are skipped and counted, but at least one row must have the columns.
  std::string required = {};
};

/// Which languages to take, by code: "en" takes en, en-US and EN_gb, "en-US" only that.
struct Languages {
  std::string source, target;
};

/// Each line is a text.
std::unique_ptr<CorpusReader> read_lines(TextStream text);
/// Line n of one file belongs to line n of the other. Throws where one is longer.
std::unique_ptr<CorpusReader> read_parallel(TextStream source, TextStream target);
/// Columns between tabs; no quotes, as in most corpora.
std::unique_ptr<CorpusReader> read_tsv(TextStream text, Columns columns = {"1", "2"});
/// RFC 4180: fields may be quoted, and then hold commas, line breaks and doubled quotes.
std::unique_ptr<CorpusReader> read_csv(TextStream text, Columns columns = {"1", "2"}, char separator = ',');
/// An object on each line.
std::unique_ptr<CorpusReader> read_json_lines(TextStream text, Columns keys = {"source", "target"});
/// Translation Memory eXchange, 1.1 to 1.4. Codes of the original format inside a segment are left out. Without a
/// source language the header's counts.
std::unique_ptr<CorpusReader> read_tmx(TextStream text, Languages languages);
/// XLIFF 1.2 and 2.x. What is not translated yet is passed over, as are files in other languages than asked for.
std::unique_ptr<CorpusReader> read_xliff(TextStream text, Languages languages = {});
/// A gettext .po catalogue. Skips fuzzy, obsolete and missing translations. A message with a plural gives one record
/// for the singular and one for each plural form.
std::unique_ptr<CorpusReader> read_po(TextStream text);
/// The same as gettext compiles it, in either byte order. The owner keeps the bytes.
std::unique_ptr<CorpusReader> read_mo(std::string_view bytes, std::string name, std::shared_ptr<const void> owner = {});

enum class CorpusFormat { lines, parallel, tsv, csv, json_lines, tmx, xliff, po, mo };
/// The format that a file's name ends in, if it does: .tsv, .csv, .jsonl, .ndjson, .tmx, .xlf, .xliff, .po, .pot, .mo,
/// .gmo, .txt.
std::optional<CorpusFormat> format_of(const std::filesystem::path& path);

struct CorpusOptions {
  CorpusFormat format = CorpusFormat::lines;
  std::optional<Columns> columns;  ///< those of the format, unless given
  Languages languages;
};
/// Opens one file ("-": standard input), or two of CorpusFormat::parallel.
std::unique_ptr<CorpusReader> open_corpus(const std::vector<std::filesystem::path>& paths,
                                          const CorpusOptions& options);

}  // namespace attend
