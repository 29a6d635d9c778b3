#include "attend/text/tokenizer_json.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "attend/core/json.h"
#include "attend/text/base64.h"
#include "attend/text/tokenizer_json_names.h"

namespace attend {
namespace {

// Each part of the file is null, an object with a "type", or a "Sequence" of such objects.

[[noreturn]] void unsupported(const JsonValue& part, std::string_view what, std::string_view type) {
  part.fail("the ", what, " \"", type, "\" is not supported; Attend reads what the families of BERT, GPT-2, RoBERTa, ",
            "MPNet, T5, XLM-R and Llama use");
}

std::string_view type_of(const JsonValue& part) { return part["type"].string(); }

/// Adds the steps of a part. A sequence adds all of its steps.
template <typename Step, typename Read>
void read_steps(const JsonValue& part, std::string_view list, std::vector<Step>& steps, const Read& read) {
  if (type_of(part) == "Sequence")
    part[list].each_element([&](const JsonValue& each) { read_steps(each, list, steps, read); });
  else
    steps.push_back(read(part, type_of(part)));
}

template <typename Step, typename Read>
std::vector<Step> read_part(const JsonValue& file, std::string_view key, std::string_view list, const Read& read) {
  std::vector<Step> steps;
  if (const std::optional<JsonValue> part = file.find(key)) read_steps(*part, list, steps, read);
  return steps;
}

Pattern read_pattern(const JsonValue& step) {
  const JsonValue pattern = step["pattern"];
  if (pattern.is_string()) return Pattern::string(std::string(pattern.string()));
  if (const auto text = pattern.find("String")) return Pattern::string(std::string(text->string()));
  const JsonValue regex = pattern["Regex"];
  try {
    return Pattern::regex(std::string(regex.string()));
  } catch (const InputError& error) {
    regex.fail(error.what());
  }
}

normalizer::Step read_normalizer(const JsonValue& step, std::string_view type) {
  if (type == "BertNormalizer") {
    normalizer::Bert bert;
    bert.clean_text = step.boolean("clean_text", true);
    bert.handle_chinese_chars = step.boolean("handle_chinese_chars", true);
    if (const auto strip = step.find("strip_accents")) bert.strip_accents = strip->boolean();
    bert.lowercase = step.boolean("lowercase", true);
    return bert;
  }
  using Form = decltype(normalizer::Unicode::form);
  if (type == "NFC") return normalizer::Unicode{Form::nfc};
  if (type == "NFD") return normalizer::Unicode{Form::nfd};
  if (type == "NFKC") return normalizer::Unicode{Form::nfkc};
  if (type == "NFKD") return normalizer::Unicode{Form::nfkd};
  if (type == "Lowercase") return normalizer::Lowercase{};
  if (type == "StripAccents") return normalizer::StripAccents{};
  if (type == "Strip") return normalizer::Strip{step.boolean("strip_left", true), step.boolean("strip_right", true)};
  if (type == "Replace") return normalizer::Replace{read_pattern(step), std::string(step["content"].string())};
  if (type == "Prepend") return normalizer::Prepend{std::string(step["prepend"].string())};
  if (type == "Precompiled") {
    std::string charsmap;
    if (const auto text = step.find("precompiled_charsmap"))
      if (!from_base64(text->string(), charsmap)) text->fail("not valid base64");
    return normalizer::Precompiled{std::move(charsmap)};
  }
  if (type == "Nmt") return normalizer::Nmt{};
  if (type == "ByteLevel") return normalizer::ByteLevel{};
  unsupported(step, "normalizer", type);
}

pre_tokenizer::Behavior read_behavior(const JsonValue& step) {
  const auto value = step.find("behavior");
  if (!value) return pre_tokenizer::Behavior::isolated;
  for (const auto& [name, behavior] : tokenizer_json::kBehaviors)
    if (value->string() == name) return behavior;
  value->fail_kind("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

/// Metaspace has the same fields in the pre-tokenizer and the decoder.
template <typename Metaspace>
Metaspace read_metaspace(const JsonValue& step) {
  using tokenizer_json::Prepend;
  Metaspace metaspace;
  metaspace.replacement = step.string("replacement", "▁");
  metaspace.split = step.boolean("split", true);
  const auto scheme = step.find("prepend_scheme");
  if (!scheme) {  // older files have add_prefix_space instead
    metaspace.prepend_scheme = step.boolean("add_prefix_space", true) ? Prepend::always : Prepend::never;
    return metaspace;
  }
  for (const auto& [name, prepend] : tokenizer_json::kPrepends)
    if (scheme->string() == name) {
      metaspace.prepend_scheme = prepend;
      return metaspace;
    }
  scheme->fail_kind("always, never or first");
}

pre_tokenizer::Step read_pre_tokenizer(const JsonValue& step, std::string_view type) {
  if (type == "BertPreTokenizer") return pre_tokenizer::Bert{};
  if (type == "ByteLevel")
    return pre_tokenizer::ByteLevel{step.boolean("add_prefix_space", true), step.boolean("trim_offsets", true),
                                    step.boolean("use_regex", true)};
  if (type == "Whitespace") return pre_tokenizer::Whitespace{};
  if (type == "WhitespaceSplit") return pre_tokenizer::WhitespaceSplit{};
  if (type == "Punctuation") return pre_tokenizer::Punctuation{read_behavior(step)};
  if (type == "Digits") return pre_tokenizer::Digits{step.boolean("individual_digits", false)};
  if (type == "Metaspace") return read_metaspace<pre_tokenizer::Metaspace>(step);
  if (type == "Split")
    return pre_tokenizer::Split{read_pattern(step), read_behavior(step), step.boolean("invert", false)};
  if (type == "CharDelimiterSplit") return pre_tokenizer::CharDelimiterSplit{std::string(step["delimiter"].string())};
  unsupported(step, "pre-tokenizer", type);
}

post_processor::Token read_pair(const JsonValue& pair) { return {std::string(pair[0].string()), pair[1].id()}; }

post_processor::Template::Piece read_piece(const JsonValue& piece) {
  if (const auto special = piece.find("SpecialToken"))
    return {post_processor::Template::Piece::special, std::string((*special)["id"].string()),
            (*special)["type_id"].id()};
  const JsonValue sequence = piece["Sequence"];
  const std::string_view id = sequence["id"].string();
  if (id != "A" && id != "B") sequence["id"].fail_kind("A or B");
  return {id == "A" ? post_processor::Template::Piece::first : post_processor::Template::Piece::second, "",
          sequence["type_id"].id()};
}

post_processor::Step read_template(const JsonValue& step) {
  post_processor::Template result;
  step["special_tokens"].each_member([&](std::string_view, const JsonValue& value) {
    post_processor::Template::Special special{std::string(value["id"].string()), {}, {}};
    value["ids"].each_element([&](const JsonValue& id) { special.ids.push_back(id.id()); });
    value["tokens"].each_element([&](const JsonValue& token) { special.tokens.emplace_back(token.string()); });
    if (special.ids.size() != special.tokens.size()) value.fail("as many ids as tokens are expected");
    result.special_tokens.push_back(std::move(special));
  });
  const auto read_pieces = [&](std::string_view key, std::vector<post_processor::Template::Piece>& pieces) {
    step[key].each_element([&](const JsonValue& value) {
      pieces.push_back(read_piece(value));
      if (pieces.back().kind != post_processor::Template::Piece::special) return;
      if (std::ranges::find(result.special_tokens, pieces.back().special_token,
                            &post_processor::Template::Special::id) == result.special_tokens.end())
        value.fail("\"", pieces.back().special_token, "\" is not among the special_tokens");
    });
  };
  read_pieces("single", result.single);
  read_pieces("pair", result.pair);
  const auto count = [](const std::vector<post_processor::Template::Piece>& pieces, auto kind) {
    return std::ranges::count(pieces, kind, &post_processor::Template::Piece::kind);
  };
  using Piece = post_processor::Template::Piece;
  if (count(result.single, Piece::first) != 1 || count(result.single, Piece::second) != 0)
    step["single"].fail("expected the sequence A once, and no other");
  if (count(result.pair, Piece::first) != 1 || count(result.pair, Piece::second) != 1)
    step["pair"].fail("expected the sequences A and B once each");
  return result;
}

post_processor::Step read_post_processor(const JsonValue& step, std::string_view type) {
  if (type == "BertProcessing") return post_processor::Bert{read_pair(step["sep"]), read_pair(step["cls"])};
  if (type == "RobertaProcessing")
    return post_processor::Roberta{read_pair(step["sep"]), read_pair(step["cls"]), step.boolean("trim_offsets", true),
                                   step.boolean("add_prefix_space", true)};
  if (type == "ByteLevel")
    return post_processor::ByteLevel{step.boolean("add_prefix_space", true), step.boolean("trim_offsets", true),
                                     step.boolean("use_regex", true)};
  if (type == "TemplateProcessing") return read_template(step);
  unsupported(step, "post-processor", type);
}

decoder::Step read_decoder(const JsonValue& step, std::string_view type) {
  if (type == "ByteLevel") return decoder::ByteLevel{};
  if (type == "WordPiece") return decoder::WordPiece{step.string("prefix", "##"), step.boolean("cleanup", true)};
  if (type == "Metaspace") return read_metaspace<decoder::Metaspace>(step);
  if (type == "BPEDecoder") return decoder::Bpe{step.string("suffix", "</w>")};
  if (type == "Fuse") return decoder::Fuse{};
  if (type == "ByteFallback") return decoder::ByteFallback{};
  if (type == "Replace") return decoder::Replace{read_pattern(step), std::string(step["content"].string())};
  if (type == "Strip")
    return decoder::Strip{std::string(step["content"].string()), step["start"].id(), step["stop"].id()};
  unsupported(step, "decoder", type);
}

std::optional<std::string> optional_string(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value ? std::optional<std::string>(value->string()) : std::nullopt;
}

/// Reads a merge: a list of two tokens, or, in older files, a string with a space between them.
std::pair<std::string_view, std::string_view> read_merge(const JsonValue& merge) {
  if (merge.is_array()) {
    if (merge.size() != 2) merge.fail("got ", merge.size(), " tokens, expected the two that are merged");
    return {merge[0].string(), merge[1].string()};
  }
  const std::string_view text = merge.string();
  const std::size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) merge.fail_kind("two tokens with a space between");
  return {text.substr(0, space), text.substr(space + 1)};
}

Bpe read_bpe(const JsonValue& model) {
  if (const auto dropout = model.find("dropout"); dropout && dropout->number() != 0)
    dropout->fail("merges that are left out at random are not supported; set it to null");
  BpeOptions options;
  options.unk_token = optional_string(model, "unk_token");
  options.continuing_subword_prefix = model.string("continuing_subword_prefix", "");
  options.end_of_word_suffix = model.string("end_of_word_suffix", "");
  options.fuse_unk = model.boolean("fuse_unk", false);
  options.byte_fallback = model.boolean("byte_fallback", false);
  options.ignore_merges = model.boolean("ignore_merges", false);
  Vocabulary vocabulary = read_vocabulary(model["vocab"]);
  std::vector<BpeMerge> merges;
  merges.reserve(model["merges"].size());
  model["merges"].each_element([&](const JsonValue& merge) {
    const auto [left, right] = read_merge(merge);
    const auto id = [&](std::string_view token) {
      const auto found = vocabulary.id(token);
      if (!found) merge.fail("the token \"", token, "\" is not in the vocabulary");
      return *found;
    };
    merges.push_back({id(left), id(right)});
  });
  return Bpe(std::move(vocabulary), std::move(merges), std::move(options));
}

WordPiece read_wordpiece(const JsonValue& model) {
  WordPieceOptions options;
  options.unk_token = model.string("unk_token", options.unk_token);
  options.continuing_subword_prefix = model.string("continuing_subword_prefix", options.continuing_subword_prefix);
  if (const auto most = model.find("max_input_chars_per_word")) options.max_input_chars_per_word = most->id();
  return WordPiece(read_vocabulary(model["vocab"]), std::move(options));
}

Unigram read_unigram(const JsonValue& model) {
  UnigramOptions options;
  if (const auto unknown = model.find("unk_id")) options.unk_id = unknown->id();
  options.byte_fallback = model.boolean("byte_fallback", false);
  Vocabulary vocabulary;
  std::vector<double> scores;
  model["vocab"].each_element([&](const JsonValue& piece) {
    if (piece.size() != 2) piece.fail("got ", piece.size(), " elements, expected a piece and its score");
    vocabulary.add(piece[0].string(), static_cast<std::int32_t>(scores.size()));
    scores.push_back(piece[1].number());
  });
  return Unigram(std::move(vocabulary), std::move(scores), options);
}

WordLevel read_word_level(const JsonValue& model) {
  return WordLevel(read_vocabulary(model["vocab"]), {model.string("unk_token", "<unk>")});
}

SubwordModel read_model(const JsonValue& model) {
  std::string type = model.string("type", "");
  if (type.empty())  // older files have no type
    type = model.find("merges")                     ? "BPE"
           : model["vocab"].is_array()              ? "Unigram"
           : model.find("max_input_chars_per_word") ? "WordPiece"
                                                    : "WordLevel";
  try {
    if (type == "BPE") return read_bpe(model);
    if (type == "WordPiece") return read_wordpiece(model);
    if (type == "Unigram") return read_unigram(model);
    if (type == "WordLevel") return read_word_level(model);
  } catch (const InputError& error) {
    if (std::string_view(error.what()).find(model.place()) != std::string_view::npos) throw;
    model.fail(error.what());  // the error of a constructor, which does not know the file
  }
  unsupported(model, "model", type);
}

std::vector<AddedToken> read_added_tokens(const JsonValue& file) {
  std::vector<AddedToken> tokens;
  if (const auto list = file.find("added_tokens"))
    list->each_element([&](const JsonValue& value) {
      tokens.push_back(read_added_token(value));
      tokens.back().id = value["id"].id();
    });
  return tokens;
}

/// The ids and tokens that a step of the post-processor adds.
std::vector<post_processor::Token> tokens_of(const post_processor::Step& step) {
  std::vector<post_processor::Token> tokens;
  if (const auto* bert = std::get_if<post_processor::Bert>(&step)) tokens = {bert->sep, bert->cls};
  if (const auto* roberta = std::get_if<post_processor::Roberta>(&step)) tokens = {roberta->sep, roberta->cls};
  if (const auto* made = std::get_if<post_processor::Template>(&step))
    for (const post_processor::Template::Special& special : made->special_tokens)
      for (std::size_t i = 0; i < special.ids.size(); ++i) tokens.push_back({special.tokens[i], special.ids[i]});
  return tokens;
}

}  // namespace

Tokenizer::Parts read_tokenizer_json(std::string_view text, const std::string& file) {
  const JsonDocument document(text, file, "tokenizer");
  const JsonValue root = document.root();
  Tokenizer::Parts parts;
  parts.normalizer = read_part<normalizer::Step>(root, "normalizer", "normalizers", read_normalizer);
  parts.pre_tokenizer = read_part<pre_tokenizer::Step>(root, "pre_tokenizer", "pretokenizers", read_pre_tokenizer);
  parts.post_processor = read_part<post_processor::Step>(root, "post_processor", "processors", read_post_processor);
  parts.decoder = read_part<decoder::Step>(root, "decoder", "decoders", read_decoder);
  parts.model = read_model(root["model"]);
  parts.added_tokens = read_added_tokens(root);
  check_ids(parts, file);
  return parts;
}

Vocabulary read_vocabulary(const JsonValue& object) {
  struct Entry {
    std::string_view token;
    std::int32_t id;
  };
  std::vector<Entry> entries;
  entries.reserve(object.size());
  std::size_t bytes = 0;
  object.each_member([&](std::string_view token, const JsonValue& id) {
    entries.push_back({token, id.id()});
    bytes += token.size();
  });
  std::ranges::sort(entries, {}, &Entry::id);
  Vocabulary vocabulary;
  vocabulary.reserve(static_cast<std::int64_t>(entries.size()), static_cast<std::int64_t>(bytes));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [token, id] = entries[i];
    if (i > 0 && id == entries[i - 1].id)
      object[token].fail("the id ", id, " also belongs to \"", entries[i - 1].token, "\"");
    try {
      vocabulary.add(token, id);
    } catch (const InputError& error) {
      object[token].fail(error.what());
    }
  }
  return vocabulary;
}

AddedToken read_added_token(const JsonValue& object) {
  AddedToken token;
  token.content = object["content"].string();
  if (token.content.empty()) object["content"].fail("an added token must not be empty");
  token.single_word = object.boolean("single_word", false);
  token.lstrip = object.boolean("lstrip", false);
  token.rstrip = object.boolean("rstrip", false);
  token.special = object.boolean("special", false);
  token.normalized = object.boolean("normalized", !token.special);
  return token;
}

void check_ids(const Tokenizer::Parts& parts, const std::string& file) {
  const Vocabulary& model = vocabulary(parts.model);
  const auto wrong = [&](const auto&... what) { fail<InputError>("tokenizer", file, ": ", what...); };
  std::map<std::int32_t, std::string_view> added;
  std::set<std::string_view> contents;
  for (const AddedToken& token : parts.added_tokens) {
    const auto known = model.id(token.content);
    if (known && *known != token.id)
      wrong("the added token \"", token.content, "\" has the id ", token.id, ", but ", *known, " in the vocabulary");
    if (!known && model.contains(token.id))
      wrong("the added token \"", token.content, "\" has the id ", token.id, " of \"", model.token(token.id), "\"");
    if (!added.emplace(token.id, token.content).second)
      wrong("the added tokens \"", added[token.id], "\" and \"", token.content, "\" have the same id ", token.id);
    if (!contents.insert(token.content).second) wrong("the added token \"", token.content, "\" is there twice");
  }
  // A few ids may be unused, since sizes are often rounded up; many unused ids are an error that would cost memory.
  constexpr std::int64_t kUnused = 1 << 20;
  if (!added.empty() && added.rbegin()->first > model.size() + static_cast<std::int64_t>(added.size()) + kUnused)
    wrong("the added token \"", added.rbegin()->second, "\" has the id ", added.rbegin()->first,
          ", but the vocabulary ends at ", model.size());
  for (const post_processor::Step& step : parts.post_processor)
    for (const post_processor::Token& token : tokens_of(step))
      if (!model.contains(token.id) && !added.contains(token.id))
        wrong("the post-processor adds \"", token.token, "\" with the id ", token.id, ", which no token has");
}

}  // namespace attend
