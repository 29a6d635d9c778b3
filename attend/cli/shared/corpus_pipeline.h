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

/// Everything the command line says.
struct CorpusJob {
  std::vector<std::string> inputs;
  bool catalogues = false;             ///< the inputs are places with gettext's catalogues; none: what is installed
  std::optional<CorpusFormat> format;  ///< otherwise as names end
  std::string columns;
  bool header = false;
  Languages languages;

  bool cleans = false;
  CleanOptions cleaning;
  std::string rejected;  ///< a file for what was dropped

  bool splits = false;
  std::string validation, test;
  std::uint64_t seed = 1;

  std::string output;             ///< a file, or the folder of a split; "": standard output
  std::optional<WriteFormat> as;  ///< otherwise TSV, or what the output's name ends in
  bool json = false;
};

/// Does it, and reports to standard output, or to standard error where the records go to standard output. Throws
/// UsageError on flags that do not go together.
void run_corpus(const CorpusJob& job);

}  // namespace attend::cli
