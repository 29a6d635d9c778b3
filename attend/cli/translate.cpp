// attend translate: lines in one language to lines in another.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translator.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TranslateFlags {
  std::string model, output, attention_file;
  std::vector<std::string> input;
  TranslateOptions options;
  bool json = false, alignments = false;
};

/// Counts lines that could not be translated as they are.
class LineWarnings {
 public:
  void count(const Translation& t) {
    unfinished_ += !t.finished, truncated_ += t.truncated > 0, invalid_ += t.invalid > 0;
    split_ += t.pieces > 1, cut_ += t.cuts > 0;
  }
  void report() const {
    say(unfinished_, "translations cut before they ended (--max-new-tokens)");
    say(truncated_, "lines cut because they were too long (--long truncate)");
    say(split_, "lines translated in pieces because they were too long");
    say(cut_, "of them cut inside a sentence that is too long itself");
    say(invalid_, "lines with invalid UTF-8, which was replaced");
  }

 private:
  static void say(std::int64_t count, const std::string& what) {
    if (count > 0) warn(what + ": " + grouped(count));
  }
  std::int64_t unfinished_ = 0, truncated_ = 0, split_ = 0, cut_ = 0, invalid_ = 0;
};

/// One translation: as JSON, and as a line of text.
struct Rendered {
  Json json;
  std::string plain;
};
Rendered rendered(const std::string& source, const Translation& t, bool alignments) {
  Rendered r{{{"translation", t.text}, {"score", t.score}, {"ids", t.ids}}, t.text};
  if (!t.finished) r.json["finish"] = "length";
  if (alignments) {
    Json& pairs = r.json["alignments"] = Json::array();
    r.plain += '\t';
    for (const auto& [s, w] : align_words(source, t)) {
      r.plain += (pairs.empty() ? "" : " ") + std::to_string(s) + "-" + std::to_string(w);
      pairs.push_back({s, w});
    }
  }
  if (t.truncated > 0) r.json["truncated"] = t.truncated;
  if (t.pieces > 1) r.json["pieces"] = t.pieces;
  return r;
}

/// What the folder or the flags want, and do not get.
void warn_of_limits(const Translator& translator, const TranslateFlags& flags) {
  if (const auto& ignored = translator.generation().ignored; !ignored.empty()) {
    std::string keys;
    for (const std::string& key : ignored) keys += (keys.empty() ? "" : ", ") + key;
    warn(flags.model + ": what its generation_config.json says of these is not followed: " + keys);
  }
  const std::int64_t wanted = flags.options.search.max_new_tokens.value_or(0);
  if (const std::int64_t most = translator.max_new_tokens(flags.options.search.prefix.value_or(""));
      most > 0 && wanted > most)
    warn("--max-new-tokens " + std::to_string(wanted) + ": the model has positions for " + std::to_string(most) +
         ", so no translation gets longer");
}

/// A map for each piece of the source, of every hypothesis; blank lines, and translations in which nothing was said,
/// have none.
void add_maps(AttentionFile& file, const std::vector<Translation>& hypotheses) {
  for (const Translation& one : hypotheses) {
    for (const AttentionMap& map : one.maps) file.add(map);
    if (one.maps.empty() && one.pieces > 0 && file.room() == 0) file.leave_out(one.pieces);
  }
}

void run(TranslateFlags& flags) {
  std::optional<AttentionFile> attention;
  if (!flags.attention_file.empty())
    attention.emplace("--attention", flags.attention_file,
                      AttentionChoice{.layer = flags.options.layer, .head = flags.options.head});
  const Translator translator(flags.model);
  warn_of_weights(flags.model);
  warn_of_limits(translator, flags);
  const GenerationOptions& search = flags.options.search;
  LineReader reader(flags.input);
  TextWriter writer(flags.output);
  flags.options.attention = attention || flags.alignments;
  translator.check(flags.options);
  AttentionSelection shown;
  if (attention) shown = attention->selection();
  if (shown.one_layer) shown.views = {AttentionKind::cross};  // a picture has but one view
  ProgressBar bar("Translating", "B");
  LineWarnings warnings;
  // As many lines as make some batches: sorted by length together, written in their order. Those that only a picture
  // wants the attention of are a part of their own, so that it is computed for no others.
  const auto lines_at_once = [&]() -> std::size_t {
    const std::int64_t room = attention ? attention->room() : 0, nbest = search.nbest.value_or(1);
    const std::int64_t drawn = room > 0 ? std::max<std::int64_t>(room / nbest, 1) : 0;
    flags.options.attention = flags.alignments;
    flags.options.maps = drawn > 0 ? std::optional(shown) : std::nullopt;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(drawn > 0 ? drawn : 1024, 1, 1024));
  };
  std::int64_t bytes_before = 0;
  for (std::vector<std::string> lines; reader.next(lines, lines_at_once()); bytes_before = reader.bytes_read()) {
    const auto progress = [&](std::int64_t done, std::int64_t total) {
      bar.update(bytes_before + (reader.bytes_read() - bytes_before) * done / total, reader.total_bytes());
    };
    std::vector<std::vector<Translation>> results;
    try {
      results = translator(lines, flags.options, progress);
    } catch (const TextError& error) {
      const std::int64_t first = reader.lines_read() - static_cast<std::int64_t>(lines.size()) + 1;
      throw InputError(reader.where(first + static_cast<std::int64_t>(error.text)) + ": " + error.what());
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      warnings.count(results[i].front());
      if (attention) add_maps(*attention, results[i]);
      Json all = Json::array();
      for (const Translation& t : results[i]) {
        Rendered one = rendered(lines[i], t, flags.alignments);
        if (!flags.json) writer.write(one.plain + "\n");
        all.push_back(std::move(one.json));
      }
      // As many lines for each, so that line n of the output can be found.
      if (!flags.json && search.nbest && std::ssize(results[i]) < *search.nbest)
        writer.write(std::string(static_cast<std::size_t>(*search.nbest - std::ssize(results[i])), '\n'));
      if (flags.json) {
        Json json{{"source", lines[i]}};
        json.update(all.front());
        if (search.nbest) json["hypotheses"] = all;
        writer.write(as_line(json));
      }
    }
    writer.flush();
    bar.update(reader.bytes_read(), reader.total_bytes());
  }
  bar.erase();
  writer.finish();
  if (attention) attention->finish();
  warnings.report();
}

void add_attention_flags(Verb& verb, TranslateFlags& flags) {
  constexpr const char* kGroup = "Attention";
  verb.add_flag("--alignments", flags.alignments, "Append a tab and the word alignment, source-target: 0-0 1-2")
      ->group(kGroup);
  verb.add_option("--attention", flags.attention_file,
                  "Write the attention weights to this file: a page (.html), a picture (.svg, .png) or data (.json)")
      ->type_name("FILE")
      ->group(kGroup);
  verb.add_option("--layer", flags.options.layer, "Layer of the decoder: 0 is the first, -1 the last")
      ->default_text("the last; with more than four layers, the last but one")
      ->type_name("N")
      ->group(kGroup);
  verb.add_option("--head", flags.options.head, "Head of that layer, counted from 0")
      ->default_text("the mean of all heads")
      ->type_name("N")
      ->check(kNotNegative)
      ->group(kGroup);
}

}  // namespace

void add_translate(Verb& program) {
  Verb* verb = program.add_subcommand("translate", "Translate text, line by line");
  verb->group(kUseAModel);
  auto flags = std::make_shared<TranslateFlags>();
  TranslateOptions& options = flags->options;
  verb->add_option("-m,--model", flags->model, "Folder of the model")->type_name("DIR")->required();
  add_input_flag(*verb, flags->input);
  add_output_flag(*verb, flags->output);
  verb->add_flag("--json", flags->json,
                 "Print one JSON object per line: source, translation, score, ids; hypotheses with --nbest, alignments "
                 "with --alignments");
  add_long_text_flags(
      *verb, options.max_tokens, options.long_text,
      "What to do with longer lines. split: translate sentence by sentence; truncate: drop the end; error: stop");
  verb->add_option("--batch-tokens", options.batch_tokens, "Largest number of source tokens in a batch")
      ->type_name("N")
      ->check(kPositive);
  add_generation_flags(*verb, options.search, OptionModels::encoder_decoders);
  add_attention_flags(*verb, *flags);
  verb->footer(
      "Examples:\n"
      "  echo 'A man rides a horse.' | attend translate --model en-de\n"
      "  attend translate --model en-de --input test.en --output test.out --beam 5\n"
      "  attend translate --model en-de --input test.en --alignments --attention attention.html\n"
      "  attend translate --model en-de --sample --nbest 3 --temperature 0.8 --seed 7 --json");
  verb->callback([flags] {
    TranslateOptions& given = flags->options;
    if ((given.layer || given.head) && flags->attention_file.empty() && !flags->alignments)
      throw UsageError(given.layer ? "--layer" : "--head", "needs --attention or --alignments");
    finish_generation_flags(given.search);
    run(*flags);
  });
}

}  // namespace attend::cli
