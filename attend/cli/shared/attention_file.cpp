#include "attend/cli/shared/attention_file.h"

#include <limits>

#include "attend/cli/shared/progress.h"
#include "attend/explain/attention_json.h"
#include "attend/explain/attention_page.h"
#include "attend/explain/png.h"
#include "attend/explain/svg.h"

namespace attend::cli {

struct AttentionFile::Form {
  virtual ~Form() = default;
  virtual AttentionSelection selection(const AttentionChoice& choice) const { return selection_of(choice); }
  virtual std::int64_t most() const { return 200; }
  virtual void add(const AttentionMap& map, const AttentionChoice& choice) = 0;
  virtual std::string finish() = 0;
};

namespace {

struct Picture : AttentionFile::Form {
  Figure figure;
  void add(const AttentionMap& map, const AttentionChoice& choice) override {
    Figure one = figure_of(std::span(&map, 1), choice);
    figure.caption = std::move(one.caption);
    figure.panels.push_back(std::move(one.panels.front()));
  }
};
struct SvgForm : Picture {
  std::string finish() override { return to_svg(figure); }
};

struct PngForm : Picture {
  PngForm(const std::string& flag, const std::string& path) {
    if (!has_png())
      throw UsageError(flag, path +
                                 ": this build of Attend has no PNG support; write .svg or .html, or "
                                 "configure with -DATTEND_PICTURES=ON");
  }
  std::string finish() override {
    if (!has_fonts()) warn("no font was found on this machine: the picture has no labels");
    return to_png(figure);
  }
};

struct HtmlForm : AttentionFile::Form {
  AttentionPage page;
  explicit HtmlForm(const AttentionChoice& choice) : page("Attention weights", choice) {}
  /// A page needs all layers and heads; the flags choose the one shown first.
  AttentionSelection selection(const AttentionChoice& /*choice*/) const override { return {}; }
  void add(const AttentionMap& map, const AttentionChoice& choice) override {
    matrix_of(map, choice);  // throws if the layer or head to show first does not exist
    page.add(map);
  }
  std::string finish() override { return page.html(); }
};

/// One JSON object per line and map. With a single map, the file is also a JSON document.
struct JsonForm : AttentionFile::Form {
  std::string lines;
  std::int64_t most() const override { return std::numeric_limits<std::int64_t>::max(); }
  AttentionSelection selection(const AttentionChoice& choice) const override {
    AttentionSelection all = selection_of(choice);
    all.one_layer = false;
    return all;
  }
  void add(const AttentionMap& map, const AttentionChoice& choice) override { lines += json_of(map, choice) + '\n'; }
  std::string finish() override { return std::move(lines); }
};

std::unique_ptr<AttentionFile::Form> form_of(const std::string& flag, const std::string& path,
                                             const AttentionChoice& choice) {
  if (path.ends_with(".html")) return std::make_unique<HtmlForm>(choice);
  if (path.ends_with(".svg")) return std::make_unique<SvgForm>();
  if (path.ends_with(".png")) return std::make_unique<PngForm>(flag, path);
  if (is_json(path)) return std::make_unique<JsonForm>();
  throw UsageError(flag, path + ": must end with .html, .svg, .png or .json");
}

}  // namespace

void add_attention_file_flags(Verb& verb, std::string& path, AttentionChoice& choice) {
  Flag* file = verb.add_option(
      "--attention", path,
      "Write the attention weights to this file: a page (.html), a picture (.svg, .png) or data (.json)");
  file->type_name("FILE");
  add_attention_choice_flags(verb, *file, choice);
}

void add_attention_choice_flags(Verb& verb, Flag& file, AttentionChoice& choice) {
  constexpr const char* kGroup = "Attention";
  file.group(kGroup);
  verb.add_option("--layer", choice.layer, "Layer to show: 0 is the first, -1 the last")
      ->default_text("the last")
      ->type_name("N")
      ->group(kGroup)
      ->needs(&file);
  verb.add_option("--head", choice.head, "Head to show, counted from 0")
      ->default_text("the mean of all heads")
      ->type_name("N")
      ->group(kGroup)
      ->needs(&file);
}

bool is_json(const std::string& path) { return path.ends_with(".json") || path.ends_with(".jsonl"); }

std::string json_of(const AttentionMap& map, const AttentionChoice& choice) {
  return to_json(map, {.top_k = choice.top_k, .rollout = choice.rollout});
}

AttentionSelection selection_of(const AttentionChoice& choice) {
  AttentionSelection selection;
  if (choice.view) selection.views = {*choice.view};
  if (choice.layer) selection.layers = {*choice.layer};
  if (choice.head) selection.heads = {*choice.head};
  selection.one_layer = !choice.average && !choice.rollout;
  return selection;
}

AttentionFile::AttentionFile(const std::string& flag, std::string path, AttentionChoice choice)
    : path_(std::move(path)), choice_(choice), form_(form_of(flag, path_, choice)), writer_(path_) {}
AttentionFile::~AttentionFile() = default;

AttentionSelection AttentionFile::selection() const { return form_->selection(choice_); }
std::int64_t AttentionFile::room() const { return form_->most() - shown_; }

void AttentionFile::add(const AttentionMap& map) {
  if (room() == 0) return leave_out(1);
  ++shown_;
  form_->add(map, choice_);
}

void AttentionFile::finish() {
  writer_.write(form_->finish());
  writer_.finish();
  if (shown_ == 0) warn(path_ + ": shows nothing, since there was no text");
  if (left_out_ > 0)
    warn(grouped(left_out_) + " texts are not in " + path_ + ": it shows the first " + grouped(form_->most()));
}

}  // namespace attend::cli
