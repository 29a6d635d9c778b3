// gettext's catalogues: what .po and .mo files have in common, and two catalogues of one program joined.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/reader.h"

namespace attend {

/// One message of a program with its translation: one, or one for each plural form of the language.
struct Message {
  std::string context, id, plural;  ///< plural: "" for most messages
  std::vector<std::string> translations;
  std::int64_t line = 0;
};

/// The header of a catalogue: the translation of "".
struct CatalogueHeader {
  std::string charset;       ///< "" when it is not named
  std::string language;      ///< "" when it is not named
  std::size_t singular = 0;  ///< the plural form for one thing: 0 in most languages, not in all
};
CatalogueHeader parse_catalogue_header(std::string_view header);

/// The value of a Plural-Forms expression, C's arithmetic over n; -1 where it is none.
std::int64_t evaluate_plural(std::string_view expression, std::uint64_t n);

class CatalogueReader : public CorpusReader {
 public:
  /// The next translated message; the header is no message.
  virtual bool message(Message& message) = 0;

  bool next(Record& record) final;
  const CatalogueHeader& header() const { return header_; }

 protected:
  CatalogueHeader header_;

 private:
  Message message_;
  std::deque<Record> records_;
};

std::unique_ptr<CatalogueReader> open_po(TextStream text);
std::unique_ptr<CatalogueReader> open_mo(std::string_view bytes, std::string name,
                                         std::shared_ptr<const void> owner = {});
/// By the ending of its name.
std::unique_ptr<CatalogueReader> open_catalogue(const std::filesystem::path& path);

/// From one translation to the other of what has both: German to Italian, where each is a translation from English.
/// Holds the source in memory.
std::unique_ptr<CorpusReader> join_catalogues(std::unique_ptr<CatalogueReader> source,
                                              std::unique_ptr<CatalogueReader> target);

/// A catalogue of translations, and the one to start from unless programs write the source language themselves.
struct CatalogueFiles {
  std::filesystem::path target, source;  ///< source: "" when it is the messages' own language
};
/// The catalogues of a language under folders (/usr/share/locale/it/LC_MESSAGES/…, or po/it.po), sorted. A file that is
/// named itself is taken as it is. `to` "pt" takes pt and pt_PT; the variants (pt_BR) only when there are neither.
/// `messages` is the language that programs are written in. Throws InputError on a place that does not exist.
std::vector<CatalogueFiles> find_catalogues(const std::vector<std::filesystem::path>& places,
                                            const Languages& languages, std::string_view messages = "en");
/// Where a Linux system keeps them.
std::vector<std::filesystem::path> installed_catalogues();

}  // namespace attend
