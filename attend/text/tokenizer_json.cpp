#include "attend/text/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "attend/text/base64.h"
#include "attend/text/json.h"

namespace attend {
namespace {

// Reading. Each part of the file is an object with a "type", null, or a "Sequence" of them under a name of its own.

[[noreturn]] void unsupported(const JsonValue& part, std::string_view what, std::string_view type) {
  part.fail("the ", what, " \"", type, "\" is not supported; Attend reads what the families of BERT, GPT-2, RoBERTa, ",
            "MPNet, T5, XLM-R and Llama use");
}

std::string_view type_of(const JsonValue& part) { return part["type"].string(); }

/// Adds the steps of a part, those of sequences one after the other.
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

constexpr std::array<std::pair<std::string_view, pre_tokenizer::Behavior>, 5> kBehaviors = {{
    {"Removed", pre_tokenizer::Behavior::removed},
    {"Isolated", pre_tokenizer::Behavior::isolated},
    {"MergedWithPrevious", pre_tokenizer::Behavior::merged_with_previous},
    {"MergedWithNext", pre_tokenizer::Behavior::merged_with_next},
    {"Contiguous", pre_tokenizer::Behavior::contiguous},
}};

pre_tokenizer::Behavior read_behavior(const JsonValue& step) {
  const auto value = step.find("behavior");
  if (!value) return pre_tokenizer::Behavior::isolated;
  for (const auto& [name, behavior] : kBehaviors)
    if (value->string() == name) return behavior;
  value->fail_kind("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

using Prepend = pre_tokenizer::Metaspace::Prepend;
constexpr std::array<std::pair<std::string_view, Prepend>, 3> kPrepends = {
    {{"always", Prepend::always}, {"never", Prepend::never}, {"first", Prepend::first}}};

/// The pre-tokenizer's and the decoder's have the same fields.
template <typename Metaspace>
Metaspace read_metaspace(const JsonValue& step) {
  Metaspace metaspace;
  metaspace.replacement = step.string("replacement", "▁");
  metaspace.split = step.boolean("split", true);
  const auto scheme = step.find("prepend_scheme");
  if (!scheme) {  // older files have a flag instead
    metaspace.prepend_scheme = step.boolean("add_prefix_space", true) ? Prepend::always : Prepend::never;
    return metaspace;
  }
  for (const auto& [name, prepend] : kPrepends)
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

/// Two tokens, as a list of both, or as older files have it: with a space between.
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
  if (type.empty())  // older files do not say
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
    model.fail(error.what());  // a constructor's, which does not know the file
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

/// All ids that a step of the post-processor adds, with their tokens.
std::vector<post_processor::Token> tokens_of(const post_processor::Step& step) {
  std::vector<post_processor::Token> tokens;
  if (const auto* bert = std::get_if<post_processor::Bert>(&step)) tokens = {bert->sep, bert->cls};
  if (const auto* roberta = std::get_if<post_processor::Roberta>(&step)) tokens = {roberta->sep, roberta->cls};
  if (const auto* made = std::get_if<post_processor::Template>(&step))
    for (const post_processor::Template::Special& special : made->special_tokens)
      for (std::size_t i = 0; i < special.ids.size(); ++i) tokens.push_back({special.tokens[i], special.ids[i]});
  return tokens;
}

// Writing, in the order of members that tokenizers write.

using Json = nlohmann::ordered_json;

Json json_of(const Pattern& pattern) { return {{pattern.is_regex() ? "Regex" : "String", pattern.text()}}; }

template <typename Value, std::size_t N>
std::string_view name_of(const std::array<std::pair<std::string_view, Value>, N>& names, Value value) {
  return std::ranges::find(names, value, &std::pair<std::string_view, Value>::second)->first;
}

struct WriteNormalizer {
  Json operator()(const normalizer::Bert& step) const {
    return {{"type", "BertNormalizer"},
            {"clean_text", step.clean_text},
            {"handle_chinese_chars", step.handle_chinese_chars},
            {"strip_accents", step.strip_accents ? Json(*step.strip_accents) : Json()},
            {"lowercase", step.lowercase}};
  }
  Json operator()(const normalizer::Unicode& step) const {
    constexpr std::array kForms = {"NFC", "NFD", "NFKC", "NFKD"};
    return {{"type", kForms[static_cast<std::size_t>(step.form)]}};
  }
  Json operator()(const normalizer::Lowercase&) const { return {{"type", "Lowercase"}}; }
  Json operator()(const normalizer::StripAccents&) const { return {{"type", "StripAccents"}}; }
  Json operator()(const normalizer::Strip& step) const {
    return {{"type", "Strip"}, {"strip_left", step.left}, {"strip_right", step.right}};
  }
  Json operator()(const normalizer::Replace& step) const {
    return {{"type", "Replace"}, {"pattern", json_of(step.pattern)}, {"content", step.content}};
  }
  Json operator()(const normalizer::Prepend& step) const { return {{"type", "Prepend"}, {"prepend", step.prepend}}; }
  Json operator()(const normalizer::Precompiled& step) const {
    return {{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(step.charsmap)}};
  }
  Json operator()(const normalizer::Nmt&) const { return {{"type", "Nmt"}}; }
  Json operator()(const normalizer::ByteLevel&) const { return {{"type", "ByteLevel"}}; }
};

template <typename Metaspace>
Json json_of_metaspace(const Metaspace& step) {
  return {{"type", "Metaspace"},
          {"replacement", step.replacement},
          {"prepend_scheme", name_of(kPrepends, step.prepend_scheme)},
          {"split", step.split}};
}

/// The pre-tokenizer's and the post-processor's have the same fields.
template <typename ByteLevel>
Json json_of_byte_level(const ByteLevel& step) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", step.add_prefix_space},
          {"trim_offsets", step.trim_offsets},
          {"use_regex", step.use_regex}};
}

struct WritePreTokenizer {
  Json operator()(const pre_tokenizer::Bert&) const { return {{"type", "BertPreTokenizer"}}; }
  Json operator()(const pre_tokenizer::ByteLevel& step) const { return json_of_byte_level(step); }
  Json operator()(const pre_tokenizer::Whitespace&) const { return {{"type", "Whitespace"}}; }
  Json operator()(const pre_tokenizer::WhitespaceSplit&) const { return {{"type", "WhitespaceSplit"}}; }
  Json operator()(const pre_tokenizer::Punctuation& step) const {
    return {{"type", "Punctuation"}, {"behavior", name_of(kBehaviors, step.behavior)}};
  }
  Json operator()(const pre_tokenizer::Digits& step) const {
    return {{"type", "Digits"}, {"individual_digits", step.individual_digits}};
  }
  Json operator()(const pre_tokenizer::Metaspace& step) const { return json_of_metaspace(step); }
  Json operator()(const pre_tokenizer::Split& step) const {
    return {{"type", "Split"},
            {"pattern", json_of(step.pattern)},
            {"behavior", name_of(kBehaviors, step.behavior)},
            {"invert", step.invert}};
  }
  Json operator()(const pre_tokenizer::CharDelimiterSplit& step) const {
    return {{"type", "CharDelimiterSplit"}, {"delimiter", step.delimiter}};
  }
};

struct WritePostProcessor {
  static Json pair(const post_processor::Token& token) { return Json::array({token.token, token.id}); }
  static Json pieces(const std::vector<post_processor::Template::Piece>& pieces) {
    Json list = Json::array();
    for (const post_processor::Template::Piece& piece : pieces) {
      const bool special = piece.kind == post_processor::Template::Piece::special;
      const bool first = piece.kind == post_processor::Template::Piece::first;
      const Json value = {{"id", special ? piece.special_token : first ? "A" : "B"}, {"type_id", piece.type_id}};
      list.push_back({{special ? "SpecialToken" : "Sequence", value}});
    }
    return list;
  }

  Json operator()(const post_processor::Bert& step) const {
    return {{"type", "BertProcessing"}, {"sep", pair(step.sep)}, {"cls", pair(step.cls)}};
  }
  Json operator()(const post_processor::Roberta& step) const {
    return {{"type", "RobertaProcessing"},
            {"sep", pair(step.sep)},
            {"cls", pair(step.cls)},
            {"trim_offsets", step.trim_offsets},
            {"add_prefix_space", step.add_prefix_space}};
  }
  Json operator()(const post_processor::ByteLevel& step) const { return json_of_byte_level(step); }
  Json operator()(const post_processor::Template& step) const {
    Json special_tokens = Json::object();
    for (const post_processor::Template::Special& special : step.special_tokens)
      special_tokens[special.id] = {{"id", special.id}, {"ids", special.ids}, {"tokens", special.tokens}};
    return {{"type", "TemplateProcessing"},
            {"single", pieces(step.single)},
            {"pair", pieces(step.pair)},
            {"special_tokens", std::move(special_tokens)}};
  }
};

struct WriteDecoder {
  Json operator()(const decoder::ByteLevel&) const {  // its flags mean nothing here, but must be there
    return {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  }
  Json operator()(const decoder::WordPiece& step) const {
    return {{"type", "WordPiece"}, {"prefix", step.prefix}, {"cleanup", step.cleanup}};
  }
  Json operator()(const decoder::Metaspace& step) const { return json_of_metaspace(step); }
  Json operator()(const decoder::Bpe& step) const { return {{"type", "BPEDecoder"}, {"suffix", step.suffix}}; }
  Json operator()(const decoder::Fuse&) const { return {{"type", "Fuse"}}; }
  Json operator()(const decoder::ByteFallback&) const { return {{"type", "ByteFallback"}}; }
  Json operator()(const decoder::Replace& step) const {
    return {{"type", "Replace"}, {"pattern", json_of(step.pattern)}, {"content", step.content}};
  }
  Json operator()(const decoder::Strip& step) const {
    return {{"type", "Strip"}, {"content", step.content}, {"start", step.start}, {"stop", step.stop}};
  }
  Json operator()(const decoder::SentencePiece&) const {
    fail<InputError>("tokenizer", "tokenizer.json cannot hold how SentencePiece decodes");
  }
};

/// No step: null. One: itself. Several: a sequence.
template <typename Step, typename Write>
Json json_of_steps(const std::vector<Step>& steps, const char* list, const Write& write) {
  if (steps.empty()) return nullptr;
  if (steps.size() == 1) return std::visit(write, steps[0]);
  Json all = Json::array();
  for (const Step& step : steps) all.push_back(std::visit(write, step));
  return {{"type", "Sequence"}, {list, std::move(all)}};
}

Json json_of(const Vocabulary& vocabulary) {
  Json object = Json::object();
  // push_back, because looking up whether a key is there is slow in an object that keeps its order.
  auto& members = object.get_ref<Json::object_t&>();
  members.reserve(static_cast<std::size_t>(vocabulary.count()));
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    if (vocabulary.contains(id) && vocabulary.id(token) == id)  // a token with two ids keeps the later
      members.Container::emplace_back(std::string(token), id);
  }
  return object;
}

struct WriteModel {
  Json operator()(const Bpe& model) const {
    const BpeOptions& options = model.options();
    const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    Json merges = Json::array();
    for (const BpeMerge& merge : model.merges())
      merges.push_back({model.vocabulary().token(merge.left), model.vocabulary().token(merge.right)});
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", options.unk_token ? Json(*options.unk_token) : Json()},
            {"continuing_subword_prefix", or_null(options.continuing_subword_prefix)},
            {"end_of_word_suffix", or_null(options.end_of_word_suffix)},
            {"fuse_unk", options.fuse_unk},
            {"byte_fallback", options.byte_fallback},
            {"ignore_merges", options.ignore_merges},
            {"vocab", json_of(model.vocabulary())},
            {"merges", std::move(merges)}};
  }
  Json operator()(const WordPiece& model) const {
    const WordPieceOptions& options = model.options();
    return {{"type", "WordPiece"},
            {"unk_token", options.unk_token},
            {"continuing_subword_prefix", options.continuing_subword_prefix},
            {"max_input_chars_per_word", options.max_input_chars_per_word},
            {"vocab", json_of(model.vocabulary())}};
  }
  Json operator()(const Unigram& model) const {
    const UnigramOptions& options = model.options();
    Json pieces = Json::array();
    for (std::int32_t id = 0; id < model.vocabulary().size(); ++id)
      pieces.push_back({model.vocabulary().token(id), model.scores()[static_cast<std::size_t>(id)]});
    return {{"type", "Unigram"},
            {"unk_id", options.unk_id ? Json(*options.unk_id) : Json()},
            {"vocab", std::move(pieces)},
            {"byte_fallback", options.byte_fallback}};
  }
  Json operator()(const WordLevel& model) const {
    return {{"type", "WordLevel"}, {"vocab", json_of(model.vocabulary())}, {"unk_token", model.options().unk_token}};
  }
  Json operator()(const SentencePiece&) const {
    fail<InputError>("tokenizer", "tokenizer.json cannot hold a SentencePiece model; save its folder instead");
  }
};

}  // namespace

Tokenizer::Parts read_tokenizer_json(std::string_view text, const std::string& file) {
  const JsonDocument document(text, file);
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

std::string write_tokenizer_json(const Tokenizer::Parts& parts) {
  Json added = Json::array();
  for (const AddedToken& token : parts.added_tokens)
    added.push_back({{"id", token.id},
                     {"content", token.content},
                     {"single_word", token.single_word},
                     {"lstrip", token.lstrip},
                     {"rstrip", token.rstrip},
                     {"normalized", token.normalized},
                     {"special", token.special}});
  const Json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", std::move(added)},
      {"normalizer", json_of_steps(parts.normalizer, "normalizers", WriteNormalizer())},
      {"pre_tokenizer", json_of_steps(parts.pre_tokenizer, "pretokenizers", WritePreTokenizer())},
      {"post_processor", json_of_steps(parts.post_processor, "processors", WritePostProcessor())},
      {"decoder", json_of_steps(parts.decoder, "decoders", WriteDecoder())},
      {"model", std::visit(WriteModel(), parts.model)},
  };
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
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

std::string write_vocabulary(const Vocabulary& vocabulary) {
  return json_of(vocabulary).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
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
  // A few ids may be unused, as models like sizes that are round; more is a mistake that would cost memory.
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
