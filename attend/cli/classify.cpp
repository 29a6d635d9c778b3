// attend classify: predicts the labels of lines.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/verbs.h"
#include "attend/explain/page.h"
#include "attend/tasks/classification/classifier.h"
#include "attend/text/character_positions.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ClassifyFlags {
  LineFlags lines;
  std::string attention_file;
  ClassifyOptions options;
  AttentionChoice shown;
  std::int64_t top = 0;  // 0: the default of --top
};

/// The words with the largest attention weights: "terrible 0.61, plot 0.12".
std::string most_attended_words(const std::string& line, const Classification& result) {
  std::vector<std::pair<std::string, float>> words;  // the weight of a word is the sum over its tokens
  const bool only_added = std::ranges::all_of(result.spans, [](const Span& span) { return span.begin == span.end; });
  for (std::size_t i = 0; i < result.attention.size(); ++i) {
    if (result.spans[i].begin == result.spans[i].end && !only_added) continue;  // [CLS] and the like
    const auto begin = static_cast<std::size_t>(result.spans[i].begin);
    const bool inside = i > 0 && result.spans[i - 1].end == result.spans[i].begin && begin < line.size() &&
                        line[begin] != ' ' && begin > 0 && line[begin - 1] != ' ';
    const auto size = static_cast<std::size_t>(result.spans[i].end - result.spans[i].begin);
    std::string text = size > 0 ? line.substr(begin, size) : result.tokens[i];
    text.erase(0, text.find_first_not_of(' '));
    if (inside && !words.empty())
      words.back().first += text, words.back().second += result.attention[i];
    else
      words.emplace_back(std::move(text), result.attention[i]);
  }
  std::ranges::stable_sort(words, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 5); ++i)
    out += (out.empty() ? "" : ", ") + words[i].first + " " + fixed(words[i].second, 2);
  return out;
}

/// The text of a token; the token itself if it stands for no text.
std::string token_text(const std::string& line, const Classification& result, std::size_t i) {
  const Span& span = result.spans[i];
  if (span.begin == span.end) return result.tokens[i];
  return line.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
}

/// The words of the second text with the word of the first that each attends to most: "animal → dog 0.93".
std::string alignments(const std::string& line, const Classification& result) {
  std::string out;
  for (std::size_t i = 0; i < result.aligned.size(); ++i) {
    if (result.aligned[i] >= i) continue;  // a word of the first text
    out += (out.empty() ? "" : ", ") + token_text(line, result, i) + " → " +
           token_text(line, result, result.aligned[i]) + " " + fixed(result.aligned_weights[i], 2);
  }
  return out;
}

/// The sentences with the largest weights, and the words in each: "0.61 [The plot is terrible.] terrible 0.40, …".
std::string most_attended_sentences(const std::string& line, const Classification& result) {
  std::vector<std::size_t> order(result.sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return result.sentences[i].weight; });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 2); ++i) {
    const SentenceWeight& sentence = result.sentences[order[i]];
    Classification part;
    for (std::size_t t = 0; t < result.tokens.size(); ++t)
      if (result.spans[t].begin >= sentence.span.begin && result.spans[t].end <= sentence.span.end) {
        part.tokens.push_back(result.tokens[t]), part.spans.push_back(result.spans[t]);
        part.attention.push_back(result.attention[t] / std::max(sentence.weight, 1e-9f));
      }
    out += (out.empty() ? "" : "; ") + fixed(sentence.weight, 2) + " [" +
           line.substr(static_cast<std::size_t>(sentence.span.begin),
                       static_cast<std::size_t>(sentence.span.end - sentence.span.begin)) +
           "] " + most_attended_words(line, part);
  }
  return out;
}

std::string most_attended(const std::string& line, const Classification& result) {
  if (!result.sentences.empty()) return most_attended_sentences(line, result);
  return result.aligned.empty() ? most_attended_words(line, result) : alignments(line, result);
}

/// The most probable labels first.
std::vector<std::size_t> order_of(const Classification& result) {
  std::vector<std::size_t> order(result.probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return result.probabilities[i]; });
  return order;
}

std::string json_line(const std::string& line, const Classification& result, const std::vector<std::string>& labels,
                      bool several, const ClassifyFlags& flags) {
  std::vector<std::size_t> shown(result.probabilities.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (flags.top > 0) {
    shown = order_of(result);
    shown.resize(std::min(shown.size(), static_cast<std::size_t>(flags.top)));
  }
  Json probabilities = Json::object();
  for (const std::size_t i : shown) probabilities[labels[i]] = result.probabilities[i];
  const bool blank = result.probabilities.empty();
  Json json{{"text", line},
            {"label", blank ? Json() : Json(labels[result.label])},
            {"prob", blank ? Json() : Json(result.probabilities[result.label])},
            {"probs", std::move(probabilities)}};
  if (several) {
    Json& holding = json["labels"] = Json::array();
    for (const std::size_t i : result.predicted) holding.push_back(labels[i]);
  }
  if (!result.tokens.empty()) json["tokens"] = result.tokens, json["attention"] = result.attention;
  if (!result.aligned.empty()) json["aligned"] = result.aligned, json["aligned_weights"] = result.aligned_weights;
  const CharacterPositions characters(line);
  for (const SentenceWeight& sentence : result.sentences) {
    const Span place = characters(sentence.span);
    json["sentences"].push_back({{"start", place.begin}, {"end", place.end}, {"weight", sentence.weight}});
  }
  if (result.truncated > 0) json["truncated"] = result.truncated;
  return as_line(json);
}

std::string text_line(const std::string& line, const Classification& result, const std::vector<std::string>& labels,
                      bool several, const ClassifyFlags& flags) {
  const std::vector<std::size_t> order = order_of(result);
  std::string out;
  // Without --top, a multi-label model prints all labels that it predicts, another model the most probable one.
  const std::size_t count = flags.top > 0 ? static_cast<std::size_t>(flags.top) : several ? result.predicted.size() : 1;
  for (std::size_t i = 0; i < std::min(order.size(), count); ++i)
    out += (i ? "\t" : "") + labels[order[i]] + "\t" + fixed(result.probabilities[order[i]], 4);
  if (flags.options.attention && !order.empty()) out += "\t" + most_attended(line, result);
  return out + "\n";
}

void run(const ClassifyFlags& flags) {
  std::optional<AttentionFile> attention;
  if (!flags.attention_file.empty()) attention.emplace("--attention", flags.attention_file, flags.shown);
  const Classifier classifier(open_model(flags.lines.model, flags.lines.adapter));
  warn_of_weights(flags.lines.model);
  const bool several = classifier.several_labels();
  TextWriter writer(flags.lines.output);
  const TextCounts counts = write_results(
      flags.lines, "Classifying", writer,
      [&](const auto& lines, const Progress& progress) { return classifier(lines, flags.options, progress); },
      [&](const std::string& line, const Classification& result) {
        if (attention && attention->room() == 0 && !is_blank(line)) attention->leave_out(1);
        if (attention && attention->room() > 0 && !is_blank(line))
          attention->add(classifier.attention_map(line, flags.options, attention->selection()));
        return flags.lines.json ? json_line(line, result, classifier.labels(), several, flags)
                                : text_line(line, result, classifier.labels(), several, flags);
      });
  writer.finish();
  if (attention) attention->finish();
  warn_of_cut(counts.cut);
  warn_of_blank(counts.blank, "no label");
}

}  // namespace

void add_classify(Verb& program) {
  Verb* verb = program.add_subcommand("classify", "Predict the label of a text");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ClassifyFlags>();
  add_line_flags(*verb, flags->lines);
  verb->add_option("--top", flags->top, "Number of labels to print, the most probable first")
      ->type_name("N")
      ->default_text("1; with a multi-label model, all labels above 0.5")
      ->check(kPositive);
  verb->add_option("--max-tokens", flags->options.max_tokens,
                   "Cut lines that have more tokens; a warning says how many were cut")
      ->type_name("N")
      ->default_text("the model's limit")
      ->check(kPositive);
  verb->add_flag("--pairs", flags->options.pairs, "Each line holds two texts with a tab between them");
  Flag* attention = verb->add_option_function<std::vector<std::string>>(
      "--attention",
      [flags](const std::vector<std::string>& file) {
        flags->options.attention = true;
        if (!file.empty()) flags->attention_file = file.front();
      },
      "Print the words with the largest attention weights; of a pair, which word is aligned with which; of a document, "
      "the sentences and the words in them. With a file also write the weights to it: a page (.html), a "
      "picture (.svg, .png) or data (.json). The file is given as --attention=FILE, or as the next word if that has "
      "one of these endings");
  attention->type_name("FILE")->optional_value({".html", ".svg", ".png", ".json", ".jsonl"});
  add_attention_choice_flags(*verb, *attention, flags->shown);
  verb->add_flag("--json", flags->lines.json,
                 "Print one JSON object per line: text, label, prob, probs (all, or --top of them); labels with a "
                 "multi-label model");
  verb->footer(
      "Prints label, tab, probability for each line. The model is one that Attend has trained, or a classifier of\n"
      "BERT's family or GPT-2 from Hugging Face.\n"
      "Examples:\n"
      "  attend classify --model topics 'What is the capital of France?' --attention\n"
      "  attend classify --model bert-mnli --pairs --input premise-hypothesis.tsv --top 3");
  verb->callback([flags] {
    if ((flags->shown.layer || flags->shown.head) && flags->attention_file.empty())
      throw UsageError(flags->shown.layer ? "--layer" : "--head", "is for a picture: give --attention=FILE");
    run(*flags);
  });
}

}  // namespace attend::cli
