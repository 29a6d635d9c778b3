#include "attend/text/tokenizer_config.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "attend/core/file.h"
#include "attend/core/json.h"
#include "attend/text/tokenizer_json.h"

namespace attend {
namespace {

/// Calls f with the root of a JSON file, if the file exists.
template <typename F>
void with_json(const std::filesystem::path& path, const F& f) {
  if (!std::filesystem::exists(path)) return;
  const MappedFile file = map_file(path);
  const JsonDocument document({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, path.string(),
                              "tokenizer");
  if (!document.root().is_object()) document.root().fail_kind("an object");
  f(document.root());
}

/// Reads a special token: a string, or an object with flags.
AddedToken read_special(const JsonValue& value) {
  if (!value.is_string()) {
    AddedToken token = read_added_token(value);
    token.special = true;
    return token;
  }
  AddedToken token;
  token.content = value.string();
  token.special = true;
  token.normalized = false;
  if (token.content.empty()) value.fail("a special token must not be empty");
  return token;
}

std::optional<bool> read_flag(const JsonValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value ? std::optional(value->boolean()) : std::nullopt;
}

/// Reads the special tokens of a file. Roles that are already set are not changed.
void read_special_tokens(const JsonValue& object, TokenizerConfig& config) {
  for (std::size_t i = 0; i < kSpecialRoles.size(); ++i) {
    const auto value = object.find(kSpecialRoles[i].key);
    if (!value || (value->is_string() && value->string().empty())) continue;
    // A later file may have the flags of a token that an earlier file has only by name.
    AddedToken token = read_special(*value);
    if (!config.roles[i] || (config.roles[i]->content == token.content && value->is_object()))
      config.roles[i] = std::move(token);
  }
  std::set<std::string, std::less<>> known;
  for (const AddedToken& token : config.extra_special) known.insert(token.content);
  const auto add = [&](const JsonValue& value) {
    AddedToken token = read_special(value);
    if (known.insert(token.content).second) config.extra_special.push_back(std::move(token));
  };
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
    if (const auto list = object.find(key)) {
      if (list->is_array()) list->each_element(add);
      if (list->is_object()) list->each_member([&](std::string_view, const JsonValue& value) { add(value); });
    }
}

/// added_tokens_decoder: {"0": {"content": …}}.
void read_added_decoder(const JsonValue& object, TokenizerConfig& config) {
  object.each_member([&](std::string_view key, const JsonValue& value) {
    AddedToken token = read_added_token(value);
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size() || token.id < 0) value.fail("its key is not an id");
    config.added.push_back(std::move(token));
  });
  std::ranges::sort(config.added, {}, &AddedToken::id);
}

std::string family_of_class(std::string name) {
  for (const std::string_view suffix : {"Fast", "Tokenizer"})
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name == "PreTrained" || name == "TokenizersBackend" ? "" : name;
}

/// The tokenizer family of a model type, if it is known.
std::string family_of_model(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
      {"bert", "Bert"},
      {"distilbert", "DistilBert"},
      {"electra", "Electra"},
      {"albert", "Albert"},
      {"camembert", "Camembert"},
      {"mpnet", "MPNet"},
      {"mobilebert", "MobileBert"},
      {"gpt2", "GPT2"},
      {"gpt_neo", "GPT2"},
      {"opt", "GPT2"},
      {"roberta", "Roberta"},
      {"bart", "Bart"},
      {"longformer", "Longformer"},
      {"t5", "T5"},
      {"mt5", "T5"},
      {"umt5", "T5"},
      {"xlm-roberta", "XLMRoberta"},
      {"marian", "Marian"},
      {"pegasus", "Pegasus"},
      {"mbart", "MBart"},
      {"m2m_100", "M2M100"},
  };
  for (const auto& [model, family] : kFamilies)
    if (type == model) return std::string(family);
  return "";
}

void read_main(const JsonValue& root, TokenizerConfig& config) {
  if (const auto name = root.find("tokenizer_class")) config.family = family_of_class(std::string(name->string()));
  config.do_lower_case = read_flag(root, "do_lower_case");
  config.strip_accents = read_flag(root, "strip_accents");
  config.keep_accents = read_flag(root, "keep_accents");
  config.tokenize_chinese_chars = read_flag(root, "tokenize_chinese_chars");
  config.add_prefix_space = read_flag(root, "add_prefix_space");
  config.add_bos_token = read_flag(root, "add_bos_token");
  config.add_eos_token = read_flag(root, "add_eos_token");
  config.separate_vocabs = root.boolean("separate_vocabs", false);
  if (const auto extra = root.find("extra_ids")) {
    config.extra_ids = extra->integer();
    if (config.extra_ids < 0 || config.extra_ids > 100'000) extra->fail_kind("a number from 0 to 100000");
  }
  if (const auto offset = root.find("offset")) {
    config.offset = offset->integer();
    if (config.offset < 2 || config.offset > 100'000) offset->fail_kind("a number from 2 to 100000");
  }
  config.source_language = root.string("src_lang", ""), config.target_language = root.string("tgt_lang", "");
  config.language_codes = root.string("language_codes", "m2m100");
  config.legacy_behaviour = root.boolean("legacy_behaviour", false);
  config.legacy = read_flag(root, "legacy").value_or(false);
  // transformers writes a number of thirty digits if the length is not known.
  if (const auto most = root.find("model_max_length"); most && most->number() >= 1 && most->number() < 1e9)
    config.max_tokens = static_cast<std::int64_t>(most->number());
  read_special_tokens(root, config);
  if (const auto decoder = root.find("added_tokens_decoder")) read_added_decoder(*decoder, config);
}

using Json = nlohmann::ordered_json;

std::string token_of(const Tokenizer::Parts& parts, std::int32_t id) {
  const auto added = std::ranges::find(parts.added_tokens, id, &AddedToken::id);
  return added != parts.added_tokens.end() ? added->content : std::string(vocabulary(parts.model).token(id));
}

void write_roles(const Tokenizer::Parts& parts, Json& object) {
  for (const SpecialRole& role : kSpecialRoles)
    if (const auto& id = parts.special.*role.id) object[std::string(role.key)] = token_of(parts, *id);
}

/// Whether the second text of a pair has type 1, so that the model needs token types.
bool has_types(const Tokenizer::Parts& parts) {
  return std::ranges::any_of(parts.post_processor, [](const post_processor::Step& step) {
    const auto* made = std::get_if<post_processor::Template>(&step);
    return std::holds_alternative<post_processor::Bert>(step) ||
           (made && std::ranges::any_of(made->pair, [](const auto& piece) {
              return piece.kind == post_processor::Template::Piece::special && piece.type_id > 0;
            }));
  });
}

std::string text_of(const Json& object) { return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

}  // namespace

TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder) {
  TokenizerConfig config;
  with_json(folder / "config.json",
            [&](const JsonValue& root) { config.family = family_of_model(root.string("model_type", "")); });
  with_json(folder / "tokenizer_config.json", [&](const JsonValue& root) { read_main(root, config); });
  with_json(folder / "special_tokens_map.json", [&](const JsonValue& root) { read_special_tokens(root, config); });
  with_json(folder / "added_tokens.json", [&](const JsonValue& root) {
    std::set<std::string, std::less<>> known;
    for (const AddedToken& token : config.added) known.insert(token.content);
    root.each_member([&](std::string_view content, const JsonValue& id) {
      if (content.empty()) root.fail("an added token must not be empty");
      AddedToken token;
      token.content = content;
      token.id = id.id();
      if (known.insert(token.content).second) config.added.push_back(std::move(token));
    });
    std::ranges::sort(config.added, {}, &AddedToken::id);
  });
  return config;
}

std::string write_tokenizer_config(const Tokenizer::Parts& parts, std::string_view tokenizer_class) {
  Json object = {{"tokenizer_class", tokenizer_class}, {"clean_up_tokenization_spaces", false}};
  if (parts.max_tokens > 0) object["model_max_length"] = parts.max_tokens;
  object["model_input_names"] =
      has_types(parts) ? Json{"input_ids", "token_type_ids", "attention_mask"} : Json{"input_ids", "attention_mask"};
  write_roles(parts, object);
  if (const LanguageScheme* scheme = parts.language_scheme) {
    object["src_lang"] = parts.languages.source.empty() ? Json() : Json(parts.languages.source);
    object["tgt_lang"] = parts.languages.target.empty() ? Json() : Json(parts.languages.target);
    if (scheme->family == "Nllb") object["legacy_behaviour"] = parts.source_language_last;
    for (const LanguageTokens::Language& one : parts.languages.all)
      object["additional_special_tokens"].push_back(scheme->token(one.code));
  }
  Json added = Json::object();
  auto& members = added.get_ref<Json::object_t&>();  // a new id is not compared with all others
  for (const AddedToken& token : parts.added_tokens)
    members.emplace_back(std::to_string(token.id), Json{{"content", token.content},
                                                        {"lstrip", token.lstrip},
                                                        {"normalized", token.normalized},
                                                        {"rstrip", token.rstrip},
                                                        {"single_word", token.single_word},
                                                        {"special", token.special}});
  object["added_tokens_decoder"] = std::move(added);
  return text_of(object);
}

std::string write_special_tokens_map(const Tokenizer::Parts& parts) {
  Json object = Json::object();
  write_roles(parts, object);
  return text_of(object);
}

}  // namespace attend
