// attend translate: translates lines.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "attend/cli/shared/attention_file.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/generation.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/language_flags.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/shared/resumable_output.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/tasks/translation/alignment.h"
#include "attend/tasks/translation/translator.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TranslateFlags {
  LineFlags lines;
  std::string attention_file;
  TranslateOptions options;
  bool alignments = false, resume = false, seed_given = false;
};

/// Counts lines that could not be translated as they are.
class LineWarnings {
 public:
  void count(const Translation& t) {
    unfinished_ += !t.finished, truncated_ += t.truncated > 0, invalid_ += t.invalid > 0;
    split_ += t.too_long, cut_ += t.cuts > 0;
  }
  void report() const {
    report(unfinished_, "translations cut before they ended (--max-new-tokens)");
    report(truncated_, "lines cut because they were too long (--long truncate)");
    report(split_, "lines translated in parts because they were too long");
    report(cut_, "lines with a sentence that was too long, and was cut into parts");
    report(invalid_, "lines with invalid UTF-8, which was replaced");
  }

 private:
  static void report(std::int64_t count, const std::string& what) {
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
  if (t.seed) r.json["seed"] = *t.seed;
  return r;
}

/// Warns of options of the folder or of flags that have no effect.
void warn_of_limits(const Translator& translator, const TranslateFlags& flags) {
  if (const auto& ignored = translator.generation().ignored; !ignored.empty()) {
    std::string keys;
    for (const std::string& key : ignored) keys += (keys.empty() ? "" : ", ") + key;
    warn(flags.lines.model + ": these keys of its generation_config.json are not supported: " + keys);
  }
  const std::int64_t wanted = flags.options.search.max_new_tokens.value_or(0);
  if (const std::int64_t most = translator.max_new_tokens(flags.options.search.prefix.value_or(""));
      most > 0 && wanted > most)
    warn("--max-new-tokens " + std::to_string(wanted) + ": the model has positions for " + std::to_string(most) +
         ", so no translation gets longer");
}

/// A map for each sentence of the source, of every hypothesis. Blank lines and empty translations have none.
void add_maps(AttentionFile& file, const std::vector<Translation>& hypotheses) {
  for (const Translation& one : hypotheses) {
    for (const AttentionMap& map : one.maps) file.add(map);
    if (one.maps.empty() && one.pieces > 0 && file.room() == 0) file.leave_out(one.pieces);
  }
}

/// The lines of one source: as text, or as a JSON object.
std::string output_of(const std::string& source, const std::vector<Translation>& translations,
                      const TranslateFlags& flags) {
  const std::optional<std::int64_t>& nbest = flags.options.search.nbest;
  std::string text;
  Json all = Json::array();
  for (const Translation& t : translations) {
    Rendered one = rendered(source, t, flags.alignments);
    text += one.plain + "\n";
    all.push_back(std::move(one.json));
  }
  if (flags.lines.json) {
    Json json{{"source", source}};
    json.update(all.front());
    if (nbest) json["hypotheses"] = all;
    return as_line(json);
  }
  // Each source has the same number of lines, so that line n of the output can be found.
  if (nbest && std::ssize(translations) < *nbest)
    text.append(static_cast<std::size_t>(*nbest - std::ssize(translations)), '\n');
  return text;
}

/// Changes with the model and with every option that changes the output.
std::uint64_t fingerprint_of(const TranslateFlags& flags) {
  Fingerprint all;
  std::set<std::filesystem::path> files;
  std::vector<std::filesystem::path> folders{flags.lines.model};
  if (!flags.lines.adapter.empty()) folders.emplace_back(flags.lines.adapter);
  for (const std::filesystem::path& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      const bool is_model = name == "config.json" || name == "generation_config.json" || name == "tokenizer.json" ||
                            name.starts_with("vocab.") || name.ends_with(".safetensors") || name.ends_with(".bin") ||
                            name.ends_with(".spm") || name.ends_with(".model");
      if (is_model) files.insert(entry.path());
    }
  for (const std::filesystem::path& file : files) all.add_file(file);
  const TranslateOptions& o = flags.options;
  visit_options([&]<typename T>(const Option<T>& option) {
    const std::optional<T>& value = o.search.*option.field;
    if (!value || (!flags.seed_given && std::string_view(option.name) == "seed")) return;
    all.add(option.name);
    if constexpr (std::is_same_v<T, std::string>)
      all.add(*value);
    else if constexpr (std::is_same_v<T, std::vector<std::string>>)
      for (const std::string& text : *value) all.add(text);
    else if constexpr (std::is_same_v<T, double>)
      all.add(std::bit_cast<std::uint64_t>(*value));
    else if constexpr (!std::is_same_v<T, std::vector<LogitBias>>)
      all.add(static_cast<std::uint64_t>(*value));
  });
  for (const std::int64_t number :
       {o.max_tokens, static_cast<std::int64_t>(o.long_text),
        o.sentences ? static_cast<std::int64_t>(*o.sentences) : -1, o.layer.value_or(-1000), o.head.value_or(-1000)})
    all.add(static_cast<std::uint64_t>(number));
  all.add(o.source_language).add(o.target_language);
  all.add(std::uint64_t{flags.lines.json}).add(std::uint64_t{flags.alignments});
  return all.value();
}

/// Translates blocks of lines, and writes them.
class Work {
 public:
  explicit Work(TranslateFlags& flags)
      : flags_(flags),
        attention_(attention_file(flags)),
        translator_(open_model(flags.lines.model, flags.lines.adapter)) {
    const std::string& output = flags.lines.output;
    warn_of_weights(flags.lines.model);
    warn_of_limits(translator_, flags);
    flags.options.attention = attention_ || flags.alignments;
    translator_.check(flags.options);
    if (attention_) shown_ = attention_->selection();
    if (shown_.one_layer) shown_.views = {AttentionKind::cross};  // a picture has only one view
    if (flags.resume && attention_)
      throw UsageError("--resume", "cannot be used with --attention, which needs all lines");
    if (flags.resume || (flags.lines.texts.empty() && !attention_ && ResumableOutput::can_write(output))) {
      resumable_.emplace(output, fingerprint_of(flags), flags.resume);
      if (resumable_->seed) flags.options.search.seed = resumable_->seed;
      resumable_->seed = flags.options.search.seed;
    } else {
      writer_.emplace(output);
    }
  }

  /// How many lines to read next: enough for several batches, which are sorted by length together. The lines that
  /// --attention draws are a block of their own, so that attention is computed for no others.
  std::size_t block() {
    const std::int64_t room = attention_ ? attention_->room() : 0, nbest = flags_.options.search.nbest.value_or(1);
    const std::int64_t drawn = room > 0 ? std::max<std::int64_t>(room / nbest, 1) : 0;
    flags_.options.attention = flags_.alignments;
    flags_.options.maps = drawn > 0 ? std::optional(shown_) : std::nullopt;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(drawn > 0 ? drawn : 1024, 1, 1024));
  }
  void skip_done(LineReader& reader) {
    if (resumable_) resumable_->skip_done(reader);
  }
  void translate(const std::vector<std::string>& lines, const Progress& progress) {
    const auto results = translator_(lines, flags_.options, progress);
    std::string output;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      warnings_.count(results[i].front());
      if (attention_) add_maps(*attention_, results[i]);
      output += output_of(lines[i], results[i], flags_);
    }
    if (resumable_) return resumable_->add(lines, output);
    writer_->write(output), writer_->flush();
  }
  void finish() {
    resumable_ ? resumable_->finish() : writer_->finish();
    if (attention_) attention_->finish();
    warnings_.report();
  }
  std::string hint() const { return resumable_ ? resumable_->hint() : ""; }

 private:
  static std::optional<AttentionFile> attention_file(const TranslateFlags& flags) {
    if (flags.attention_file.empty()) return std::nullopt;
    return std::optional<AttentionFile>(std::in_place, "--attention", flags.attention_file,
                                        AttentionChoice{.layer = flags.options.layer, .head = flags.options.head});
  }

  TranslateFlags& flags_;
  std::optional<AttentionFile> attention_;  // first: throws if it cannot write, before a model is loaded
  Translator translator_;
  AttentionSelection shown_;
  LineWarnings warnings_;
  std::optional<ResumableOutput> resumable_;
  std::optional<TextWriter> writer_;
};

void run(TranslateFlags& flags) {
  Work work(flags);
  const TextWork translate = [&](const auto& lines, const Progress& progress) { work.translate(lines, progress); };
  try {
    if (flags.lines.texts.empty()) {
      LineReader reader(flags.lines.input);
      work.skip_done(reader);
      for_line_blocks(reader, "Translating", translate, [&] { return work.block(); });
    } else {
      work.block();
      for_text_blocks(flags.lines, "Translating", translate);
    }
  } catch (...) {
    if (const std::string hint = work.hint(); !hint.empty()) tell(hint);
    throw;
  }
  work.finish();
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
  add_line_flags(*verb, flags->lines);
  Flag* resume = verb->add_flag("--resume", flags->resume,
                                "Continue a run with --output that was stopped: same command, same input");
  resume->needs(verb->get_option("--output"))->excludes(verb->get_option("text"));
  verb->add_flag("--json", flags->lines.json,
                 "Print one JSON object per line: source, translation, score, ids; hypotheses with --nbest, alignments "
                 "with --alignments, seed with --sample");
  add_language_flags(*verb, options.source_language, options.target_language);
  add_choice<std::optional<SentenceMode>, SentenceMode>(
      *verb, "--sentences", options.sentences, kSentenceModeNames,
      "How lines are translated. split: each sentence by itself; whole: the whole line. One of")
      ->default_text("as the model was trained");
  add_long_text_flags(*verb, options.max_tokens, options.long_text,
                      "What to do with longer lines or sentences. split: translate parts of them; truncate: drop the "
                      "end; error: stop");
  verb->add_option("--batch-tokens", options.batch_tokens, "Largest number of source tokens in a batch")
      ->type_name("N")
      ->check(kPositive);
  add_generation_flags(*verb, options.search, OptionModels::encoder_decoders);
  add_attention_flags(*verb, *flags);
  verb->footer(
      "Examples:\n"
      "  attend translate --model en-de 'A man rides a horse.'\n"
      "  attend translate --model en-de --input test.en --output test.out --beam 5\n"
      "  attend translate --model en-de --input test.en --output test.out --beam 5 --resume\n"
      "  attend translate --model en-de --input test.en --alignments --attention attention.html\n"
      "  attend translate --model nllb-200 --source-lang eng_Latn --target-lang deu_Latn 'A man rides a horse.'\n"
      "  attend translate --model en-de --sample --nbest 3 --temperature 0.8 --seed 7 --json");
  verb->callback([flags] {
    TranslateOptions& given = flags->options;
    if ((given.layer || given.head) && flags->attention_file.empty() && !flags->alignments)
      throw UsageError(given.layer ? "--layer" : "--head", "needs --attention or --alignments");
    flags->seed_given = given.search.seed.has_value();
    finish_generation_flags(given.search);
    run(*flags);
  });
}

}  // namespace attend::cli
