// attend fill-mask: predicts the tokens at the masks of a text.
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/explain/page.h"
#include "attend/tasks/masked_lm/mask_filler.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FillMaskFlags {
  LineFlags lines;
  FillOptions options;
};

std::string json_line(const std::string& text, const FilledText& filled) {
  Json masks = Json::array();
  for (const FilledMask& mask : filled.masks) {
    Json candidates = Json::array();
    for (const MaskCandidate& c : mask.candidates)
      candidates.push_back({{"token", c.token}, {"id", c.id}, {"prob", c.probability}, {"text", filled.with(mask, c)}});
    masks.push_back({{"position", mask.position}, {"candidates", std::move(candidates)}});
  }
  Json json{{"text", text}, {"masks", std::move(masks)}};
  if (filled.truncated > 0) json["truncated"] = filled.truncated;
  return as_line(json);
}

/// One line per candidate, and an empty line after each mask.
std::string text_lines(const FilledText& filled) {
  std::string out;
  for (const FilledMask& mask : filled.masks) {
    for (const MaskCandidate& c : mask.candidates) {
      const std::size_t begin = std::min(c.token.find_first_not_of(' '), c.token.size());
      out += fixed(c.probability, 4) + "\t" + c.token.substr(begin) + "\t" + filled.with(mask, c) + "\n";
    }
    out += "\n";
  }
  return out.empty() ? "\n" : out;
}

void run(const FillMaskFlags& flags) {
  const MaskFiller filler(open_model(flags.lines.model, flags.lines.adapter));
  warn_of_weights(flags.lines.model);
  TextWriter writer(flags.lines.output);
  std::int64_t texts = 0, filled = 0, lost = 0;
  std::vector<std::string> without;  // numbers of texts
  const TextCounts counts = write_results(
      flags.lines, "Filling", writer,
      [&](const auto& block, const Progress& progress) { return filler(block, flags.options, progress); },
      [&](const std::string& text, const FilledText& result) {
        ++texts, filled += !result.masks.empty(), lost += result.lost_masks;
        if (result.masks.empty() && result.lost_masks == 0) without.push_back(std::to_string(texts));
        return flags.lines.json ? json_line(text, result) : text_lines(result);
      });
  if (texts > counts.blank && filled == 0)
    fail<InputError>("fill-mask", "there is nothing to fill in: ",
                     lost > 0 ? "each mask is in the part of its text that was cut; use --long split"
                              : "write [MASK] in place of a word");
  writer.finish();
  if (!without.empty())
    warn(counted(std::ssize(without), "text") + (without.size() == 1 ? " has" : " have") +
         " no mask: " + listed(without));
  warn_of_cut(counts.cut, "text");
  warn_of(lost, "mask", "in a part that was cut, and not filled (--long split fills them)");
}

}  // namespace

void add_fill_mask(Verb& program) {
  Verb* verb = program.add_subcommand("fill-mask", "Predict the words at the masks of a text");
  verb->group(kUseAModel);
  auto flags = std::make_shared<FillMaskFlags>();
  add_line_flags(*verb, flags->lines, "Texts with [MASK] or <mask>");
  verb->add_option("--top", flags->options.top, "Number of words to print for each mask, the most probable first")
      ->type_name("N")
      ->check(kPositive);
  add_long_text_flags(
      *verb, flags->options.max_tokens, flags->options.long_text,
      "What to do with longer lines. error: stop; truncate: drop the end; split: use the text around each mask");
  verb->add_flag("--json", flags->lines.json,
                 "Print one JSON object per line: text, masks (position, candidates: token, id, prob)");
  verb->footer(
      "Prints probability, word and the text with the word; an empty line follows the words of each mask.\n"
      "Examples:\n"
      "  attend fill-mask --model bert-base-uncased 'Paris is the [MASK] of France.'\n"
      "  attend fill-mask --model roberta-base --input lines.txt --top 3 --json");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
