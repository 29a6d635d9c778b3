// Loads and saves tokenizer folders. The files in a folder determine the family of its tokenizer.
#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <unordered_map>
#include <utility>

#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/core/json.h"
#include "attend/text/sentencepiece.h"
#include "attend/text/tokenizer_config.h"
#include "attend/text/tokenizer_json.h"
#include "attend/text/vocabulary_files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Parts = Tokenizer::Parts;
using TemplatePiece = post_processor::Template::Piece;

std::string read_text(const fs::path& path) {
  const MappedFile file = map_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

/// The default special tokens of a family, in the order of kSpecialRoles; empty: it has none.
using RoleNames = std::array<std::string_view, kSpecialRoles.size()>;
RoleNames default_names(std::string_view family) {
  //                              bos, eos, unknown, separator, padding, classify, mask
  static constexpr RoleNames kBert = {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};
  static constexpr RoleNames kMpnet = {"<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>"};
  static constexpr RoleNames kRoberta = {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"};
  static constexpr RoleNames kAlbert = {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"};
  static constexpr RoleNames kGpt2 = {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "", ""};
  static constexpr RoleNames kGptNeox = {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "<|padding|>", "", ""};
  static constexpr RoleNames kT5 = {"", "</s>", "<unk>", "", "<pad>", "", ""};
  static constexpr RoleNames kPegasus = {"", "</s>", "<unk>", "", "<pad>", "", "<mask_2>"};
  static constexpr RoleNames kMbart50 = {"", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"};
  static constexpr RoleNames kM2m100 = {"<s>", "</s>", "<unk>", "</s>", "<pad>", "", ""};
  constexpr std::pair<std::string_view, const RoleNames*> kNames[] = {
      {"Bert", &kBert},
      {"DistilBert", &kBert},
      {"Electra", &kBert},
      {"MobileBert", &kBert},
      {"MPNet", &kMpnet},
      {"Roberta", &kRoberta},
      {"Bart", &kRoberta},
      {"Longformer", &kRoberta},
      {"XLMRoberta", &kRoberta},
      {"GPT2", &kGpt2},
      {"GPTNeoX", &kGptNeox},
      {"T5", &kT5},
      {"MT5", &kT5},
      {"Marian", &kT5},
      {"Albert", &kAlbert},
      {"Camembert", &kRoberta},
      {"Pegasus", &kPegasus},
      {"MBart", &kRoberta},
      {"MBart50", &kMbart50},
      {"M2M100", &kM2m100},
      {"Nllb", &kRoberta},
  };
  for (const auto& [name, names] : kNames)
    if (name == family) return *names;
  return {};
}

/// <mask> replaces a word, so it includes the space before it.
bool mask_takes_space(std::string_view family) {
  return family == "Roberta" || family == "MPNet" || family == "XLMRoberta" || family == "Bart" ||
         family == "Longformer" || family == "MBart" || family == "MBart50" || family == "Nllb" ||
         family == "Camembert";
}

std::optional<std::int32_t> find_id(const Parts& parts, std::string_view token) {
  const auto added = std::ranges::find(parts.added_tokens, token, &AddedToken::content);
  return added != parts.added_tokens.end() ? std::optional(added->id) : vocabulary(parts.model).id(token);
}

/// Adds tokens to the added tokens of a tokenizer. There may be many, so they are found by an index.
class TokenAdder {
 public:
  explicit TokenAdder(Parts& parts) : parts_(parts), next_(vocabulary(parts.model).size()) {
    for (std::size_t i = 0; i < parts.added_tokens.size(); ++i) note(parts.added_tokens[i], i);
  }

  /// Adds a token with an id of its own, or replaces it.
  void put(const AddedToken& token) {
    const auto known = places_.find(token.content);
    if (known != places_.end()) {
      parts_.added_tokens[known->second] = token;
      return;
    }
    note(token, parts_.added_tokens.size());
    parts_.added_tokens.push_back(token);
  }

  /// Adds a token with its id in the vocabulary or a new one. A token that was already added keeps its flags, but can
  /// become special.
  std::int32_t add(AddedToken token) {
    if (const auto known = places_.find(token.content); known != places_.end()) {
      AddedToken& there = parts_.added_tokens[known->second];
      there.special |= token.special;
      return there.id;
    }
    if (const auto id = vocabulary(parts_.model).id(token.content)) {
      token.id = *id;
    } else {
      if (next_ > std::numeric_limits<std::int32_t>::max())
        fail<InputError>("tokenizer", "there is no id left for the added token \"", token.content, "\"");
      token.id = static_cast<std::int32_t>(next_);
    }
    note(token, parts_.added_tokens.size());
    parts_.added_tokens.push_back(std::move(token));
    return parts_.added_tokens.back().id;
  }

 private:
  void note(const AddedToken& token, std::size_t place) {
    places_.emplace(token.content, place);
    next_ = std::max<std::int64_t>(next_, std::int64_t{token.id} + 1);
  }

  Parts& parts_;
  std::int64_t next_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Sets the added tokens and special roles from the configuration files, or from the defaults of the family.
void add_special_tokens(Parts& parts, const TokenizerConfig& config) {
  TokenAdder adder(parts);
  for (const AddedToken& token : config.added) adder.put(token);
  const RoleNames names = default_names(config.family);
  for (std::size_t i = 0; i < kSpecialRoles.size(); ++i) {
    auto& id = parts.special.*kSpecialRoles[i].id;
    if (config.roles[i]) {
      id = adder.add(*config.roles[i]);
    } else if (find_id(parts, names[i])) {
      AddedToken token;
      token.content = names[i];
      token.special = true;
      token.normalized = false;
      token.lstrip = kSpecialRoles[i].key == "mask_token" && mask_takes_space(config.family);
      id = adder.add(std::move(token));
    }
  }
  for (const AddedToken& token : config.extra_special) adder.add(token);
  std::ranges::stable_sort(parts.added_tokens, {}, &AddedToken::id);
}

/// A template of texts ("A", "B") and special tokens, each with its type.
using Slots = std::vector<std::pair<std::string_view, std::int32_t>>;
post_processor::Template make_template(const Parts& parts, const Slots& single, const Slots& pair) {
  post_processor::Template made;
  const auto fill = [&](const Slots& slots, std::vector<TemplatePiece>& pieces) {
    for (const auto& [name, type] : slots) {
      if (name == "A" || name == "B") {
        pieces.push_back({name == "A" ? TemplatePiece::first : TemplatePiece::second, "", type});
        continue;
      }
      pieces.push_back({TemplatePiece::special, std::string(name), type});
      const auto& known = made.special_tokens;
      if (std::ranges::find(known, name, &post_processor::Template::Special::id) == known.end())
        made.special_tokens.push_back({std::string(name), {find_id(parts, name).value()}, {std::string(name)}});
    }
  };
  fill(single, made.single);
  fill(pair, made.pair);
  return made;
}

/// The token of a role. Throws if the tokenizer does not have it.
std::string need_role(const Parts& parts, std::optional<std::int32_t> SpecialTokens::*role, const fs::path& folder,
                      std::string_view name) {
  const auto& id = parts.special.*role;
  if (!id)
    fail<InputError>("tokenizer", folder.string(), ": there is no ", name, " token, which this kind of tokenizer adds");
  const auto added = std::ranges::find(parts.added_tokens, *id, &AddedToken::id);
  return added->content;
}

AddedToken special_token(std::string content) {
  AddedToken token;
  token.content = std::move(content);
  token.special = true;
  token.normalized = false;
  return token;
}

/// Adds the source language and the end-of-sentence token to each text.
void mark_source(Parts& parts, const std::string& eos) {
  const LanguageScheme* scheme = parts.language_scheme;
  std::string source = parts.languages.source;
  if (source.empty())
    source = find_id(parts, scheme->token(scheme->usual)) ? scheme->usual : parts.languages.all[0].code;
  const std::string token = scheme->token(source);
  parts.post_processor = {
      parts.source_language_last
          ? make_template(parts, {{"A", 0}, {eos, 0}, {token, 0}}, {{"A", 0}, {"B", 0}, {eos, 0}, {token, 0}})
          : make_template(parts, {{token, 0}, {"A", 0}, {eos, 0}}, {{token, 0}, {"A", 0}, {"B", 0}, {eos, 0}})};
}

/// Finds the tokens of languages among the special tokens, and marks each text with the source language. Does nothing
/// if there are no such tokens.
void add_languages(Parts& parts, const TokenizerConfig& config, const fs::path& folder) {
  const LanguageScheme* scheme = language_scheme(config.family, config.language_codes);
  if (!scheme) return;
  for (const AddedToken& token : parts.added_tokens)
    if (const auto code = scheme->code(token.content); code && token.special)
      parts.languages.all.push_back({*code, token.id});
  if (parts.languages.empty()) return;
  parts.language_scheme = scheme;
  parts.languages.starts_decoder = scheme->starts_decoder;
  parts.source_language_last = scheme->after || config.legacy_behaviour;
  const auto known = [&](const std::string& code, const char* key) {
    if (!code.empty() &&
        std::ranges::find(parts.languages.all, code, &LanguageTokens::Language::code) == parts.languages.all.end())
      fail<InputError>("tokenizer", folder.string(), ": \"", key, "\" of tokenizer_config.json is \"", code,
                       "\", expected one of ", parts.languages.codes());
    return code;
  };
  parts.languages.source = known(config.source_language, "src_lang");
  parts.languages.target = known(config.target_language, "tgt_lang");
  mark_source(parts, need_role(parts, &SpecialTokens::eos, folder, "eos"));
}

/// vocab.txt: WordPiece, as in the BERT family.
Parts from_vocab_txt(const fs::path& folder, const TokenizerConfig& config) {
  Parts parts;
  const fs::path file = folder / "vocab.txt";
  WordPieceOptions options;
  if (config.roles[2]) options.unk_token = config.roles[2]->content;
  try {
    parts.model = WordPiece(read_vocab_txt(read_text(file), file.string()), options);
  } catch (const InputError& error) {
    if (std::string_view(error.what()).find(file.string()) != std::string_view::npos) throw;
    fail<InputError>("tokenizer", file.string(), ": ", error.what());
  }
  parts.normalizer = {normalizer::Bert{true, config.tokenize_chinese_chars.value_or(true), config.strip_accents,
                                       config.do_lower_case.value_or(true)}};
  parts.pre_tokenizer = {pre_tokenizer::Bert{}};
  parts.decoder = {decoder::WordPiece{}};
  add_special_tokens(parts, config);
  const std::string cls = need_role(parts, &SpecialTokens::classify, folder, "cls");
  const std::string sep = need_role(parts, &SpecialTokens::separator, folder, "sep");
  if (config.family == "MPNet")
    parts.post_processor = {make_template(parts, {{cls, 0}, {"A", 0}, {sep, 0}},
                                          {{cls, 0}, {"A", 0}, {sep, 0}, {sep, 0}, {"B", 1}, {sep, 1}})};
  else
    parts.post_processor = {
        make_template(parts, {{cls, 0}, {"A", 0}, {sep, 0}}, {{cls, 0}, {"A", 0}, {sep, 0}, {"B", 1}, {sep, 1}})};
  return parts;
}

/// vocab.json and merges.txt: byte-level BPE, as in GPT-2 and RoBERTa.
Parts from_merges(const fs::path& folder, const TokenizerConfig& config) {
  const bool roberta = config.family == "Roberta" || config.family == "Bart" || config.family == "Longformer";
  if (!roberta && config.family != "GPT2")
    fail<InputError>(
        "tokenizer", folder.string(), ": the tokenizer class \"", config.family,
        "Tokenizer\" is not supported with vocab.json and merges.txt; save it with tokenizer.json instead");
  Parts parts;
  const fs::path file = folder / "vocab.json", merges = folder / "merges.txt";
  const std::string text = read_text(file);
  const JsonDocument document(text, file.string(), "tokenizer");
  parts.model = read_merges(read_text(merges), merges.string(), read_vocabulary(document.root()));
  const bool prefix = config.add_prefix_space.value_or(false);
  parts.pre_tokenizer = {pre_tokenizer::ByteLevel{prefix, true, true}};
  parts.decoder = {decoder::ByteLevel{}};
  add_special_tokens(parts, config);
  if (!roberta) return parts;
  const std::string cls = need_role(parts, &SpecialTokens::classify, folder, "cls");
  const std::string sep = need_role(parts, &SpecialTokens::separator, folder, "sep");
  parts.post_processor = {
      post_processor::Roberta{{sep, *parts.special.separator}, {cls, *parts.special.classify}, true, prefix}};
  return parts;
}

/// The tokens of PEGASUS after padding and end, which only its pre-training used.
std::vector<std::string> pegasus_tokens(std::int64_t offset) {
  std::vector<std::string> tokens = {"<mask_1>", "<mask_2>"};
  for (std::int64_t i = 2; i < offset; ++i) tokens.push_back("<unk_" + std::to_string(i) + ">");
  return tokens;
}

/// ALBERT's model has all special tokens.
Parts from_albert(const SentencePieceFile& model, const fs::path& path, const TokenizerConfig& config) {
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const SentencePieceFile::Piece& piece : model.pieces) {
    vocabulary.add(piece.text, static_cast<std::int32_t>(scores.size()));
    // As in transformers: "1984," becomes the number and the comma, unless there is no other way.
    const std::size_t size = piece.text.size();
    const bool number =
        size >= 2 && piece.text[size - 1] == ',' && piece.text[size - 2] >= '0' && piece.text[size - 2] <= '9';
    scores.push_back(piece.score - (number ? 100.f : 0.f));
  }
  const auto unknown = vocabulary.id("<unk>");
  if (!unknown) fail<InputError>("tokenizer", path.string(), ": the token \"<unk>\" is missing");
  Parts parts;
  parts.model = Unigram(std::move(vocabulary), std::move(scores), {unknown, false});
  parts.normalizer = {normalizer::Replace{Pattern::string("``"), "\""},
                      normalizer::Replace{Pattern::string("''"), "\""}};
  if (!config.keep_accents.value_or(false)) {
    parts.normalizer.emplace_back(normalizer::Unicode{NormalForm::nfkd});
    parts.normalizer.emplace_back(normalizer::StripAccents{});
  }
  if (config.do_lower_case.value_or(true)) parts.normalizer.emplace_back(normalizer::Lowercase{});
  if (!model.charsmap.empty()) parts.normalizer.emplace_back(normalizer::Precompiled{model.charsmap});
  parts.normalizer.emplace_back(normalizer::Replace{Pattern::regex(" {2,}"), " "});
  parts.pre_tokenizer = {pre_tokenizer::WhitespaceSplit{},
                         pre_tokenizer::Metaspace{"▁", pre_tokenizer::Metaspace::Prepend::always, true}};
  parts.decoder = {decoder::Metaspace{"▁", pre_tokenizer::Metaspace::Prepend::always, true}};
  add_special_tokens(parts, config);
  const std::string cls = need_role(parts, &SpecialTokens::classify, path.parent_path(), "cls");
  const std::string sep = need_role(parts, &SpecialTokens::separator, path.parent_path(), "sep");
  parts.post_processor = {
      make_template(parts, {{cls, 0}, {"A", 0}, {sep, 0}}, {{cls, 0}, {"A", 0}, {sep, 0}, {"B", 1}, {sep, 1}})};
  return parts;
}

/// The merges of a SentencePiece BPE. Its tokens are in the order in which training made them.
std::vector<BpeMerge> merges_of(const Vocabulary& vocabulary, std::int32_t first) {
  std::vector<BpeMerge> merges;
  for (std::int32_t id = first; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    for (std::size_t at = 1; at < token.size(); ++at) {
      if ((token[at] & 0xC0) == 0x80) continue;  // inside a character
      const auto left = vocabulary.id(token.substr(0, at)), right = vocabulary.id(token.substr(at));
      if (left && right) merges.push_back({*left, *right});
    }
  }
  return merges;
}

/// NLLB-200: a BPE whose ids are shifted, followed by the languages and <mask>.
Parts from_nllb(const SentencePieceFile& model, const fs::path& path, TokenizerConfig config) {
  if (model.model != SentencePieceFile::Model::bpe)
    fail<InputError>("tokenizer", path.string(), ": not a BPE model; save it with tokenizer.json instead");
  Vocabulary vocabulary;
  std::int32_t next = 0;
  constexpr std::string_view kFirst[] = {"<s>", "<pad>", "</s>", "<unk>"};
  for (const std::string_view piece : kFirst) vocabulary.add(piece, next++);
  for (std::size_t i = 3; i < model.pieces.size(); ++i) vocabulary.add(model.pieces[i].text, next++);
  const LanguageScheme* scheme = language_scheme(config.family);
  const auto is_language = [&](const AddedToken& token) { return scheme->code(token.content).has_value(); };
  if (std::ranges::none_of(config.added, is_language)) {
    std::vector<AddedToken> languages;
    std::ranges::copy_if(config.extra_special, std::back_inserter(languages), is_language);
    if (languages.empty())
      for (const std::string& code : scheme->codes) languages.push_back(special_token(code));
    for (AddedToken& token : languages) {
      token.id = next++;
      config.added.push_back(std::move(token));
    }
  }
  if (!config.roles[6]) {  // the vocabulary does not have it
    config.roles[6] = special_token("<mask>");
    config.roles[6]->lstrip = true;
  }
  Parts parts;
  std::vector<BpeMerge> merges = merges_of(vocabulary, static_cast<std::int32_t>(std::size(kFirst)));
  parts.model = Bpe(std::move(vocabulary), std::move(merges), {.unk_token = "<unk>", .fuse_unk = true});
  if (!model.charsmap.empty()) parts.normalizer = {normalizer::Precompiled{model.charsmap}};
  parts.normalizer.emplace_back(normalizer::Replace{Pattern::regex(" {2,}"), " "});
  parts.pre_tokenizer = {pre_tokenizer::Metaspace{"▁", pre_tokenizer::Metaspace::Prepend::always, true}};
  parts.decoder = {decoder::Metaspace{"▁", pre_tokenizer::Metaspace::Prepend::always, true}};
  add_special_tokens(parts, config);
  return parts;  // add_languages() makes the post-processor
}

/// Llama and Llama 2, Mistral and others: a BPE in which characters that are not in the vocabulary become bytes.
Parts from_llama(const fs::path& path, TokenizerConfig config) {
  const SentencePieceFile model = read_sentencepiece(read_text(path), path.string());
  if (model.model != SentencePieceFile::Model::bpe)
    fail<InputError>("tokenizer", path.string(), ": not a BPE model; save it with tokenizer.json instead");
  if (!model.charsmap.empty())
    fail<InputError>("tokenizer", path.string(), ": a BPE model that normalises its texts is not supported; save it ",
                     "with tokenizer.json instead");
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < model.pieces.size(); ++i)
    vocabulary.add(model.pieces[i].text, static_cast<std::int32_t>(i));
  std::vector<BpeMerge> merges = merges_by_score(vocabulary, model.pieces);
  constexpr RoleNames kRoles = {"<s>", "</s>", "<unk>", "", "", "", ""};
  for (std::size_t role = 0; role < kRoles.size(); ++role)
    if (!config.roles[role] && !kRoles[role].empty() && vocabulary.id(kRoles[role]))
      config.roles[role] = special_token(std::string(kRoles[role]));
  Parts parts;
  parts.model = Bpe(std::move(vocabulary), std::move(merges),
                    {.unk_token = config.roles[2] ? std::optional(config.roles[2]->content) : std::nullopt,
                     .fuse_unk = true,
                     .byte_fallback = model.byte_fallback});
  using Prepend = pre_tokenizer::Metaspace::Prepend;
  const bool prefix = config.add_prefix_space.value_or(model.dummy_prefix);
  parts.pre_tokenizer = {pre_tokenizer::Metaspace{"▁",
                                                  !prefix         ? Prepend::never
                                                  : config.legacy ? Prepend::always
                                                                  : Prepend::first,
                                                  false}};
  parts.decoder = {decoder::Replace{Pattern::string("▁"), " "}, decoder::ByteFallback{}, decoder::Fuse{}};
  if (prefix) parts.decoder.emplace_back(decoder::Strip{" ", 1, 0});
  add_special_tokens(parts, config);
  if (config.add_bos_token.value_or(true) && parts.special.bos) {
    const std::string bos = config.roles[0]->content;
    parts.post_processor = {make_template(parts, {{bos, 0}, {"A", 0}}, {{bos, 0}, {"A", 0}, {bos, 1}, {"B", 1}})};
  }
  return parts;
}

/// Tokens of CamemBERT that no text has.
constexpr const char* kNotUsed[] = {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"};

/// A single SentencePiece model: that of T5, or of XLM-R, CamemBERT, mBART and PEGASUS, whose ids are shifted. T5,
/// XLM-R and CamemBERT first split a text at spaces, as in transformers.
Parts from_sentencepiece(const fs::path& path, const TokenizerConfig& config) {
  const bool t5 = config.family == "T5" || config.family == "MT5", pegasus = config.family == "Pegasus";
  const bool mbart = config.family == "MBart" || config.family == "MBart50";
  const bool albert = config.family == "Albert", nllb = config.family == "Nllb";
  const bool camembert = config.family == "Camembert";
  if (!t5 && !pegasus && !mbart && !albert && !nllb && !camembert && config.family != "XLMRoberta")
    fail<InputError>("tokenizer", path.string(), ": the tokenizer class \"", config.family,
                     "Tokenizer\" is not supported with a SentencePiece model; save it with tokenizer.json instead");
  const SentencePieceFile model = read_sentencepiece(read_text(path), path.string());
  if (nllb) return from_nllb(model, path, config);
  if (model.model != SentencePieceFile::Model::unigram)
    fail<InputError>("tokenizer", path.string(), ": not a unigram model; save it with tokenizer.json instead");
  if (albert) return from_albert(model, path, config);

  Vocabulary vocabulary;
  std::vector<double> scores;
  const auto add = [&](std::string_view piece, double score) {
    vocabulary.add(piece, static_cast<std::int32_t>(scores.size()));
    scores.push_back(score);
  };
  const std::string unknown_token = config.roles[2] ? config.roles[2]->content : "<unk>";
  Parts parts;
  if (t5) {
    for (const SentencePieceFile::Piece& piece : model.pieces) add(piece.text, piece.score);
    for (std::int64_t i = config.extra_ids - 1; i >= 0; --i) add("<extra_id_" + std::to_string(i) + ">", 0);
  } else if (pegasus) {
    for (const std::string_view piece : {"<pad>", "</s>"}) add(piece, 0);
    for (const std::string& token : pegasus_tokens(config.offset)) add(token, token.starts_with("<unk") ? -100 : 0);
    for (std::size_t i = 2; i < model.pieces.size(); ++i) add(model.pieces[i].text, model.pieces[i].score);
  } else if (camembert) {  // its <s> and </s> are those of the model; the first ids only have their names
    for (const std::string_view piece : {kNotUsed[0], "<pad>", kNotUsed[1], "<unk>"}) add(piece, 0);
    add(kNotUsed[2], -100);
    for (std::size_t i = 1; i < model.pieces.size(); ++i) add(model.pieces[i].text, model.pieces[i].score);
    add("<mask>", 0);
  } else {
    for (const std::string_view piece : {"<s>", "<pad>", "</s>", "<unk>"}) add(piece, 0);
    for (std::size_t i = 3; i < model.pieces.size(); ++i) add(model.pieces[i].text, model.pieces[i].score);
    if (mbart)
      for (const std::string& code : language_scheme(config.family)->codes) add(code, 0);
    add("<mask>", 0);
  }
  const auto unknown = vocabulary.id(unknown_token);
  if (!unknown) fail<InputError>("tokenizer", path.string(), ": the token \"", unknown_token, "\" is missing");
  parts.model = Unigram(std::move(vocabulary), std::move(scores), {unknown, false});
  if (!model.charsmap.empty()) parts.normalizer = {normalizer::Precompiled{model.charsmap}};
  const auto prepend = config.add_prefix_space.value_or(true) ? pre_tokenizer::Metaspace::Prepend::always
                                                              : pre_tokenizer::Metaspace::Prepend::never;
  parts.pre_tokenizer = {pre_tokenizer::WhitespaceSplit{}, pre_tokenizer::Metaspace{"▁", prepend, true}};
  if (pegasus || mbart) {
    if (pegasus && model.charsmap.empty()) parts.normalizer = {normalizer::Replace{Pattern::string("\n"), " "}};
    parts.normalizer.emplace_back(normalizer::Replace{Pattern::regex(" {2,}"), " "});
    parts.pre_tokenizer.erase(parts.pre_tokenizer.begin());
  }
  parts.decoder = {decoder::Metaspace{"▁", prepend, true}};

  TokenizerConfig complete = config;
  for (std::int64_t i = config.extra_ids - 1; t5 && i >= 0; --i)
    complete.extra_special.push_back(special_token("<extra_id_" + std::to_string(i) + ">"));
  if (pegasus)
    for (const std::string& token : pegasus_tokens(config.offset))
      complete.extra_special.push_back(special_token(token));
  if (mbart)
    for (const std::string& code : language_scheme(config.family)->codes)
      complete.extra_special.push_back(special_token(code));
  if (camembert)
    for (const char* token : kNotUsed) complete.extra_special.push_back(special_token(token));
  add_special_tokens(parts, complete);
  const fs::path folder = path.parent_path();
  const std::string eos = need_role(parts, &SpecialTokens::eos, folder, "eos");
  if (t5) {
    parts.post_processor = {make_template(parts, {{"A", 0}, {eos, 0}}, {{"A", 0}, {eos, 0}, {"B", 0}, {eos, 0}})};
  } else if (pegasus) {
    parts.post_processor = {make_template(parts, {{"A", 0}, {eos, 0}}, {{"A", 0}, {"B", 0}, {eos, 0}})};
  } else if (!mbart) {  // add_languages() makes that of mBART
    const std::string bos = need_role(parts, &SpecialTokens::bos, folder, "bos");
    parts.post_processor = {make_template(parts, {{bos, 0}, {"A", 0}, {eos, 0}},
                                          {{bos, 0}, {"A", 0}, {eos, 0}, {eos, 0}, {"B", 0}, {eos, 0}})};
  }
  return parts;
}

/// source.spm, target.spm and vocab.json: Marian.
Parts from_marian(const fs::path& folder, const TokenizerConfig& config, Side side) {
  if (config.separate_vocabs)
    fail<InputError>("tokenizer", folder.string(), ": a vocabulary for each side (separate_vocabs) is not supported");
  const fs::path file = folder / "vocab.json";
  const std::string text = read_text(file);
  const JsonDocument document(text, file.string(), "tokenizer");
  SentencePiece model(read_vocabulary(document.root()), read_text(folder / "source.spm"),
                      read_text(folder / "target.spm"), folder.string());
  Parts parts;
  parts.model = side == Side::source ? std::move(model) : model.for_target();
  add_special_tokens(parts, config);
  const std::string eos = need_role(parts, &SpecialTokens::eos, folder, "eos");
  parts.post_processor = {make_template(parts, {{"A", 0}, {eos, 0}}, {{"A", 0}, {"B", 0}, {eos, 0}})};
  decoder::SentencePiece decoder;
  for (const AddedToken& token : parts.added_tokens)
    if (token.special) decoder.special_tokens.push_back(token.content);
  parts.decoder = {std::move(decoder)};
  parts.max_tokens = 512;
  return parts;
}

/// sentencepiece.bpe.model and vocab.json: M2M-100. The tokens of languages follow those of vocab.json.
Parts from_m2m_100(const fs::path& folder, TokenizerConfig config) {
  const fs::path file = folder / "vocab.json";
  const std::string text = read_text(file);
  const JsonDocument document(text, file.string(), "tokenizer");
  Parts parts;
  parts.model =
      SentencePiece(read_vocabulary(document.root()), read_text(folder / "sentencepiece.bpe.model"), folder.string());
  const LanguageScheme* scheme = language_scheme(config.family, config.language_codes);
  if (config.language_codes != "m2m100" && config.language_codes != "wmt21")
    fail<InputError>("tokenizer", folder.string(), ": \"language_codes\" of tokenizer_config.json is \"",
                     config.language_codes, "\", expected \"m2m100\" or \"wmt21\"");
  std::int64_t next = vocabulary(parts.model).size();
  for (const std::string& code : scheme->codes) {
    AddedToken token = special_token(scheme->token(code));
    std::erase_if(config.added, [&](const AddedToken& one) { return one.content == token.content; });
    token.id = static_cast<std::int32_t>(next++);
    config.added.push_back(std::move(token));
  }
  add_special_tokens(parts, config);
  decoder::SentencePiece decoder{.special_tokens = {}, .spaced = false};
  for (const AddedToken& token : parts.added_tokens)
    if (token.special) decoder.special_tokens.push_back(token.content);
  parts.decoder = {std::move(decoder)};
  return parts;
}

Parts from_tokenizer_json(const fs::path& folder, const TokenizerConfig& config) {
  const fs::path file = folder / "tokenizer.json";
  const MappedFile mapped = map_file(file);
  Parts parts =
      read_tokenizer_json({reinterpret_cast<const char*>(mapped.bytes.data()), mapped.bytes.size()}, file.string());
  add_special_tokens(parts, config);
  return parts;
}

/// Applies add_bos_token and add_eos_token, the flags of language models.
void apply_bos_and_eos(Parts& parts, const TokenizerConfig& config) {
  if (!config.add_bos_token && !config.add_eos_token) return;
  const auto token = [&](bool wanted, const std::optional<std::int32_t>& id) {
    return wanted && id ? std::ranges::find(parts.added_tokens, *id, &AddedToken::id)->content : "";
  };
  const std::string bos = token(config.add_bos_token.value_or(false), parts.special.bos);
  const std::string eos = token(config.add_eos_token.value_or(false), parts.special.eos);
  Slots single, pair;
  for (const std::int32_t type : {0, 1}) {
    if (!bos.empty()) pair.emplace_back(bos, type);
    pair.emplace_back(type == 0 ? "A" : "B", type);
    if (!eos.empty()) pair.emplace_back(eos, type);
    if (type == 0) single = pair;
  }
  parts.post_processor = {make_template(parts, single, pair)};
}

Parts read_parts(const fs::path& folder, TokenizerConfig config, Side side) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  // Without a declared family, the files determine it.
  const auto family = [&](const char* usual) -> const TokenizerConfig& {
    if (config.family.empty()) config.family = usual;
    return config;
  };
  if (has("tokenizer.json")) return from_tokenizer_json(folder, config);
  if (config.family == "M2M100" && has("vocab.json") && has("sentencepiece.bpe.model"))
    return from_m2m_100(folder, config);
  if (has("source.spm") && has("target.spm") && has("vocab.json")) return from_marian(folder, family("Marian"), side);
  if (has("vocab.txt")) return from_vocab_txt(folder, family("Bert"));
  if (has("vocab.json") && has("merges.txt")) return from_merges(folder, family("GPT2"));
  if (has("spiece.model")) return from_sentencepiece(folder / "spiece.model", family("T5"));
  if (has("sentencepiece.bpe.model"))
    return from_sentencepiece(folder / "sentencepiece.bpe.model", family("XLMRoberta"));
  if (has("tokenizer.model")) return from_llama(folder / "tokenizer.model", family("Llama"));
  fail<InputError>("tokenizer", folder.string(), ": there is no tokenizer; looked for tokenizer.json, vocab.txt, ",
                   "vocab.json with merges.txt, source.spm and target.spm with vocab.json, spiece.model, ",
                   "sentencepiece.bpe.model (for M2M-100 with vocab.json), and tokenizer.model");
}

void write_file(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Whether all tokens of a BPE are in the byte alphabet, as vocab.json and merges.txt require.
bool is_byte_level(const Parts& parts) {
  return parts.pre_tokenizer.size() == 1 && std::holds_alternative<pre_tokenizer::ByteLevel>(parts.pre_tokenizer[0]) &&
         parts.normalizer.empty();
}

}  // namespace

Tokenizer load_tokenizer(const fs::path& path, Side side) {
  std::error_code unreadable;
  if (!fs::is_directory(path, unreadable)) fail<InputError>("tokenizer", path.string(), ": there is no such folder");
  const fs::path folder = current_folder(path);
  const TokenizerConfig config = read_tokenizer_config(folder);
  Parts parts = read_parts(folder, config, side);
  add_languages(parts, config, folder);
  if (config.max_tokens > 0) parts.max_tokens = config.max_tokens;
  if (!std::holds_alternative<SentencePiece>(parts.model)) apply_bos_and_eos(parts, config);
  check_ids(parts, folder.string());
  return Tokenizer(std::move(parts));
}

Tokenizer with_languages(const Tokenizer& tokenizer, const std::string& source, const std::string& target) {
  Parts parts = tokenizer.parts();
  parts.languages.source = parts.languages.find(source, "source").code;
  parts.languages.target = parts.languages.find(target, "target").code;
  mark_source(parts, tokenizer.token(parts.special.eos.value()));
  return Tokenizer(std::move(parts));
}

void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder) {
  const Parts& parts = tokenizer.parts();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("save", folder.string(), ": cannot create the folder: ", error.message());

  if (const auto* pair = std::get_if<SentencePiece>(&parts.model)) {
    fs::remove(folder / "tokenizer.json", error);  // a stale file would be read first
    if (pair->has_two_models()) {
      write_file(folder / "source.spm", pair->source_file());
      write_file(folder / "target.spm", pair->target_file());
    } else {
      write_file(folder / "sentencepiece.bpe.model", pair->source_file());
    }
    write_file(folder / "vocab.json", write_vocabulary(pair->vocabulary()));
    write_file(folder / "tokenizer_config.json",
               write_tokenizer_config(parts, pair->has_two_models() ? "MarianTokenizer" : "M2M100Tokenizer"));
    return;
  }
  const std::string made_by =
      parts.language_scheme ? std::string(parts.language_scheme->family) + "Tokenizer" : "PreTrainedTokenizerFast";
  write_file(folder / "tokenizer.json", write_tokenizer_json(parts));
  write_file(folder / "tokenizer_config.json", write_tokenizer_config(parts, made_by));
  write_file(folder / "special_tokens_map.json", write_special_tokens_map(parts));
  // For programs that do not read tokenizer.json.
  if (std::holds_alternative<WordPiece>(parts.model))
    write_file(folder / "vocab.txt", write_vocab_txt(vocabulary(parts.model)));
  if (const auto* bpe = std::get_if<Bpe>(&parts.model); bpe && is_byte_level(parts)) {
    write_file(folder / "vocab.json", write_vocabulary(bpe->vocabulary()));
    write_file(folder / "merges.txt", write_merges(*bpe));
  }
}

}  // namespace attend
