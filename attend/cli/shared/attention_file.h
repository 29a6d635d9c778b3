// The file that --attention and `attend attention --output` write: its ending chooses the form.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "attend/attention/map.h"
#include "attend/cli/shared/flags.h"
#include "attend/cli/shared/input.h"
#include "attend/explain/attention_matrix.h"

namespace attend::cli {

/// Takes one map after the other; the file appears, complete, at finish().
class AttentionFile {
 public:
  /// Throws UsageError, naming the flag, for an ending that is no picture of attention, and InputError where
  /// no file can be: before a model is loaded and looked at for nothing.
  AttentionFile(const std::string& flag, std::string path, AttentionChoice choice);
  ~AttentionFile();

  /// What has to be captured for it.
  AttentionSelection selection() const;
  /// Maps that it can still show: a page with more would be slow to open.
  std::int64_t room() const;
  /// Counts it as left out when there is no room.
  void add(const AttentionMap& map);
  /// Texts for which nothing was captured, as there was no room.
  void leave_out(std::int64_t texts) { left_out_ += texts; }
  /// Writes it, and warns of what had no room.
  void finish();

  struct Form;

 private:
  std::string path_;
  AttentionChoice choice_;
  std::unique_ptr<Form> form_;
  TextWriter writer_;
  std::int64_t shown_ = 0, left_out_ = 0;
};

/// --attention FILE, and --layer N and --head N, which say what is seen in it first.
void add_attention_file_flags(Verb& verb, std::string& path, AttentionChoice& choice);
/// The last two alone, for a verb whose --attention, `file`, can do more.
void add_attention_choice_flags(Verb& verb, Flag& file, AttentionChoice& choice);

/// Whether a file with this name is for programs.
bool is_json(const std::string& path);
/// A map for programs: one line.
std::string json_of(const AttentionMap& map, const AttentionChoice& choice);

/// What has to be captured for a picture of this choice.
AttentionSelection selection_of(const AttentionChoice& choice);

}  // namespace attend::cli
