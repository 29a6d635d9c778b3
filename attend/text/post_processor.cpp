#include "attend/text/post_processor.h"

#include <algorithm>

#include "attend/core/error.h"

namespace attend {
namespace {

LayoutSlot text(int which, std::int32_t type) { return {which, -1, type}; }
LayoutSlot special(std::int32_t id, std::int32_t type) { return {-1, id, type}; }

/// Applies a step to the layout.
struct Arrange {
  std::vector<LayoutSlot>& slots;
  bool pair;

  void operator()(const post_processor::ByteLevel&) const {}

  void operator()(const post_processor::Bert& step) const {
    slots = {special(step.cls.id, 0), text(0, 0), special(step.sep.id, 0)};
    if (pair) slots.insert(slots.end(), {text(1, 1), special(step.sep.id, 1)});
  }

  void operator()(const post_processor::Roberta& step) const {  // all types are 0
    slots = {special(step.cls.id, 0), text(0, 0), special(step.sep.id, 0)};
    if (pair) slots.insert(slots.end(), {special(step.sep.id, 0), text(1, 0), special(step.sep.id, 0)});
  }

  void operator()(const post_processor::Template& step) const {
    slots.clear();
    for (const auto& piece : pair ? step.pair : step.single) {
      if (piece.kind != post_processor::Template::Piece::special) {
        slots.push_back(text(piece.kind == post_processor::Template::Piece::second, piece.type_id));
        continue;
      }
      const auto token =
          std::ranges::find(step.special_tokens, piece.special_token, &post_processor::Template::Special::id);
      if (token == step.special_tokens.end())
        fail<InputError>("tokenizer", "the template names the special token \"", piece.special_token,
                         "\", which it does not define");
      for (const std::int32_t id : token->ids) slots.push_back(special(id, piece.type_id));
    }
  }
};

}  // namespace

std::vector<LayoutSlot> layout(const PostProcessor& processor, bool pair, bool special_tokens) {
  std::vector<LayoutSlot> slots = {text(0, 0)};
  if (pair) slots.push_back(text(1, 1));
  for (const post_processor::Step& step : processor)
    // Without special tokens BERT's step does nothing; the other steps still set the types.
    if (special_tokens || !std::holds_alternative<post_processor::Bert>(step)) std::visit(Arrange{slots, pair}, step);
  if (!special_tokens) std::erase_if(slots, [](const LayoutSlot& slot) { return slot.text < 0; });
  return slots;
}

Trimming trimming(const PostProcessor& processor) {
  Trimming result;
  for (const post_processor::Step& step : processor) {
    if (const auto* bytes = std::get_if<post_processor::ByteLevel>(&step); bytes && bytes->trim_offsets)
      result = {true, bytes->add_prefix_space};
    if (const auto* roberta = std::get_if<post_processor::Roberta>(&step); roberta && roberta->trim_offsets)
      result = {true, roberta->add_prefix_space};
  }
  return result;
}

}  // namespace attend
