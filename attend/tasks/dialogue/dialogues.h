// Reads dialogues: lines of plain text, whose turns are separated by a mark, or JSON lines with OpenAI-style messages.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "attend/core/progress.h"
#include "attend/data/text_stream.h"

namespace attend {

/// The form of dialogues in plain text.
struct DialogueFormat {
  /// Between two turns. What follows a tab is ignored, unless the separator is a tab.
  std::string separator = "__eou__";
  /// Read each dialogue a second time without its first turn, so that the turns of both speakers become replies.
  bool both_speakers = false;

  void visit(auto&& v) const { v("separator", separator), v("both_speakers", both_speakers); }
};

/// Which dialogues of a file to read.
struct DialoguePart {
  double held_out = 0;   ///< this fraction is held out, evenly spread: the same lines of parallel files
  bool training = true;  ///< read the dialogues that are not held out; false: those that are
};

/// The messages of a dialogue, as ChatInput takes them.
struct Dialogue {
  std::string messages;    ///< a JSON list of objects with "role" and "content"
  std::string tools = {};  ///< a JSON list; empty: none
  std::string place = {};  ///< the file and the line, for messages
};

/// Reads one dialogue at a time, in constant memory. Files whose names end in .jsonl or .ndjson are JSON lines: objects
/// with "messages", and perhaps "tools". In plain text, the turns are those of the user and the assistant in turn.
class DialogueReader {
 public:
  explicit DialogueReader(const std::filesystem::path& path, DialogueFormat format = {}, DialoguePart part = {},
                          Progress progress = {});

  /// False at the end. Skips empty lines. Throws InputError, with file and line, if a line is not valid, or if a role
  /// is not known.
  bool next(Dialogue& dialogue);

 private:
  bool reads(std::int64_t dialogue) const;
  void read_json(const std::string& line, Dialogue& dialogue) const;
  void read_plain(const std::string& line, Dialogue& dialogue);

  TextStream text_;
  bool json_;
  DialogueFormat format_;
  DialoguePart part_;
  Progress progress_;
  std::int64_t dialogues_ = 0;
  std::string second_ = {};  // the messages of the last dialogue without its first turn; empty: none to return
};

}  // namespace attend
