// The base of the TMX and XLIFF readers: parses XML as a stream of events, so files need not fit in memory. Only the
// .cpp file includes Expat.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "attend/data/reader.h"

namespace attend {

/// The attributes of an element.
class XmlAttributes {
 public:
  explicit XmlAttributes(const char** pairs) : pairs_(pairs) {}
  /// The value of an attribute, or "" if there is none. Valid until the event ends.
  std::string_view operator[](std::string_view name) const;

 private:
  const char** pairs_;  // name, value, …, null
};

/// Calls start(), end() and characters() for the events. Element names come without their prefix: "mtc:match" is
/// "match".
class XmlReader : public CorpusReader {
 public:
  bool next(Record& record) final;
  const std::string& name() const final { return text_.name(); }
  std::int64_t position() const final { return text_.position(); }
  InvalidText invalid_text() const final { return text_.invalid(); }

  ~XmlReader() override;

 protected:
  XmlReader(TextStream text, std::string format);

  virtual void start(std::string_view element, const XmlAttributes& attributes) = 0;
  virtual void end(std::string_view element) = 0;
  virtual void characters(std::string_view text) = 0;
  /// Called at the end of a well-formed file.
  virtual void finish() {}

  std::int64_t line() const;  ///< the line of the current event
  void give(Record record) { records_.push_back(std::move(record)); }
  /// Appends text. Throws InputError if the result is longer than kLongestText.
  void append(std::string& to, std::string_view text) const;
  /// Throws InputError: "[format] file:line: …".
  [[noreturn]] void give_up(const std::string& what) const;

 private:
  struct Expat;
  void parse_piece();
  std::string_view repaired(std::string_view piece);

  TextStream text_;
  std::string format_;
  std::unique_ptr<Expat> expat_;
  std::deque<Record> records_;
  std::string repair_, held_back_;
  bool ended_ = false;
};

}  // namespace attend
