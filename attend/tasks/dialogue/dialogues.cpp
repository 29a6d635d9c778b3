#include "attend/tasks/dialogue/dialogues.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/json.h"
#include "attend/data/reader.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRoles[] = {"system", "developer", "user", "assistant", "tool"};

std::string stripped(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

void check_message(const JsonValue& message) {
  if (!message.is_object()) message.fail_kind("an object with \"role\" and \"content\"");
  const JsonValue role = message["role"];
  if (std::ranges::find(kRoles, role.string()) == std::end(kRoles))
    role.fail("the role is not known: got ", role.shown(), ", expected system, developer, user, assistant or tool");
  const auto content = message.find("content");
  if (content ? !content->is_string() && !content->is_array() : !message.find("tool_calls"))
    message.fail("has no content: expected a text or a list of parts");
}

/// The messages of turns[first …].
std::string messages_of(const std::vector<std::string>& turns, std::size_t first) {
  Json messages = Json::array();
  for (std::size_t i = first; i < turns.size(); ++i)
    messages.push_back({{"role", (i - first) % 2 == 0 ? "user" : "assistant"}, {"content", turns[i]}});
  return messages.dump();
}

}  // namespace

DialogueReader::DialogueReader(const std::filesystem::path& path, DialogueFormat format, DialoguePart part,
                               Progress progress)
    : text_(TextStream::open(path)),
      json_(format_of(path) == CorpusFormat::json_lines),
      format_(std::move(format)),
      part_(part),
      progress_(std::move(progress)) {
  if (format_.separator.empty()) fail<InputError>("dialogue", "the separator of turns is empty");
  if (!(part_.held_out >= 0 && part_.held_out < 1))
    fail<InputError>("dialogue", "the share to hold back must be below 1: got ", part_.held_out);
}

bool DialogueReader::reads(std::int64_t dialogue) const {
  const auto held_out = [&](std::int64_t count) { return std::floor(static_cast<double>(count) * part_.held_out); };
  return part_.training == (held_out(dialogue) == held_out(dialogue + 1));
}

void DialogueReader::read_json(const std::string& line, Dialogue& dialogue) const {
  // Checks the nesting as well, before a parser without limits reads the line.
  const JsonDocument document(line, dialogue.place, "dialogue");
  if (!document.root().is_object()) document.root().fail_kind("an object with \"messages\"");
  const JsonValue messages = document.root()["messages"];
  if (!messages.is_array()) messages.fail_kind("a list of messages");
  messages.each_element(check_message);
  const Json json = Json::parse(line);
  dialogue.messages = json["messages"].dump();
  dialogue.tools = document.root().find("tools") ? json["tools"].dump() : "";
}

void DialogueReader::read_plain(const std::string& line, Dialogue& dialogue) {
  const std::string text = format_.separator == "\t" ? line : line.substr(0, line.find('\t'));
  std::vector<std::string> turns;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(format_.separator, begin), text.size());
    if (std::string turn = stripped(text.substr(begin, end - begin)); !turn.empty()) turns.push_back(std::move(turn));
    begin = end + format_.separator.size();
  }
  dialogue.messages = messages_of(turns, 0), dialogue.tools = {};
  if (format_.both_speakers && turns.size() > 2) second_ = messages_of(turns, 1);
}

bool DialogueReader::next(Dialogue& dialogue) {
  if (!second_.empty()) {
    dialogue.messages = std::exchange(second_, {});
    return true;
  }
  for (std::string line; text_.line(line);) {
    if (stripped(line).empty() || !reads(dialogues_++)) continue;
    dialogue.place = text_.name() + ", line " + std::to_string(text_.lines());
    json_ ? read_json(line, dialogue) : read_plain(line, dialogue);
    if (progress_) progress_(text_.position(), 0);
    return true;
  }
  return false;
}

}  // namespace attend
