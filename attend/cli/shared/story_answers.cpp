#include "attend/cli/shared/story_answers.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/progress.h"
#include "attend/core/error.h"
#include "attend/explain/terminal.h"
#include "attend/tasks/stories/story_reader.h"
#include "attend/text/sentences.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string json_line(const std::string& question, const StoryAnswer& found, bool several) {
  Json json{{"question", question}, {"answer", found.answer}, {"prob", found.prob}, {"hops", found.hops}};
  if (several) {
    Json& all = json["answers"] = Json::array();
    for (const auto& [answer, prob] : found.best) all.push_back({{"answer", answer}, {"prob", prob}});
  }
  if (found.dropped > 0) json["truncated"] = found.dropped;
  return as_line(json);
}

/// Answer, tab, probability, and the same for the other answers of --top.
std::string text_line(const StoryAnswer& found) {
  std::string line;
  for (const auto& [answer, prob] : found.best) line += (line.empty() ? "" : "\t") + answer + "\t" + fixed(prob, 4);
  return line + "\n";
}

/// One row for each sentence, one column for each hop.
std::string table_of(const std::string& question, const std::vector<std::string>& story, const StoryAnswer& found) {
  Table table{{"sentence"}, {}};
  for (std::size_t k = 0; k < found.hops.size(); ++k) table.header.push_back("hop " + std::to_string(k + 1));
  for (std::size_t s = 0; s < story.size(); ++s) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(story[s]);
    for (const std::vector<float>& hop : found.hops) row.push_back(fixed(hop[s], 2));
  }
  Page page{question, {}};
  page.show(std::move(table));
  return to_terminal(page, terminal_of_output());
}

bool is_question(const std::string& line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last != std::string::npos && line[last] == '?';
}

/// Collects the sentences of a story, and answers the questions about it.
class Listener {
 public:
  Listener(const ModelFolder& folder, const StoryAnswerFlags& flags)
      : flags_(flags), reader_(folder), writer_(flags.output) {
    if ((flags.attention || !flags.attention_file.empty()) && reader_.hops() == 0)
      fail<InputError>("attention", folder.path().string(), ": is not a memory network, so it has no hops to show");
    if (!flags.attention_file.empty()) file_.emplace("--attention", flags.attention_file, AttentionChoice());
  }

  void hear(const std::string& line) {
    if (is_blank(line)) return end_story();
    if (!is_question(line)) return story_.push_back(line);
    asked_ = true;
    answer(line);
  }
  /// Begins a new story.
  void end_story() {
    if (!story_.empty() && !asked_ && !flags_.interactive)
      fail<InputError>("answer", "the story has no question: a line that ends with \"?\"");
    story_.clear(), asked_ = false;
  }
  void answer(const std::string& question) {
    const StoryAnswer found = reader_(story_, question, flags_.top);
    dropped_ += found.dropped > 0, unknown_ += found.unknown > 0;
    writer_.write(flags_.json ? json_line(question, found, flags_.top > 1) : text_line(found));
    if (flags_.attention && !flags_.json) writer_.write_styled(table_of(question, story_, found));
    if (file_) file_->add(reader_.attention(story_, question, found));
    writer_.flush();
  }
  void take_story(std::vector<std::string> story) { story_ = std::move(story); }
  void finish() {
    end_story();
    writer_.finish();
    if (file_) file_->finish();
    warn_of(dropped_, "question", "answered without the first sentences of a story that is too long for the model");
    warn_of(unknown_, "question", "answered with words in the story or the question that the model does not know");
  }

 private:
  const StoryAnswerFlags& flags_;
  StoryReader reader_;
  TextWriter writer_;
  std::optional<AttentionFile> file_;
  std::vector<std::string> story_;
  bool asked_ = false;
  std::int64_t dropped_ = 0, unknown_ = 0;  // numbers of questions
};

}  // namespace

void answer_stories(const ModelFolder& folder, const StoryAnswerFlags& flags) {
  Listener listener(folder, flags);
  if (flags.question) {
    std::string text = flags.text.value_or("");
    if (!flags.text) {
      LineReader reader(flags.input);
      for (std::string line; reader.next(line);) text += line + "\n";
    }
    listener.take_story(split_sentences(text));
    listener.answer(*flags.question);
    listener.take_story({});
    return listener.finish();
  }
  LineReader reader(flags.input);
  const auto prompt = [&] {
    if (flags.interactive) std::cerr << "> " << std::flush;
  };
  if (flags.interactive)
    std::cerr << "Sentences of a story, then questions that end with \"?\"; an empty line begins a new story.\n";
  prompt();
  for (std::string line; reader.next(line); prompt()) {
    stop_if_interrupted();
    try {
      listener.hear(line);
    } catch (const InputError& error) {
      if (!flags.interactive) throw InputError(reader.where() + ": " + text_of(error));
      warn(text_of(error));
    }
  }
  if (flags.interactive) std::cerr << std::endl;
  try {
    listener.finish();
  } catch (const InputError& error) {
    throw InputError(reader.where() + ": " + text_of(error));
  }
}

}  // namespace attend::cli
