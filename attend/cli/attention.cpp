// attend attention: shows the attention weights of a model for given texts.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/language_flags.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/explain/head_statistics.h"
#include "attend/explain/terminal.h"
#include "attend/tasks/attention/attention_reader.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AttentionFlags {
  std::string model, adapter, output, view;
  std::vector<std::string> texts, input;
  std::optional<std::string> target;
  AttentionRequest request;
  AttentionChoice choice;
  bool json = false, summary = false;
};

/// The texts of the command line, or the lines of the input.
class Texts {
 public:
  explicit Texts(const AttentionFlags& flags) : given_(flags.texts) {
    if (given_.empty()) reader_.emplace(flags.input);
  }
  bool next(std::string& text) {
    if (reader_) return reader_->next(text);
    if (at_ == given_.size()) return false;
    text = given_[at_++];
    return true;
  }
  std::string where() const { return reader_ ? reader_->where() : "text " + std::to_string(at_); }

 private:
  const std::vector<std::string>& given_;
  std::size_t at_ = 0;
  std::optional<LineReader> reader_;
};

/// Statistics of each head and of the rollout, averaged over all texts; printed as a table or as JSON lines.
class HeadSummary {
 public:
  void add(const AttentionMap& map, const AttentionChoice& choice) {
    const AttentionView& view = map.view(choice.view);
    kind_ = view.kind;
    texts_.push_back(head_statistics(view));
    if (!choice.head && view.layers.size() > 1 && can_roll_out(view)) texts_.back().push_back(rollout_statistics(view));
  }
  std::string table() const {
    Page page{"Statistics of the heads: " + name_of(kind_) + " attention of " + grouped(std::ssize(texts_)) +
                  (texts_.size() == 1 ? " text" : " texts"),
              {}};
    page.show(table_of(mean_of(texts_), kind_));
    page.say(
        "Entropy is in bits, distance in tokens; the other columns are fractions of the attention weight. "
        "\"separator\": on special tokens except the first; \"same word\": on the same token at other positions. "
        "\"roll-out\": all layers combined.");
    return to_terminal(page, terminal_of_output());
  }
  std::string json() const {
    std::string lines;
    for (const HeadStatistics& s : mean_of(texts_)) {
      Json line{{"view", name_of(kind_)}};
      if (s.rollout)
        line["rollout"] = true;
      else
        line.update({{"layer", s.layer}, {"head", s.head}});
      line.update({{"entropy", s.entropy}, {"distance", s.distance}});
      if (within_one_text(kind_)) line.update({{"previous", s.previous}, {"next", s.next}, {"self", s.self}});
      line.update({{"first", s.first}, {"separator", s.separator}, {"same_word", s.same_word}});
      lines += as_line(line);
    }
    return lines;
  }

 private:
  AttentionKind kind_ = AttentionKind::self;
  std::vector<std::vector<HeadStatistics>> texts_;
};

/// The request for one line. A tab separates the two texts of a pair, or a source and its translation, for models that
/// take them.
AttentionRequest request_of(const AttentionReader& reader, const AttentionFlags& flags, const std::string& line) {
  AttentionRequest request = flags.request;
  const std::size_t tab = line.find('\t');
  const bool pair = tab != line.npos && (reader.takes_pairs() || reader.translates());
  request.text = line.substr(0, pair ? tab : line.npos);
  if (pair && reader.translates()) request.target = line.substr(tab + 1);
  if (pair && reader.takes_pairs()) request.pair = line.substr(tab + 1);
  if (flags.target) {
    if (pair) fail<InputError>("attention", "a target is given both after a tab and by --target");
    request.target = flags.target;
  }
  return request;
}

void run(AttentionFlags& flags) {
  std::optional<AttentionFile> file;
  if (!flags.output.empty()) file.emplace("--output", flags.output, flags.choice);
  Texts texts(flags);
  const AttentionReader reader(open_model(flags.model, flags.adapter));
  warn_of_weights(flags.model);
  AttentionSelection& selection = flags.request.selection;
  selection = file ? file->selection() : selection_of(flags.choice);
  if (flags.summary || flags.json) selection.one_layer = false;
  HeadSummary summary;
  TextWriter out;
  std::int64_t read = 0, cut = 0, blank = 0;
  for (std::string text; texts.next(text); ++read) {
    stop_if_interrupted();
    if (is_blank(text)) {
      ++blank;
      continue;
    }
    if (file && file->room() == 0 && !flags.summary) {
      file->leave_out(1);
      continue;
    }
    try {
      for (const AttentionMap& map : reader(request_of(reader, flags, text))) {
        cut += map.truncated > 0;
        if (flags.summary) summary.add(map, flags.choice);
        if (file) file->add(map);
        if (flags.json && !flags.summary) out.write(json_of(map, flags.choice) + "\n");
        if (!file && !flags.json && !flags.summary)
          out.write_styled(to_terminal(figure_of(std::span(&map, 1), flags.choice), terminal_of_output()));
      }
    } catch (const InputError& error) {
      throw InputError(texts.where() + ": " + text_of(error));
    }
    out.flush();
  }
  if (flags.summary && read > blank) out.write_styled(flags.json ? summary.json() : summary.table());
  out.finish();
  if (file) file->finish();
  warn_of_blank(blank, "no attention weights");
  warn_of(cut, "text", "cut: longer than the model's limit (--long truncate)");
}

void add_what_flags(Verb& verb, AttentionFlags& flags) {
  constexpr const char* kGroup = "What is shown";
  std::vector<std::string> views;
  views.reserve(std::size(kAttentionKindNames));
  for (const auto& [name, kind] : kAttentionKindNames) views.push_back(name);
  verb.add_option("--view", flags.view,
                  "Attention to show: self; with a translation model encoder, decoder or cross; with BiDAF "
                  "context-to-question or question-to-context")
      ->type_name("NAME")
      ->check(is_one_of(views))
      ->default_text("self; a translation model: cross; BiDAF: context-to-question")
      ->group(kGroup);
  Flag* layer = verb.add_option("--layer", flags.choice.layer, "Layer to show: 0 is the first, -1 the last");
  layer->type_name("N")->group(kGroup)->default_text("the last; in deep decoders, the last but one");
  Flag* head = verb.add_option("--head", flags.choice.head, "Head to show, counted from 0");
  head->type_name("N")->group(kGroup)->default_text("the mean of all heads");
  verb.add_flag("--average-layers", flags.choice.average, "Show the mean of all layers")
      ->group(kGroup)
      ->excludes(layer);
  verb.add_flag(
          "--rollout", flags.choice.rollout,
          "Show attention rollout: how much each input token contributes through all layers (Abnar & Zuidema 2020)")
      ->group(kGroup)
      ->excludes(layer)
      ->excludes(head)
      ->excludes("--average-layers");
  verb.add_flag("--words", flags.choice.words, "Show words instead of tokens")->group(kGroup);
  verb.add_option("--top-weights", flags.choice.top_k,
                  "Keep only the N largest weights of each row; JSON then has pairs of position and weight")
      ->type_name("N")
      ->check(kPositive)
      ->default_text("all")
      ->group(kGroup);
  verb.add_flag("--summary", flags.summary,
                "Print statistics of each head and of the rollout, averaged over all texts: entropy, distance, and the "
                "fractions of the weight on the previous, next and first token, on separators and on the same word")
      ->group(kGroup);
}

void add_writing_flags(Verb& verb, AttentionFlags& flags) {
  constexpr const char* kGroup = "Generation and translation";
  // A language model generates nothing unless --max-new-tokens is given.
  for (const char* name : {"max_new_tokens", "beam", "nbest"})
    add_generation_flag(verb, flags.request.search, name)->group(kGroup);
  verb.add_option("--target", flags.target, "Use this translation instead of the model's own")
      ->type_name("TEXT")
      ->group(kGroup);
  add_language_flags(verb, flags.request.source_language, flags.request.target_language, kGroup);
}

}  // namespace

void add_attention(Verb& program) {
  Verb* verb = program.add_subcommand("attention", "Show the attention weights of any layer and head");
  verb->group(kUseAModel);
  auto flags = std::make_shared<AttentionFlags>();
  verb->add_option("text", flags->texts, "Texts")->type_name("TEXT")->default_text("the lines of --input");
  add_model_flags(*verb, flags->model, flags->adapter);
  add_input_flag(*verb, flags->input)->excludes("text");
  Flag* output =
      verb->add_option("-o,--output", flags->output,
                       "Output file: a page with every layer and head (.html), a picture (.svg, .png) or data (.json)");
  output->type_name("FILE")->default_text("a picture in the terminal");
  verb->add_flag("--json", flags->json, "Print one JSON object per text: tokens, layers, views and more")
      ->excludes(output);
  add_long_text_flags(*verb, flags->request.max_tokens, flags->request.long_text,
                      "What to do with longer texts. error: stop; truncate: drop the end, with a warning",
                      /*may_split=*/false);
  add_what_flags(*verb, *flags);
  add_writing_flags(*verb, *flags);
  verb->footer(
      "The model is any folder that Attend reads, for example GPT-2, BERT, MarianMT, or one that Attend has trained.\n"
      "A tab separates two texts: a pair for BERT; a source and its translation for a translation model; a question\n"
      "and a text for BiDAF.\n"
      "Examples:\n"
      "  attend attention --model bert-base-uncased 'The cat sat on the mat.' --output cat.html\n"
      "  attend attention --model gpt2 'The trophy does not fit' --max-new-tokens 12 --layer 5 --head 1\n"
      "  attend attention --model opus-mt-en-de 'A man rides a horse.' --view cross --words --output horse.svg\n"
      "  attend attention --model bert-base-uncased --input texts.txt --summary");
  verb->callback([flags] {
    if (!flags->view.empty())
      for (const auto& [name, kind] : kAttentionKindNames)
        if (name == flags->view) flags->choice.view = kind;
    const bool pictures = flags->output.empty() ? !flags->json && !flags->summary : !is_json(flags->output);
    if (!pictures && (flags->choice.words || flags->choice.average))
      throw UsageError(flags->choice.words ? "--words" : "--average-layers",
                       "is for pictures only; data has every token and layer");
    finish_generation_flags(flags->request.search);
    run(*flags);
  });
}

}  // namespace attend::cli
