#include "attend/text/special_texts.h"

#include <algorithm>
#include <utility>

#include "attend/core/error.h"

namespace attend {
namespace {

using TemplatePiece = post_processor::Template::Piece;

/// The template: first text, end token, second text, end token, with types 0 and 1.
post_processor::Template ended_by(const std::string& end, std::int32_t id) {
  post_processor::Template ended;
  ended.single = {{TemplatePiece::first, "", 0}, {TemplatePiece::special, end, 0}};
  ended.pair = {{TemplatePiece::first, "", 0},
                {TemplatePiece::special, end, 0},
                {TemplatePiece::second, "", 1},
                {TemplatePiece::special, end, 1}};
  ended.special_tokens = {{end, {id}, {end}}};
  return ended;
}

}  // namespace

std::vector<std::string> SpecialTexts::all() const {
  std::vector<std::string> texts;
  auto add = [&](const std::string& text) {
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  };
  for (const std::string* text : {&padding, &unknown, &bos, &eos, &classify, &separator, &mask}) add(*text);
  for (const std::string& text : more) add(text);
  return texts;
}

Vocabulary vocabulary_of(const SpecialTexts& special, const std::vector<std::string>& others) {
  Vocabulary result;
  auto add = [&](const std::vector<std::string>& tokens) {
    for (const std::string& token : tokens)
      if (!result.id(token)) result.add(token, static_cast<std::int32_t>(result.size()));
  };
  add(special.all());
  add(others);
  return result;
}

void set_special(Tokenizer::Parts& parts, const SpecialTexts& texts, bool append_eos) {
  const Vocabulary& tokens = vocabulary(parts.model);
  auto id = [&](const std::string& text) { return text.empty() ? std::nullopt : tokens.id(text); };
  parts.special = {id(texts.bos),     id(texts.eos),      id(texts.unknown), id(texts.separator),
                   id(texts.padding), id(texts.classify), id(texts.mask)};
  for (const std::string& text : texts.all()) {
    AddedToken token;
    token.content = text;
    token.id = id(text).value();
    token.normalized = false;
    token.special = true;
    token.lstrip = text == texts.mask;  // as in BERT and RoBERTa
    parts.added_tokens.push_back(std::move(token));
  }
  if (parts.special.classify && parts.special.separator)
    parts.post_processor.emplace_back(
        post_processor::Bert{{texts.separator, *parts.special.separator}, {texts.classify, *parts.special.classify}});
  if (append_eos) {
    if (!parts.special.eos) fail<InputError>("train", "append_eos needs an eos token: got none");
    parts.post_processor.emplace_back(ended_by(texts.eos, *parts.special.eos));
  }
}

}  // namespace attend
