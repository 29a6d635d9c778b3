// The file that --attention and `attend attention --output` write. Its ending chooses the format: .html, .svg, .png,
// .json or .jsonl.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "attend/attention/map.h"
#include "attend/cli/shared/flags.h"
#include "attend/cli/shared/input.h"
#include "attend/explain/attention_matrix.h"

namespace attend::cli {

/// Collects attention maps. The complete file is written by finish(); without it, there is no file.
class AttentionFile {
 public:
  /// Throws UsageError that names the flag if the ending is not supported, and InputError if the file cannot be
  /// written. Create it before loading a model, so that such errors come first.
  AttentionFile(const std::string& flag, std::string path, AttentionChoice choice);
  ~AttentionFile();

  /// The layers and heads that must be captured for this file.
  AttentionSelection selection() const;
  /// Number of maps that can still be added; a page with more would be slow to open.
  std::int64_t room() const;
  /// Adds a map, or counts it as left out if there is no room.
  void add(const AttentionMap& map);
  /// Counts texts for which nothing was captured because there was no room.
  void leave_out(std::int64_t texts) { left_out_ += texts; }
  /// Writes the file, and warns how many texts were left out.
  void finish();

  struct Form;

 private:
  std::string path_;
  AttentionChoice choice_;
  std::unique_ptr<Form> form_;
  TextWriter writer_;
  std::int64_t shown_ = 0, left_out_ = 0;
};

/// --attention FILE, --layer N and --head N. A page has all layers and heads; the flags choose the one shown first.
void add_attention_file_flags(Verb& verb, std::string& path, AttentionChoice& choice);
/// Only --layer and --head, for a verb that declares its own --attention flag, `file`.
void add_attention_choice_flags(Verb& verb, Flag& file, AttentionChoice& choice);

/// Whether the name ends in .json or .jsonl.
bool is_json(const std::string& path);
/// A map as one line of JSON, without the line end.
std::string json_of(const AttentionMap& map, const AttentionChoice& choice);

/// The layers and heads that must be captured for a picture of this choice.
AttentionSelection selection_of(const AttentionChoice& choice);

}  // namespace attend::cli
