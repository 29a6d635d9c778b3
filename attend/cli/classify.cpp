// attend classify: lines to labels.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "attend/cli/input.h"
#include "attend/cli/model_folder.h"
#include "attend/cli/progress.h"
#include "attend/cli/verbs.h"
#include "attend/decode/classifier.h"
#include "attend/explain/page.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ClassifyFlags {
  std::string model, output;
  std::vector<std::string> input;
  ClassifyOptions options;
  bool json = false;
  std::int64_t top = 1;
};

/// The words that decided, most first: "terrible 0.61, plot 0.12".
std::string deciding_words(const std::string& line, const Classification& result) {
  std::vector<std::pair<std::string, float>> words;  // tokens of one word together
  for (std::size_t i = 0; i < result.attention.size(); ++i) {
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

std::string json_line(const std::string& line, const Classification& result, const std::vector<std::string>& labels) {
  Json probabilities = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) probabilities[labels[i]] = result.probabilities[i];
  Json json{{"text", line},
            {"label", labels[result.label]},
            {"prob", result.probabilities[result.label]},
            {"probs", std::move(probabilities)}};
  if (!result.tokens.empty()) json["tokens"] = result.tokens, json["attention"] = result.attention;
  if (result.truncated > 0) json["truncated"] = result.truncated;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string text_line(const std::string& line, const Classification& result, const std::vector<std::string>& labels,
                      const ClassifyFlags& flags) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return result.probabilities[i]; });
  std::string out;
  for (std::size_t i = 0; i < std::min(order.size(), static_cast<std::size_t>(flags.top)); ++i)
    out += (i ? "\t" : "") + labels[order[i]] + "\t" + fixed(result.probabilities[order[i]], 4);
  if (flags.options.attention) out += "\t" + deciding_words(line, result);
  return out + "\n";
}

void run(const ClassifyFlags& flags) {
  const Classifier classifier(flags.model);
  warn_of_weights(flags.model);
  LineReader reader(flags.input);
  TextWriter writer(flags.output);
  ProgressBar bar("Classifying", "B");
  std::int64_t truncated = 0;
  for (std::vector<std::string> lines; reader.next(lines, 4096);) {
    const std::vector<Classification> results = classifier(lines, flags.options);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      truncated += results[i].truncated > 0;
      writer.write(flags.json ? json_line(lines[i], results[i], classifier.labels())
                              : text_line(lines[i], results[i], classifier.labels(), flags));
    }
    writer.flush();
    bar.update(reader.bytes_read(), reader.total_bytes());
  }
  bar.erase();
  writer.finish();
  if (truncated > 0) warn(grouped(truncated) + " lines were longer than --max-tokens and were cut");
}

}  // namespace

void add_classify(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("classify", "Text to label");
  verb->group(kUseAModel);
  auto flags = std::make_shared<ClassifyFlags>();
  verb->add_option("-m,--model", flags->model, "The model's folder")->type_name("DIR")->required();
  add_input_flag(*verb, flags->input);
  add_output_flag(*verb, flags->output);
  verb->add_option("--top", flags->top, "Labels to print, the most probable first")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  verb->add_option("--max-tokens", flags->options.max_tokens, "Longer lines are cut, and a warning says how many")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  verb->add_flag("--attention", flags->options.attention, "Print the words that decided, with their weights");
  verb->add_flag("--json", flags->json, "One JSON object a line: text, label, prob, probs");
  verb->footer(
      "Prints label, tab, probability for each line.\n"
      "Example: echo 'What is the capital of France?' | attend classify --model topics --attention");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
