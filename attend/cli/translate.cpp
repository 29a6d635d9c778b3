// attend translate: lines in one language to lines in another.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/input.h"
#include "attend/cli/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/decode/alignment.h"
#include "attend/decode/translator.h"
#include "attend/explain/html.h"
#include "attend/explain/svg.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TranslateFlags {
  std::string model, output, attention_file;
  std::vector<std::string> input;
  TranslateOptions options;
  bool greedy = false, json = false, alignments = false;
};

/// The picture of one translation: a row a target token, a column a source token.
HeatMap map_of(const Translation& translation) {
  HeatMap map{translation.text,
              "source",
              "translation",
              static_cast<std::int64_t>(translation.target_tokens.size()),
              static_cast<std::int64_t>(translation.source_tokens.size()),
              {},
              translation.target_tokens,
              translation.source_tokens};
  for (const std::vector<float>& row : translation.attention)
    map.values.insert(map.values.end(), row.begin(), row.end());
  return map;
}

/// Collects the attention of all lines, and writes it in the form that the file's ending asks for.
class AttentionFile {
 public:
  explicit AttentionFile(std::string path) : path_(std::move(path)) {
    if (!path_.ends_with(".html") && !path_.ends_with(".svg"))
      throw CLI::ValidationError("--attention", path_ + ": must end with .html or .svg");
  }
  void add(const std::string& source, const Translation& translation) {
    if (page_.blocks.size() >= kMost) {
      ++left_out_;
      return;
    }
    page_.heading(source);
    page_.show(Figure{"", {map_of(translation)}});
  }
  void finish() const {
    AtomicFile file(path_);
    if (path_.ends_with(".html")) {
      file.write(to_html(page_));
    } else {
      Figure all;
      for (const auto& block : page_.blocks)
        if (const auto* figure = std::get_if<Figure>(&block)) all.panels.push_back(figure->panels.front());
      file.write(to_svg(all));
    }
    file.commit();
    if (left_out_ > 0)
      warn(grouped(left_out_) + " lines are not in " + path_ + ": it shows the first " + grouped(kMost / 2));
  }

 private:
  static constexpr std::size_t kMost = 400;  // blocks, two a line: more would be slow to open
  std::string path_;
  Page page_{"Attention: where each word of the translation looks", {}};
  std::int64_t left_out_ = 0;
};

Json json_of(const Translation& t, const Json& alignments) {
  Json json{{"translation", t.text}, {"score", t.score}, {"ids", t.ids}};
  if (!t.finished) json["finish"] = "length";
  if (!alignments.is_null()) json["alignments"] = alignments;
  if (t.truncated > 0) json["truncated"] = t.truncated;
  return json;
}

void run(TranslateFlags& flags) {
  const Translator translator(flags.model);
  LineReader reader(flags.input);
  TextWriter writer(flags.output);
  std::unique_ptr<AttentionFile> attention;
  if (!flags.attention_file.empty()) attention = std::make_unique<AttentionFile>(flags.attention_file);
  flags.options.attention = attention || flags.alignments;
  if (flags.greedy) flags.options.beam = 1;
  ProgressBar bar("Translating", "B");
  std::int64_t unfinished = 0, truncated = 0;
  // As many lines as make some batches: sorted by length together, written in their order.
  for (std::vector<std::string> lines; reader.next(lines, 1024);) {
    const auto results = translator(lines, flags.options);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Translation& best = results[i].front();
      unfinished += !best.finished, truncated += best.truncated > 0;
      if (attention) attention->add(lines[i], best);
      Json all = Json::array();
      std::string plain;
      for (const Translation& t : results[i]) {
        Json alignments;
        std::string pharaoh;
        if (flags.alignments) {
          alignments = Json::array();
          for (const auto& [s, w] : align_words(translator, lines[i], t)) {
            alignments.push_back({s, w});
            pharaoh += (pharaoh.empty() ? "" : " ") + std::to_string(s) + "-" + std::to_string(w);
          }
        }
        all.push_back(json_of(t, alignments));
        plain += t.text + (flags.alignments ? "\t" + pharaoh : "") + "\n";
      }
      if (flags.json) {
        Json json{{"source", lines[i]}};
        json.update(all.front());
        if (flags.options.nbest > 1) json["hypotheses"] = all;
        writer.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
      } else {
        writer.write(plain);
      }
    }
    writer.flush();
    bar.update(reader.bytes_read(), reader.total_bytes());
  }
  bar.erase();
  writer.finish();
  if (attention) attention->finish();
  if (unfinished > 0) warn("translations cut before they ended (--max-new-tokens): " + grouped(unfinished));
  if (truncated > 0) warn("lines cut because they were too long (--max-tokens): " + grouped(truncated));
}

}  // namespace

void add_translate(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("translate", "Text to text in another language");
  verb->group(kUseAModel);
  auto flags = std::make_shared<TranslateFlags>();
  TranslateOptions& options = flags->options;
  const auto positive = CLI::PositiveNumber.description("");
  verb->add_option("-m,--model", flags->model, "The model's folder")->type_name("DIR")->required();
  add_input_flag(*verb, flags->input);
  add_output_flag(*verb, flags->output);
  verb->add_option("--beam", options.beam, "Hypotheses that are followed at once; 1 is greedy")
      ->type_name("N")
      ->check(positive)
      ->capture_default_str();
  verb->add_flag("--greedy", flags->greedy, "The same as --beam 1");
  verb->add_option("--nbest", options.nbest, "Translations of each line, best first")
      ->type_name("N")
      ->check(positive)
      ->capture_default_str();
  verb->add_option("--length-penalty", options.length_penalty, "Scores are divided by the length to this power")
      ->type_name("X")
      ->capture_default_str();
  verb->add_option("--max-new-tokens", options.max_new_tokens,
                   "Tokens of a translation at most; otherwise twice the source's, and 20")
      ->type_name("N")
      ->check(positive);
  verb->add_option("--max-tokens", options.max_tokens, "Tokens of a line at most")->type_name("N")->check(positive);
  verb->add_option("--long", options.long_text, "What becomes of longer lines: error, truncate or split")
      ->type_name("HOW")
      ->transform(CLI::CheckedTransformer(std::map<std::string, LongText>{{"error", LongText::error},
                                                                          {"truncate", LongText::truncate},
                                                                          {"split", LongText::split}})
                      .description(""))
      ->default_str("error");
  verb->add_option("--batch-tokens", options.batch_tokens, "Source tokens that are translated at once")
      ->type_name("N")
      ->check(positive)
      ->capture_default_str();
  verb->add_option("--attention", flags->attention_file, "Draw where each word looks: a file .html or .svg")
      ->type_name("FILE");
  verb->add_flag("--alignments", flags->alignments, "Behind a tab, source-target pairs of words: 0-0 1-2");
  verb->add_flag("--json", flags->json, "One JSON object a line: source, translation, score, ids");
  verb->footer(
      "Examples:\n"
      "  echo 'A man rides a horse.' | attend translate --model en-de\n"
      "  attend translate --model en-de --input test.en --output test.out --beam 5\n"
      "  attend translate --model en-de --input test.en --attention attention.html");
  verb->callback([flags] {
    if (flags->options.nbest > (flags->greedy ? 1 : flags->options.beam))
      throw CLI::ValidationError("--nbest", "cannot be more than --beam");
    run(*flags);
  });
}

}  // namespace attend::cli
