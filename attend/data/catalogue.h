// gettext catalogues: the common base of the .po and .mo readers, the search for installed catalogues, and the join of
// two catalogues of one program.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/reader.h"

namespace attend {

/// A message of a program with its translation, or with one translation for each plural form of the language.
struct Message {
  std::string context, id, plural;  ///< plural is "" for most messages
  std::vector<std::string> translations;
  std::int64_t line = 0;
};

/// The header of a catalogue, which is the translation of "".
struct CatalogueHeader {
  std::string charset;       ///< "" if not declared
  std::string language;      ///< "" if not declared
  std::size_t singular = 0;  ///< index of the form for one thing: 0 in most languages, but not in all
};
CatalogueHeader parse_catalogue_header(std::string_view header);

/// The value of a Plural-Forms expression, which is C arithmetic over n; -1 if it is invalid.
std::int64_t evaluate_plural(std::string_view expression, std::uint64_t n);

class CatalogueReader : public CorpusReader {
 public:
  /// Reads the next translated message, without the header. Returns false at the end.
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
/// Selects the format by the ending of the name.
std::unique_ptr<CatalogueReader> open_catalogue(const std::filesystem::path& path);

/// Pairs the translations of messages that both catalogues have: for example German with Italian, where both translate
/// the same English message. Keeps the source catalogue in memory.
std::unique_ptr<CorpusReader> join_catalogues(std::unique_ptr<CatalogueReader> source,
                                              std::unique_ptr<CatalogueReader> target);

/// The catalogue of the target language, and of the source language if it is not that of the messages.
struct CatalogueFiles {
  std::filesystem::path target, source;  ///< source is "" if the messages are in the source language
};
/// Finds the catalogues of a language in folders (/usr/share/locale/it/LC_MESSAGES/…, or po/it.po), and sorts them. A
/// file in `places` is always included. The target language "pt" matches pt and pt_PT; variants (pt_BR) match only if
/// there is neither. `messages` is the language of the programs' own messages. Throws InputError for a place that does
/// not exist.
std::vector<CatalogueFiles> find_catalogues(const std::vector<std::filesystem::path>& places,
                                            const Languages& languages, std::string_view messages = "en");
/// The folders where a Linux system keeps its catalogues.
std::vector<std::filesystem::path> installed_catalogues();

}  // namespace attend
