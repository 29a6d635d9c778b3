#include "attend/cli/shared/corpus_pipeline.h"

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include "attend/cli/shared/corpus_report.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/error.h"
#include "attend/data/catalogue.h"
#include "attend/data/split.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

/// One corpus to read: a file, two parallel files, or a catalogue.
struct Source {
  std::function<std::unique_ptr<CorpusReader>()> open;
  std::vector<fs::path> paths;  // for the progress bar
};

std::optional<Columns> columns_of(const CorpusJob& job) {
  if (job.columns.empty()) {
    if (!job.header) return std::nullopt;
    return Columns{"1", "2", true};
  }
  const std::size_t comma = job.columns.find(',');
  Columns columns{job.columns.substr(0, comma), "", job.header};
  if (comma != std::string::npos) columns.target = job.columns.substr(comma + 1);
  if (columns.source.empty() || columns.target.find(',') != std::string::npos)
    throw UsageError("--columns", "expected one or two columns, as in 1,2 or en,it; got " + job.columns);
  return columns;
}

/// Whether two files differ only in an ending that is not a format: train.en and train.it.
bool are_sides(const std::vector<std::string>& inputs) {
  if (inputs.size() != 2 || inputs[0] == inputs[1]) return false;
  const fs::path a = inputs[0], b = inputs[1];
  return !format_of(a) && !format_of(b) && a.has_extension() && b.has_extension() && a.stem() == b.stem();
}

CorpusFormat format_of_input(const CorpusJob& job, const std::string& input) {
  return job.format.value_or(format_of(input).value_or(input == "-" ? CorpusFormat::tsv : CorpusFormat::lines));
}

/// Throws UsageError if the flags do not fit the format of the files.
void check_format(const CorpusJob& job, const std::string& input, CorpusFormat format) {
  using enum CorpusFormat;
  if (!job.columns.empty() && format != tsv && format != csv && format != json_lines)
    throw UsageError("--columns", "is for TSV, CSV and JSON lines, but " + input + " is read as " +
                                      (format == lines ? "lines" : "another format") +
                                      "; add --format tsv if its columns are separated by tabs");
  if (format != lines) return;
  if (!job.languages.target.empty())
    throw UsageError("--target-lang", "needs pairs, but " + input +
                                          " is read as lines, each a single text; add --format tsv for source TAB "
                                          "target, or name two files and add --format parallel");
  if (!job.format && job.inputs.size() == 2 &&
      format_of_input(job, job.inputs[0]) == format_of_input(job, job.inputs[1]))
    throw UsageError("--format", "two files of lines: add --format parallel if line N of " + job.inputs[1] +
                                     " is the translation of line N of " + job.inputs[0] +
                                     ", or --format lines if both hold single texts");
}

std::vector<Source> sources_of(const CorpusJob& job) {
  CorpusOptions options;
  options.columns = columns_of(job);
  options.languages = job.languages;
  const auto source = [&](const std::vector<fs::path>& paths, CorpusFormat format) {
    options.format = format;
    return Source{[paths, options] { return open_corpus(paths, options); }, paths};
  };
  const bool parallel = job.format ? job.format == CorpusFormat::parallel : are_sides(job.inputs);
  if (parallel) {
    if (job.inputs.size() != 2)
      throw UsageError("--format", "parallel needs two files; got " + std::to_string(job.inputs.size()));
    check_format(job, job.inputs[0], CorpusFormat::parallel);
    return {source({job.inputs[0], job.inputs[1]}, CorpusFormat::parallel)};
  }
  std::vector<Source> sources;
  for (const std::string& input : job.inputs) {
    const CorpusFormat format = format_of_input(job, input);
    check_format(job, input, format);
    sources.push_back(source({input}, format));
  }
  if (sources.empty()) sources.push_back(source({"-"}, job.format.value_or(CorpusFormat::tsv)));
  return sources;
}

std::vector<Source> catalogues_of(const CorpusJob& job) {
  const std::vector<fs::path> places =
      job.inputs.empty() ? installed_catalogues() : std::vector<fs::path>(job.inputs.begin(), job.inputs.end());
  std::vector<Source> sources;
  for (const CatalogueFiles& files : find_catalogues(places, job.languages)) {
    if (files.source.empty())
      sources.push_back(
          {[files]() -> std::unique_ptr<CorpusReader> { return open_catalogue(files.target); }, {files.target}});
    else
      sources.push_back(
          {[files] { return join_catalogues(open_catalogue(files.source), open_catalogue(files.target)); },
           {files.source, files.target}});
  }
  if (sources.empty())
    fail<InputError>("corpus", "found no catalogue of \"", job.languages.target, "\" ",
                     job.inputs.empty()
                         ? "on this machine; does the distribution install translations? Or name files or "
                           "folders with .po or .mo files"
                         : "in the places named");
  return sources;
}

std::int64_t size_of(const std::vector<Source>& sources) {
  std::int64_t sum = 0;
  for (const Source& source : sources)
    for (const fs::path& path : source.paths) {
      std::error_code error;
      const auto size = fs::file_size(path, error);
      if (error) return 0;
      sum += static_cast<std::int64_t>(size);
    }
  return sum;
}

/// Writes a part of the corpus to one file, or to one file per language.
class PartWriter {
 public:
  PartWriter(std::string part, const std::vector<std::string>& paths, WriteFormat format, bool has_targets)
      : part_(std::move(part)), paths_(paths) {
    std::vector<CorpusWriter::Sink> sinks;
    for (const std::string& path : paths) {
      texts_.push_back(std::make_unique<TextWriter>(path));
      sinks.emplace_back([text = texts_.back().get()](std::string_view piece) { text->write(piece); });
    }
    writer_.emplace(format, has_targets, std::move(sinks));
  }

  void write(const Record& record) { writer_->write(record); }
  void finish(CorpusReport& report) {
    for (const auto& text : texts_) text->finish();
    std::string names;
    for (const std::string& path : paths_) names += (names.empty() ? "" : ", ") + path;
    report.written.push_back({part_, names, writer_->records()});
    report.flattened += writer_->flattened();
  }

 private:
  std::string part_;
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<TextWriter>> texts_;
  std::optional<CorpusWriter> writer_;
};

WriteFormat write_format(const CorpusJob& job) {
  if (job.as) return *job.as;
  return format_of(job.output) == CorpusFormat::json_lines ? WriteFormat::json_lines : WriteFormat::tsv;
}

std::vector<std::string> sides(const std::string& stem, const Languages& languages) {
  return {stem + '.' + (languages.source.empty() ? "source" : languages.source),
          stem + '.' + (languages.target.empty() ? "target" : languages.target)};
}

/// One writer, or with a split one for each part, in the order of Part.
std::vector<PartWriter> writers_of(const CorpusJob& job, bool split, bool has_targets) {
  const WriteFormat format = write_format(job);
  const bool two_files = format == WriteFormat::lines && has_targets;
  std::vector<PartWriter> writers;
  if (!split) {
    if (two_files && job.output.empty())
      throw UsageError("--as", "lines needs --output NAME, to write NAME.en and NAME.it");
    writers.emplace_back("", two_files ? sides(job.output, job.languages) : std::vector<std::string>{job.output},
                         format, has_targets);
    return writers;
  }
  std::error_code error;
  fs::create_directories(job.output, error);
  if (!fs::is_directory(job.output)) fail<InputError>("corpus", job.output, ": cannot make this folder for the parts");
  const char* ending = format == WriteFormat::tsv ? ".tsv" : format == WriteFormat::json_lines ? ".jsonl" : ".txt";
  for (const Part part : {Part::train, Part::validation, Part::test}) {
    const std::string stem = (fs::path(job.output) / name_of(part)).string();
    writers.emplace_back(std::string(name_of(part)),
                         two_files ? sides(stem, job.languages) : std::vector<std::string>{stem + ending}, format,
                         has_targets);
  }
  return writers;
}

class Pipeline {
 public:
  explicit Pipeline(const CorpusJob& job) : job_(job) {
    split_ = job.splits && (!job.validation.empty() || !job.test.empty());
    if (split_ && job.output.empty()) throw UsageError("--output", "is missing: a split needs a folder for its parts");
    if (!job.validation.empty()) sizes_.validation = parse_part_size(job.validation);
    if (!job.test.empty()) sizes_.test = parse_part_size(job.test);
    sizes_.seed = job.seed;
    if (job.cleans) {
      CleanOptions options = job.cleaning;
      options.languages = job.languages;
      cleaner_.emplace(options);
    }
    if (!job.rejected.empty()) rejected_.emplace(job.rejected);
  }

  /// `forgiving`: a file that cannot be read is named in the report, and the others are still read.
  void run(const std::vector<Source>& sources, bool forgiving) {
    const std::int64_t total = size_of(sources);
    std::int64_t before = 0;
    {
      ProgressBar bar("Reading", "B");
      for (const Source& source : sources) {
        try {
          const auto reader = source.open();
          start(*reader);
          read(*reader, [&](std::int64_t position) { bar.update(before + position, total); });
          before += reader->position();
        } catch (const InputError& error) {
          if (!forgiving) throw;
          report_.unreadable.push_back(text_of(error));
        }
      }
    }
    if (splitter_) splitter_->finish();
    check_split();
    for (PartWriter& writer : writers_) writer.finish(report_);
    if (rejected_) rejected_->finish();
    finish_report();
  }

 private:
  /// Files appear only after this check, so that an error leaves existing ones as they are.
  void check_split() const {
    if (!splitter_ || report_.kept() == 0 || splitter_->size(Part::train) > 0) return;
    fail<InputError>("corpus", "nothing is left for training: of ", counted(report_.kept(), "record"),
                     " validation takes ", grouped(splitter_->size(Part::validation)), " and test ",
                     grouped(splitter_->size(Part::test)), "; lower --validation-size or --test-size");
  }

  /// The first reader decides whether there are targets; the others must agree with it.
  void start(const CorpusReader& reader) {
    if (writers_.empty()) {
      has_targets_ = reader.has_targets();
      writers_ = writers_of(job_, split_, has_targets_);
      if (split_)
        splitter_.emplace(sizes_, [this](Part part, const Record& record) {
          writers_[static_cast<std::size_t>(part)].write(record);
        });
    }
    if (reader.has_targets() != has_targets_)
      fail<InputError>("corpus", reader.name(), " has ", has_targets_ ? "single texts" : "pairs",
                       ", but the files before it ", has_targets_ ? "pairs" : "single texts");
  }

  template <typename Tell>
  void read(CorpusReader& reader, Tell tell) {
    constexpr std::int64_t kTellEvery = 1024;
    CorpusReport::File& file = report_.files.emplace_back();
    file.name = reader.name();
    // Also after an error: the records before it count.
    const auto count = [&] { report_.add_skipped(reader), report_.invalid_text += reader.invalid_text(); };
    try {
      for (Record record; reader.next(record);) {
        if (file.read++ % kTellEvery == 0) tell(reader.position());
        if (const auto reason = cleaner_ ? cleaner_->drop(record, has_targets_) : std::nullopt) {
          if (rejected_) reject(reader, record, *reason);
          continue;
        }
        ++file.kept;
        splitter_ ? splitter_->add(record) : writers_[0].write(record);
      }
    } catch (const InputError&) {
      count();
      throw;
    }
    count();
  }

  void reject(const CorpusReader& reader, const Record& record, DropReason reason) {
    rejected_->write(name_of(reason));
    rejected_->write("\t" + reader.name() + ':' + std::to_string(record.line) + '\t' + record.source);
    if (has_targets_) rejected_->write("\t" + record.target);
    rejected_->write("\n");
  }

  void finish_report() {
    if (cleaner_)
      for (std::size_t i = 0; i < kDropReasons; ++i) {
        const auto reason = static_cast<DropReason>(i);
        report_.dropped.emplace_back(name_of(reason), cleaner_->dropped(reason));
      }
    // The report must not mix with records on standard output.
    const bool to_output = !job_.output.empty() && job_.output != "-";
    std::ostream& out = to_output ? std::cout : std::cerr;
    job_.json ? report_.print_json(out) : report_.print_table(out, report_.files.size() > 1);
    if (report_.invalid_text.count > 0) warn(report_.invalid_text.warning());
    if (report_.kept() == 0) warn("no record is left after cleaning");
    const std::pair<Part, std::int64_t> asked[] = {{Part::validation, sizes_.validation.records},
                                                   {Part::test, sizes_.test.records}};
    for (const auto& [part, records] : asked)
      if (splitter_ && splitter_->size(part) < records)
        warn("asked for " + grouped(records) + " records of " + std::string(name_of(part)) + ", and found only " +
             grouped(splitter_->size(part)));
  }

  const CorpusJob& job_;
  bool split_ = false, has_targets_ = true;
  std::optional<Cleaner> cleaner_;
  std::optional<TextWriter> rejected_;
  std::vector<PartWriter> writers_;
  SplitOptions sizes_;
  std::optional<Splitter> splitter_;
  CorpusReport report_;
};

}  // namespace

void run_corpus(const CorpusJob& job) {
  Pipeline pipeline(job);
  const std::vector<Source> sources = job.catalogues ? catalogues_of(job) : sources_of(job);
  // Some catalogues of a whole system may be broken; a file that was named must be readable.
  pipeline.run(sources, job.catalogues && sources.size() > 1);
}

}  // namespace attend::cli
