// The work of `attend corpus`: read, clean, split, write, report.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attend/data/clean.h"
#include "attend/data/reader.h"
#include "attend/data/writer.h"

namespace attend::cli {

/// The options of a run, as given on the command line.
struct CorpusJob {
  std::vector<std::string> inputs;
  bool catalogues = false;  ///< inputs are files or folders of gettext catalogues; no inputs: all installed ones
  std::optional<CorpusFormat> format;  ///< not set: by the file ending
  std::string columns;
  bool header = false;
  Languages languages;

  bool cleans = false;
  CleanOptions cleaning;
  std::string rejected;  ///< file for the dropped records

  bool splits = false;
  std::string validation, test;
  std::uint64_t seed = 1;

  std::string output;             ///< a file, or the folder of a split; "": standard output
  std::optional<WriteFormat> as;  ///< not set: by the ending of the output, or TSV
  bool json = false;
};

/// Runs the pipeline. Prints the report on standard output, or on standard error if the records go to standard output.
/// Throws UsageError for flags that cannot be combined.
void run_corpus(const CorpusJob& job);

}  // namespace attend::cli
