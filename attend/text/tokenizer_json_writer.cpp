// Writes tokenizer.json, with its members in the same order as Hugging Face's tokenizers.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "attend/core/error.h"
#include "attend/text/base64.h"
#include "attend/text/tokenizer_json.h"
#include "attend/text/tokenizer_json_names.h"

namespace attend {
namespace {

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
          {"prepend_scheme", name_of(tokenizer_json::kPrepends, step.prepend_scheme)},
          {"split", step.split}};
}

/// ByteLevel has the same fields in the pre-tokenizer and the post-processor.
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
    return {{"type", "Punctuation"}, {"behavior", name_of(tokenizer_json::kBehaviors, step.behavior)}};
  }
  Json operator()(const pre_tokenizer::Digits& step) const {
    return {{"type", "Digits"}, {"individual_digits", step.individual_digits}};
  }
  Json operator()(const pre_tokenizer::Metaspace& step) const { return json_of_metaspace(step); }
  Json operator()(const pre_tokenizer::Split& step) const {
    return {{"type", "Split"},
            {"pattern", json_of(step.pattern)},
            {"behavior", name_of(tokenizer_json::kBehaviors, step.behavior)},
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
  Json operator()(const decoder::ByteLevel&) const {  // the flags are not used, but required
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

/// Null for no steps, the step itself for one, and a sequence for several.
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
  // push_back avoids the lookup of a key, which is slow in an ordered object.
  auto& members = object.get_ref<Json::object_t&>();
  members.reserve(static_cast<std::size_t>(vocabulary.count()));
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    if (vocabulary.contains(id) && vocabulary.id(token) == id)  // a token with two ids keeps the last one
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

std::string write_vocabulary(const Vocabulary& vocabulary) {
  return json_of(vocabulary).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace attend
