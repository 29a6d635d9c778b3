// attend fill-mask: the words that fit where a text hides them.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/bert_flags.h"
#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/tasks/masked_lm/mask_filler.h"
#include "attend/explain/page.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FillMaskFlags {
  std::string model, output;
  TextFlags texts;
  FillOptions options;
  bool json = false;
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
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A line a candidate, and an empty one behind each mask.
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

class Filler {
 public:
  explicit Filler(const FillMaskFlags& flags) : flags_(flags), filler_(flags.model), writer_(flags.output) {}

  void fill(const std::vector<std::string>& texts, const Progress& progress) {
    const std::vector<FilledText> filled = filler_(texts, flags_.options, progress);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ++texts_, truncated_ += filled[i].truncated > 0, lost_ += filled[i].lost_masks;
      if (filled[i].masks.empty() && filled[i].lost_masks == 0) without_.push_back(std::to_string(texts_));
      filled_ += !filled[i].masks.empty();
      writer_.write(flags_.json ? json_line(texts[i], filled[i]) : text_lines(filled[i]));
    }
    writer_.flush();
  }
  void finish() {
    if (texts_ > 0 && filled_ == 0)
      fail<InputError>("fill-mask", "there is nothing to fill in: ",
                       lost_ > 0 ? "each mask stands where the text was cut; --long split fills it with what is around"
                                 : "write [MASK] where a word is hidden");
    writer_.finish();
    if (!without_.empty())
      warn(counted(std::ssize(without_), "text") + (without_.size() == 1 ? " has" : " have") +
           " no mask: " + listed(without_));
    warn_of(truncated_, "text", "cut: longer than --max-tokens, or than the model takes");
    warn_of(lost_, "mask", "lost by that (--long split fills it with what is around)");
  }

 private:
  const FillMaskFlags& flags_;
  MaskFiller filler_;
  TextWriter writer_;
  std::int64_t texts_ = 0, filled_ = 0, truncated_ = 0, lost_ = 0;
  std::vector<std::string> without_;  // numbers of texts
};

void run(const FillMaskFlags& flags) {
  Filler filler(flags);
  warn_of_weights(flags.model);
  for_text_blocks(flags.texts, "Filling", [&](const std::vector<std::string>& texts, const Progress& progress) {
    filler.fill(texts, progress);
  });
  filler.finish();
}

}  // namespace

void add_fill_mask(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("fill-mask", "The words that fit where a text hides them");
  verb->group(kUseAModel);
  auto flags = std::make_shared<FillMaskFlags>();
  add_model_flag(*verb, flags->model);
  add_text_flags(*verb, flags->texts, "Texts with [MASK] or <mask>");
  add_output_flag(*verb, flags->output);
  verb->add_option("--top", flags->options.top, "Words for each mask, the most probable first")
      ->type_name("N")
      ->check(kPositive)
      ->capture_default_str();
  add_long_text_flags(*verb, flags->options.max_tokens, flags->options.long_text,
                      "Longer lines: error stops, truncate drops their end, split fills each mask with what is "
                      "around it");
  verb->add_flag("--json", flags->json, "One JSON object a line: text, masks (position, candidates: token, id, prob)");
  verb->footer(
      "Prints probability, word and the text with it; an empty line ends each mask.\n"
      "Examples:\n"
      "  attend fill-mask --model bert-base-uncased 'Paris is the [MASK] of France.'\n"
      "  attend fill-mask --model roberta-base --input lines.txt --top 3 --json");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
