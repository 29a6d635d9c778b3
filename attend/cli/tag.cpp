// attend tag: finds names, places and other entities in lines.
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/verbs.h"
#include "attend/explain/page.h"
#include "attend/tasks/tagging/tagger.h"
#include "attend/text/character_positions.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TagFlags {
  LineFlags lines;
  TagOptions options;
  bool all = false, words = false;
};

std::string words_of(const std::string& line, const Tag& tag) {
  return line.substr(static_cast<std::size_t>(tag.span.begin), static_cast<std::size_t>(tag.span.end - tag.span.begin));
}

std::string json_line(const std::string& line, const TaggedText& tagged) {
  const CharacterPositions characters(line);
  Json tags = Json::array();
  for (const Tag& tag : tagged.tags) {
    const Span place = characters(tag.span);
    tags.push_back({{"label", tag.label},
                    {"text", words_of(line, tag)},
                    {"start", place.begin},
                    {"end", place.end},
                    {"prob", tag.probability}});
  }
  Json json{{"text", line}, {"tags", std::move(tags)}};
  if (tagged.truncated > 0) json["truncated"] = tagged.truncated;
  return as_line(json);
}

/// "PER: Joe Smith (0.998)", with tabs between.
std::string text_line(const std::string& line, const TaggedText& tagged) {
  std::string out;
  for (const Tag& tag : tagged.tags)
    out += (out.empty() ? "" : "\t") + tag.label + ": " + words_of(line, tag) + " (" + fixed(tag.probability, 3) + ")";
  return out + "\n";
}

void run(TagFlags& flags) {
  const Tagger tagger(open_model(flags.lines.model, flags.lines.adapter));
  warn_of_weights(flags.lines.model);
  if (flags.all) flags.options.ignored.clear();
  if (flags.words) flags.options.group = false;
  TextWriter writer(flags.lines.output);
  const TextCounts counts = write_results(
      flags.lines, "Tagging", writer,
      [&](const auto& lines, const Progress& progress) { return tagger(lines, flags.options, progress); },
      [&](const std::string& line, const TaggedText& tagged) {
        return flags.lines.json ? json_line(line, tagged) : text_line(line, tagged);
      });
  writer.finish();
  warn_of_cut(counts.cut);
}

}  // namespace

void add_tag(Verb& program) {
  Verb* verb = program.add_subcommand("tag", "Find names and other entities in text");
  verb->group(kUseAModel);
  auto flags = std::make_shared<TagFlags>();
  add_line_flags(*verb, flags->lines);
  add_choice(*verb, "--strategy", flags->options.strategy, kTagStrategyNames,
             "How the labels of tokens are combined. first, average, max: the label of a word is that of its first "
             "token, of the mean, of the most probable token; simple: join neighbouring tokens of one label; none: "
             "print each token. One of");
  verb->add_flag("--words", flags->words, "Print a label for each word; do not join neighbours");
  verb->add_flag("--all", flags->all, "Print words with the label O, too");
  add_long_text_flags(
      *verb, flags->options.max_tokens, flags->options.long_text,
      "What to do with longer lines. split: read them in overlapping windows; truncate: drop the end; error: stop");
  add_overlap_flag(*verb, flags->options.overlap, flags->options.max_tokens);
  verb->add_flag("--json", flags->lines.json,
                 "Print one JSON object per line: text, tags (label, text, start, end, prob)");
  verb->footer(
      "Prints one line for each line of input: label, words and probability of each entity, separated by tabs.\n"
      "Examples:\n"
      "  attend tag --model bert-base-NER 'Joe Smith lives in Rome.'\n"
      "  attend tag --model bert-base-NER --input articles.txt --strategy average --json");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
