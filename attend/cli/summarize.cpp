// attend summarize: writes a summary of each line or file.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/highlight.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/training.h"
#include "attend/cli/verbs.h"
#include "attend/core/file.h"
#include "attend/data/invalid_text.h"
#include "attend/explain/html.h"
#include "attend/explain/terminal.h"
#include "attend/tasks/summarization/summarizer.h"
#include "attend/text/character_positions.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SummarizeFlags {
  LineFlags lines;
  std::vector<std::filesystem::path> files;
  std::string attention_file, highlight_file;
  AttentionChoice shown;
  bool highlight = false;
  SummarizeOptions options;
};

std::string json_line(const std::string& document, const Summary& summary) {
  Json json{{"text", document}, {"summary", summary.text}, {"score", summary.score}, {"ids", summary.ids}};
  if (!summary.finished) json["finish"] = "length";
  if (summary.seed) json["seed"] = *summary.seed;
  if (summary.parts > 1) json["parts"] = summary.parts;
  if (summary.truncated > 0) json["truncated"] = summary.truncated;
  const CharacterPositions characters(document);
  for (const SourceSentence& sentence : summary.sentences) {
    const Span place = characters(sentence.span);
    json["sentences"].push_back({{"start", place.begin}, {"end", place.end}, {"weight", sentence.weight}});
  }
  return as_line(json);
}

/// Summarizes documents, and writes what the flags ask for.
class SummaryWriter {
 public:
  explicit SummaryWriter(SummarizeFlags& flags)
      : flags_(flags),
        attention_(attention_file(flags)),
        summarizer_(open_model(flags.lines.model, flags.lines.adapter)),
        out_(flags.lines.output) {
    if (!flags.highlight_file.empty()) page_file_.emplace(flags.highlight_file);
    warn_of_weights(flags.lines.model);
    flags.options.sources = flags.highlight || flags.lines.json;
    summarizer_.check(flags.options);
    page_.title = "Summaries";
    page_.say("The darker a sentence, the more of the summary's attention falls on it.");
  }

  void operator()(const std::vector<std::string>& documents, const Progress& progress) {
    flags_.options.maps = attention_ && attention_->room() > 0 ? std::optional(attention_->selection()) : std::nullopt;
    const std::vector<Summary> found = summarizer_(documents, flags_.options, progress);
    for (std::size_t i = 0; i < documents.size(); ++i) write(documents[i], found[i]);
    out_.flush();
  }

  void finish() {
    out_.finish();
    if (attention_) attention_->finish();
    if (page_file_) page_file_->write(to_html(page_)), page_file_->finish();
    report(unfinished_, "summaries cut before they ended (--max-tokens)");
    report(split_, "documents summarized in parts because they were too long");
    report(cut_, "documents cut because they were too long");
    warn_of_blank(blank_, "no summary");
  }

 private:
  static std::optional<AttentionFile> attention_file(const SummarizeFlags& flags) {
    if (flags.attention_file.empty()) return std::nullopt;
    return std::optional<AttentionFile>(std::in_place, "--attention", flags.attention_file, flags.shown);
  }

  static void report(std::int64_t count, const std::string& what) {
    if (count > 0) warn(what + ": " + grouped(count));
  }

  void write(const std::string& document, const Summary& summary) {
    unfinished_ += !summary.finished, split_ += summary.parts > 1, cut_ += summary.truncated > 0;
    blank_ += summary.parts == 0;
    if (attention_ && summary.maps.empty() && summary.parts > 0) attention_->leave_out(1);
    if (attention_)
      for (const AttentionMap& map : summary.maps) attention_->add(map);
    if (page_file_ && summary.parts > 0) {
      page_.heading(summary.text);
      page_.show(highlighted(document, summary));
    }
    if (flags_.lines.json) return out_.write(json_line(document, summary));
    out_.write(summary.text + "\n");
    if (!flags_.highlight || page_file_ || summary.parts == 0) return;
    Page shown;
    shown.show(highlighted(document, summary));
    out_.write_styled(to_terminal(shown, terminal_of_output()));
    out_.write("\n");  // between documents
  }

  SummarizeFlags& flags_;
  std::optional<AttentionFile> attention_;  // first: throws if it cannot write, before a model is loaded
  std::optional<TextWriter> page_file_;
  Summarizer summarizer_;
  TextWriter out_;
  Page page_;
  std::int64_t unfinished_ = 0, split_ = 0, cut_ = 0, blank_ = 0;
};

std::string content_of(const std::filesystem::path& path) {
  const MappedFile file = map_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

void run(SummarizeFlags& flags) {
  constexpr std::size_t kBlock = 64;  // documents are long
  SummaryWriter writer(flags);
  const TextWork work = [&](const auto& documents, const Progress& progress) { writer(documents, progress); };
  if (flags.files.empty()) {
    for_text_blocks(flags.lines, "Summarizing", work, kBlock);
  } else {
    for (const std::filesystem::path& path : flags.files) try {
        writer({content_of(path)}, {});
      } catch (const TextError& error) {
        throw InputError(path.string() + ": " + error.what());
      }
  }
  writer.finish();
  if (const InvalidText invalid = invalid_text_in(flags.files); invalid.count > 0) warn(invalid.warning());
}

}  // namespace

void add_summarize(Verb& program) {
  Verb* verb = program.add_subcommand("summarize", "Write summaries of texts");
  verb->group(kUseAModel);
  auto flags = std::make_shared<SummarizeFlags>();
  SummarizeOptions& options = flags->options;
  add_line_flags(*verb, flags->lines, "Documents");
  add_paths_flag(*verb, "--files", flags->files, "Summarize each of these files as one document")
      ->excludes("--input")
      ->excludes("text");
  verb->add_flag("--json", flags->lines.json,
                 "Print one JSON object per document: text, summary, score, ids, sentences with their weights; seed "
                 "if sampled");
  verb->add_option("--min-tokens", options.search.min_new_tokens, "Minimum length of a summary in tokens")
      ->type_name("N")
      ->check(kNotNegative)
      ->default_text("as the model's folder says");
  verb->add_option("--max-tokens,--max-new-tokens", options.search.max_new_tokens,
                   "Maximum length of a summary in tokens")
      ->type_name("N")
      ->check(kPositive)
      ->default_text("as the model's folder says, otherwise 128");
  verb->add_option("--source-prefix", options.source_prefix,
                   "Text that the model expects before each document, such as \"summarize: \" of T5")
      ->type_name("TEXT")
      ->default_text("as the model's folder says");
  verb->add_option("--max-source-tokens", options.max_source_tokens, "Maximum number of tokens to read at once")
      ->type_name("N")
      ->check(kPositive)
      ->default_text("as the model's folder says, otherwise its limit");
  add_choice(*verb, "--long", options.long_text,
             {{"split", LongText::split}, {"truncate", LongText::truncate}, {"error", LongText::error}},
             "What to do with longer documents. split: summarize parts, and then their summaries; truncate: drop the "
             "end; error: stop. One of")
      ->default_text("as the model's folder says, otherwise split")
      ->type_name("HOW");
  verb->add_option(
          "--candidates", options.candidates,
          "Sample N summaries (with --beam: take the N best), and choose the one with most words in common with "
          "the others; 1 chooses the most probable one")
      ->type_name("N")
      ->check(between(1, 1024))
      ->default_text("as the model's folder says, otherwise 1");
  verb->add_option("--batch-tokens", options.batch_tokens, "Largest number of source tokens in a batch")
      ->type_name("N")
      ->check(kPositive);
  add_generation_flags(*verb, options.search, OptionModels::encoder_decoders,
                       {"max_new_tokens", "min_new_tokens", "nbest", "prefix"});
  Flag* highlight = verb->add_option_function<std::vector<std::string>>(
      "--highlight",
      [flags](const std::vector<std::string>& file) {
        flags->highlight = true;
        if (!file.empty()) flags->highlight_file = file.front();
      },
      "Show how much of the summary's attention falls on each sentence of the document: in the terminal, or with "
      "--highlight=FILE.html as a page");
  highlight->type_name("FILE")->optional_value({".html"})->group("Attention");
  add_attention_file_flags(*verb, flags->attention_file, flags->shown);
  verb->footer(
      "Examples:\n"
      "  attend summarize --model bart-large-cnn --files article.txt --highlight\n"
      "  attend summarize --model t5-small --input articles.txt --output summaries.txt --max-tokens 60");
  verb->callback([flags] {
    if (!flags->highlight_file.empty() && !flags->highlight_file.ends_with(".html"))
      throw UsageError("--highlight",
                       "writes a page: expected a file that ends in .html, got " + flags->highlight_file);
    finish_generation_flags(flags->options.search);
    run(*flags);
  });
}

}  // namespace attend::cli
