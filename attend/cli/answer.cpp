// attend answer: answers a question about a text or a story.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/character_positions.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/story_answers.h"
#include "attend/cli/verbs.h"
#include "attend/core/text_error.h"
#include "attend/explain/page.h"
#include "attend/tasks/question_answering/answerer.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AnswerFlags {
  std::string model, output;
  std::optional<std::string> question, text;
  std::vector<std::string> input;
  AnswerOptions options;
  bool json = false;
  StoryAnswerFlags stories;
};

/// Throws UsageError if one of these flags is given. `models`: those that have the flag.
void refuse(const Verb& verb, std::initializer_list<const char*> names, const char* models) {
  for (const char* name : names)
    if (verb.get_option(name)->given()) throw UsageError(name, std::string("is only for ") + models);
}

std::string answer_text(const std::string& text, const Answer& answer) {
  return text.substr(static_cast<std::size_t>(answer.span.begin),
                     static_cast<std::size_t>(answer.span.end - answer.span.begin));
}

/// The best answer; with --top above 1, also all answers.
std::string json_line(const std::string& question, const std::string& text, const std::vector<Answer>& answers,
                      bool several) {
  const CharacterPositions characters(text);
  Json all = Json::array();
  for (const Answer& answer : answers) {
    const Span place = characters(answer.span);
    all.push_back(
        {{"answer", answer_text(text, answer)}, {"score", answer.score}, {"start", place.begin}, {"end", place.end}});
  }
  Json json{{"question", question}};
  json.update(all.empty() ? Json{{"answer", nullptr}, {"score", nullptr}, {"start", nullptr}, {"end", nullptr}}
                          : all.front());
  if (several) json["answers"] = std::move(all);
  return as_line(json);
}

/// Score, position and answer, one answer per line.
std::string text_lines(const std::string& text, const std::vector<Answer>& answers) {
  const CharacterPositions characters(text);
  std::string out;
  for (const Answer& answer : answers) {
    const Span place = characters(answer.span);
    std::string words = answer_text(text, answer);
    std::ranges::replace_if(
        words, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    out += fixed(answer.score, 4) + "\t" + std::to_string(place.begin) + "-" + std::to_string(place.end) + "\t" +
           words + "\n";
  }
  return out.empty() ? "\n" : out;
}

/// All lines of the files, as one text; nothing if there are none.
std::optional<std::string> whole(const std::vector<std::string>& paths) {
  LineReader reader(paths);
  std::optional<std::string> text;
  for (std::string line; reader.next(line);)
    if (text)
      *text += "\n" + line;
    else
      text = line;
  return text;
}

void run(const Verb& verb, AnswerFlags& flags) {
  const ModelFolder folder(flags.model);
  if (folder.can(Ability::stories)) {
    refuse(verb, {"--max-answer-tokens", "--may-lack", "--max-tokens", "--overlap"},
           "models that find the answer in a text");
    StoryAnswerFlags& stories = flags.stories;
    stories.question = flags.question, stories.text = flags.text, stories.input = flags.input;
    stories.output = flags.output, stories.top = flags.options.top, stories.json = flags.json;
    warn_of_weights(flags.model);
    return answer_stories(folder, stories);
  }
  refuse(verb, {"--interactive", "--attention"}, "models that answer questions about stories");
  // A model of BERT's family may be able to answer even if its folder does not say so.
  if (!folder.can(Ability::embed)) folder.require("answer", {{Ability::answer, Ability::stories}});
  const Answerer answerer(folder);
  warn_of_weights(flags.model);
  TextWriter writer(flags.output);
  std::int64_t blank = 0;
  const auto answer = [&](const std::string& question, const std::string& text) {
    std::vector<Answer> answers;
    if (is_blank(question) || is_blank(text))
      ++blank;
    else
      answers = answerer(question, text, flags.options);
    writer.write(flags.json ? json_line(question, text, answers, flags.options.top > 1) : text_lines(text, answers));
    writer.flush();
  };
  if (flags.question) {
    if (const auto text = flags.text ? flags.text : whole(flags.input)) answer(*flags.question, *text);
  } else {
    LineReader reader(flags.input);
    for_line_blocks(reader, "Answering", [&](const std::vector<std::string>& lines, const Progress& progress) {
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::size_t tab = lines[i].find('\t');
        const bool pair = tab != std::string::npos;
        if (!pair && !is_blank(lines[i])) throw TextError(i, "has no tab between question and text");
        answer(lines[i].substr(0, tab), pair ? lines[i].substr(tab + 1) : "");
        progress(static_cast<std::int64_t>(i) + 1, std::ssize(lines));
      }
    });
  }
  writer.finish();
  warn_of_blank(blank, "no answer");
}

}  // namespace

void add_answer(Verb& program) {
  Verb* verb = program.add_subcommand("answer", "Answer questions about a text or a story");
  verb->group(kUseAModel);
  auto flags = std::make_shared<AnswerFlags>();
  AnswerOptions& options = flags->options;
  add_model_flag(*verb, flags->model);
  Flag* question = verb->add_option("-q,--question", flags->question,
                                    "The question; without it, each line of the input is a question, a tab and a text");
  question->type_name("TEXT");
  Flag* text = verb->add_option("-t,--text", flags->text, "The text that holds the answer");
  text->type_name("TEXT")->needs(question)->default_text("the content of --input");
  add_input_flag(*verb, flags->input)->excludes(text);
  add_output_flag(*verb, flags->output);
  verb->add_option("--top", options.top, "Number of answers to print, the best first")
      ->type_name("N")
      ->check(kPositive);
  verb->add_option("--max-answer-tokens", options.max_answer_tokens, "Largest number of tokens in an answer")
      ->type_name("N")
      ->check(kPositive);
  verb->add_flag("--may-lack", options.may_lack,
                 "The text may hold no answer: an empty answer competes with the others");
  verb->add_option(
          "--max-tokens", options.windows.max_tokens,
          "Largest number of tokens of question and text together; longer texts are read in overlapping windows")
      ->type_name("N")
      ->check(kPositive);
  add_overlap_flag(*verb, options.windows.overlap, options.windows.max_tokens);
  verb->add_flag(
      "--json", flags->json,
      "Print one JSON object per question: question, answer, score, start, end; with --top above 1 also answers; a "
      "model of stories has prob and hops instead of score, start and end");
  constexpr const char* kStories = "A model of stories";
  verb->add_flag("--interactive", flags->stories.interactive, "Prompt for the lines of a story and for questions")
      ->group(kStories)
      ->excludes(question);
  verb->add_option_function<std::vector<std::string>>(
          "--attention",
          [flags](const std::vector<std::string>& file) {
            if (file.empty() || file.front() == "-")
              flags->stories.attention = true;
            else
              flags->stories.attention_file = file.front();
          },
          "Print how much each hop attends to each sentence. With a file, write the weights to it: a page (.html), a "
          "picture (.svg, .png) or data (.json). The file is given as --attention=FILE, or as the next word if that "
          "has one of these endings")
      ->type_name("FILE")
      ->optional_value({".html", ".svg", ".png", ".json", ".jsonl"})
      ->group(kStories);
  verb->footer(
      "Prints score, position (in characters) and answer. With --question, the input is one text.\n"
      "A model of stories (see `attend help train memory`) reads lines: the sentences of a story, then questions that\n"
      "end with \"?\"; an empty line begins a new story. It prints the answer and its probability.\n"
      "Examples:\n"
      "  attend answer --model distilbert-squad --question 'Who lives here?' --text 'Joe lives in Rome.'\n"
      "  attend answer --model distilbert-squad --question 'When was it built?' --input castle.txt --top 3\n"
      "  attend answer --model distilbert-squad --input questions.tsv --json\n"
      "  attend answer --model stories --input story.txt --attention");
  verb->callback([verb, flags] { run(*verb, *flags); });
}

}  // namespace attend::cli
