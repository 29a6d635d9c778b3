// attend answer: answers a question about a text or a story.
#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "attend/cli/shared/answer_flags.h"
#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/story_answers.h"
#include "attend/cli/verbs.h"
#include "attend/core/text_error.h"
#include "attend/explain/attention_matrix.h"
#include "attend/explain/page.h"
#include "attend/explain/terminal.h"
#include "attend/tasks/attention/attention_reader.h"
#include "attend/tasks/question_answering/answerer.h"
#include "attend/text/character_positions.h"
#include "attend/text/words.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AnswerFlags {
  std::string model, adapter, output;
  std::optional<std::string> question, text;
  std::vector<std::string> input;
  AnswerOptions options;
  bool json = false, interactive = false;
  bool attention = false;           // print the attention weights
  std::string attention_file = {};  // write them to this file
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

/// The part of a text that the model reads together: the window that has the best answer, or the first one if the text
/// has no answer.
Span shown_part(const SpanReader& reader, const std::string& question, const std::string& text,
                const std::vector<Answer>& answers, const SpanWindowOptions& options) {
  if (!answers.empty() && answers[0].window.end > 0) return answers[0].window;
  const std::vector<SpanWindow> windows = reader.windows(question, text, options);
  if (windows.empty()) return {0, std::ssize(text)};
  return {windows[0].spans[windows[0].begin].begin, windows[0].spans[windows[0].end - 1].end};
}

/// The words of the text that the question attends to most, and the words of the answer (marked by a star), each with
/// the words of the question that it attends to. For a model without attention between question and text, all weights.
/// `answer`: the bytes of the text; empty if there is none.
std::string attention_text(const AttentionMap& map, const SpanReader& reader, const std::string& question,
                           const std::string& text, const Span& answer) {
  const auto has = [&](AttentionKind kind) { return std::ranges::count(map.views, kind, &AttentionView::kind) > 0; };
  Page page{question, {}};
  if (!has(AttentionKind::question_to_context) || !has(AttentionKind::context_to_question)) {
    page.show(figure_of(std::span(&map, 1)));
    return to_terminal(page, terminal_of_output());
  }
  const AttentionMatrix asked = matrix_of(map, {.view = AttentionKind::question_to_context});
  const AttentionMatrix answered = matrix_of(map, {.view = AttentionKind::context_to_question});
  const std::size_t T = answered.queries.shown.size(), J = answered.keys.shown.size();
  const auto greatest = [](std::span<const float> weights, std::size_t most) {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return weights[i]; });
    order.resize(std::min(order.size(), most));
    return order;
  };
  constexpr std::size_t kRows = 10, kWords = 3;
  std::set<std::size_t> rows, marked;
  for (const std::size_t t : greatest(asked.values, kRows)) rows.insert(t);
  const std::vector<SpanWindow> windows =
      reader.windows(question, text, {.max_tokens = std::numeric_limits<std::int64_t>::max()});
  if (!windows.empty() && windows[0].end - windows[0].begin == T)
    for (std::size_t t = 0; t < T; ++t) {
      const Span span = windows[0].spans[windows[0].begin + t];
      if (span.begin < answer.end && span.end > answer.begin) rows.insert(t), marked.insert(t);
    }
  Table table{{"word of the text", "the question attends", "attends to the question"}, {}};
  for (const std::size_t t : rows) {
    const std::span<const float> weights = std::span(answered.values).subspan(t * J, J);
    std::string words;
    for (const std::size_t j : greatest(weights, kWords))
      words += (words.empty() ? "" : ", ") + label_of(answered.keys.shown[j]) + " " + fixed(weights[j], 2);
    table.rows.push_back(
        {(marked.contains(t) ? "* " : "  ") + label_of(answered.queries.shown[t]), fixed(asked.values[t], 3), words});
  }
  page.show(std::move(table));
  return to_terminal(page, terminal_of_output());
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
  const ModelFolder folder = open_model(flags.model, flags.adapter);
  if (folder.can(Ability::stories)) {
    refuse(verb, {"--max-answer-tokens", "--may-lack", "--max-tokens", "--overlap"},
           "models that find the answer in a text");
    warn_of_weights(flags.model);
    return answer_stories(folder, {.question = flags.question,
                                   .text = flags.text,
                                   .input = flags.input,
                                   .output = flags.output,
                                   .top = flags.options.top,
                                   .json = flags.json,
                                   .interactive = flags.interactive,
                                   .attention = flags.attention,
                                   .attention_file = flags.attention_file});
  }
  refuse(verb, {"--interactive"}, "models that answer questions about stories");
  if (flags.json && flags.attention) throw UsageError("--attention", "needs a file with --json: --attention=FILE");
  // A model of BERT's family may be able to answer even if its folder does not say so.
  if (!folder.can(Ability::embed)) folder.require("answer", {{Ability::answer, Ability::stories}});
  std::optional<AttentionFile> file;
  if (!flags.attention_file.empty()) file.emplace("--attention", flags.attention_file, AttentionChoice());
  const Answerer answerer(folder);
  std::optional<AttentionReader> reader;
  if (file || flags.attention) reader.emplace(folder);
  warn_of_weights(flags.model);
  TextWriter writer(flags.output);
  std::int64_t blank = 0;
  const auto answer = [&](const std::string& question, const std::string& text) {
    std::vector<Answer> answers;
    const bool empty = is_blank(question) || is_blank(text);
    if (empty)
      ++blank;
    else
      answers = answerer(question, text, flags.options);
    writer.write(flags.json ? json_line(question, text, answers, flags.options.top > 1) : text_lines(text, answers));
    if (reader && !empty) {
      const Span part = shown_part(answerer.reader(), question, text, answers, flags.options.windows);
      const std::string read =
          text.substr(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.end - part.begin));
      if (count_words(read) < count_words(text)) {
        const Span place = CharacterPositions(text)(part);
        warn("the text is longer than what the model reads together; the attention is that of the characters " +
             std::to_string(place.begin) + "-" + std::to_string(place.end));
      }
      const AttentionRequest request{.text = question, .pair = read, .long_text = LongText::truncate};
      const AttentionMap map = (*reader)(request).front();
      const Span best = answers.empty() ? Span() : answers[0].span;
      if (flags.attention && !flags.json)
        writer.write_styled(
            attention_text(map, answerer.reader(), question, read, {best.begin - part.begin, best.end - part.begin}));
      if (file) file->add(map);
    }
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
  if (file) file->finish();
  warn_of_blank(blank, "no answer");
}

}  // namespace

void add_answer(Verb& program) {
  Verb* verb = program.add_subcommand("answer", "Answer questions about a text or a story");
  verb->group(kUseAModel);
  auto flags = std::make_shared<AnswerFlags>();
  AnswerOptions& options = flags->options;
  add_model_flags(*verb, flags->model, flags->adapter);
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
  add_answer_window_flags(*verb, options.windows, kAnswerWindow);
  verb->add_flag(
      "--json", flags->json,
      "Print one JSON object per question: question, answer, score, start, end; with --top above 1 also answers; a "
      "model of stories has prob and hops instead of score, start and end");
  verb->add_flag("--interactive", flags->interactive,
                 "Prompt for the lines of a story and for questions; for models of stories")
      ->excludes(question);
  verb->add_option_function<std::vector<std::string>>(
          "--attention",
          [flags](const std::vector<std::string>& file) {
            if (file.empty() || file.front() == "-")
              flags->attention = true;
            else
              flags->attention_file = file.front();
          },
          "Print the attention between question and text, or how much each hop of a memory network attends to each "
          "sentence. With a file, write the weights to it: a page (.html), a picture (.svg, .png) or data (.json). The "
          "file is given as --attention=FILE, or as the next word if that has one of these endings")
      ->type_name("FILE")
      ->optional_value({".html", ".svg", ".png", ".json", ".jsonl"});
  verb->footer(
      "Prints score, position (in characters) and answer. With --question, the input is one text. Models that find "
      "the\n"
      "answer in a text are made by `attend train answer` and `attend finetune answer`.\n"
      "A model of stories (see `attend help train memory`) reads lines: the sentences of a story, then questions that\n"
      "end with \"?\"; an empty line begins a new story. It prints the answer and its probability.\n"
      "Examples:\n"
      "  attend answer --model distilbert-squad --question 'Who lives here?' --text 'Joe lives in Rome.'\n"
      "  attend answer --model distilbert-squad --question 'When was it built?' --input castle.txt --top 3\n"
      "  attend answer --model distilbert-squad --input questions.tsv --json\n"
      "  attend answer --model answers --question 'Who lives here?' --text 'Joe lives in Rome.' --attention\n"
      "  attend answer --model stories --input story.txt --attention");
  verb->callback([verb, flags] { run(*verb, *flags); });
}

}  // namespace attend::cli
