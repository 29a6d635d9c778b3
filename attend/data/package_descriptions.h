// Descriptions of software packages: texts with their summaries, for practice. They come from the lists that a Debian
// system has of its packages, are composed from the parts of these, or come from a grammar in the program, which
// invents packages. Nothing needs a download.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attend {

struct PackageDescription {
  std::string name = {};
  std::string text = {};     ///< in one line
  std::string summary = {};  ///< of the text

  bool operator==(const PackageDescription&) const = default;
};

/// Reads a list of packages: /var/lib/dpkg/status, or a file that apt has downloaded (Packages, Translation-en). Leaves
/// out packages whose description has only a summary.
std::vector<PackageDescription> read_package_list(const std::filesystem::path& file);

/// All packages that a system knows, sorted by name: those of apt's lists, if they are not compressed, and the
/// installed ones. Empty on systems without such lists.
std::vector<PackageDescription> known_packages(const std::filesystem::path& root = "/");

struct PackageBookOptions {
  std::int64_t size = 30'000;  ///< descriptions for training
  std::int64_t held_out = 0;   ///< for evaluation, of known packages and of invented ones each
  std::uint64_t seed = 1;
  std::vector<PackageDescription> known = {};
  std::optional<std::int64_t> most_known = {};  ///< at most so many of them are for training; not given: all
  /// Whether three in four of the descriptions that are missing are composed from parts of the known ones, if there are
  /// enough (composed_packages.h). The others are invented.
  bool compose = false;
};

struct PackageBook {
  /// Known packages; composed and invented ones fill up.
  std::vector<PackageDescription> training;
  /// At most `held_out` descriptions of known packages: fewer if the system does not have that many.
  std::vector<PackageDescription> known_held_out, invented_held_out;
};

/// Whether a description may be held out depends only on the beginning of its text, which packages of one program
/// share: a description that one call holds out is in the training set of no other call. The same options give the same
/// book on every machine. Throws InputError if more are wanted than the grammar can invent.
PackageBook package_book(const PackageBookOptions& options = {});

}  // namespace attend
