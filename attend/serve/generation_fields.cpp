#include "attend/serve/generation_fields.h"

#include <charconv>
#include <map>

#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

constexpr double kLargestBias = 100;

/// The values that a field may have.
template <typename T>
Range range_of(const Option<T>& option, const OptionAlias& alias) {
  Range range = option.request.value_or(option.range);
  range.least += static_cast<double>(alias.offset), range.most += static_cast<double>(alias.offset);
  range.most = alias.most.value_or(range.most);
  return range;
}

/// Reads one field of each type.
class FieldReader {
 public:
  FieldReader(Fields& fields, std::int64_t vocabulary) : fields_(fields), vocabulary_(vocabulary) {}

  std::optional<bool> read(const Option<bool>&, const OptionAlias& alias) const { return fields_.flag(alias.name); }
  std::optional<double> read(const Option<double>& option, const OptionAlias& alias) const {
    const Range range = range_of(option, alias);
    return fields_.number(alias.name, range.least, range.most);
  }
  std::optional<std::int64_t> read(const Option<std::int64_t>& option, const OptionAlias& alias) const {
    const auto value = integer(option, alias);
    return value ? std::optional(*value - alias.offset) : std::nullopt;
  }
  std::optional<std::uint64_t> read(const Option<std::uint64_t>& option, const OptionAlias& alias) const {
    const auto value = integer(option, alias);
    return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
  }
  std::optional<std::string> read(const Option<std::string>&, const OptionAlias& alias) const {
    return fields_.optional_text(alias.name);
  }
  std::optional<EarlyStopping> read(const Option<EarlyStopping>&, const OptionAlias& alias) const {
    std::vector<std::string> names;
    for (const auto& [name, value] : kEarlyStoppingNames) names.push_back(name);
    const auto given = fields_.choice(alias.name, names);
    for (const auto& [name, value] : kEarlyStoppingNames)
      if (given == name) return value;
    return {};
  }
  std::optional<std::vector<std::string>> read(const Option<std::vector<std::string>>& option,
                                               const OptionAlias& alias) const {
    const std::vector<std::string> texts = fields_.optional_texts(alias.name);
    for (const std::string& text : texts)
      if (text.empty()) throw invalid_value(alias.name, "an empty text cannot be used here");
    check_count(option, alias, texts.size());
    return texts.empty() ? std::nullopt : std::optional(texts);
  }
  /// {"50256": -100}: token ids, and what is added to their logits.
  std::optional<std::vector<LogitBias>> read(const Option<std::vector<LogitBias>>& option,
                                             const OptionAlias& alias) const {
    const Json* given = fields_.find(alias.name);
    if (!given) return {};
    if (!given->is_object()) throw invalid_value(alias.name, "expected an object with token ids as keys");
    check_count(option, alias, given->size());
    std::vector<LogitBias> biases;
    Fields numbers(*given, std::string(alias.name) + ".");
    for (const auto& [key, value] : given->items()) {
      LogitBias one;
      const char* end = key.data() + key.size();
      const auto [at, error] = std::from_chars(key.data(), end, one.id);
      if (error != std::errc() || at != end || one.id < 0 || one.id >= vocabulary_)
        throw invalid_value(
            alias.name, "there is no token \"" + key + "\", expected the ids 0 to " + std::to_string(vocabulary_ - 1));
      one.bias = numbers.number(key.c_str(), -kLargestBias, kLargestBias).value_or(0);
      biases.push_back(one);
    }
    return biases;
  }

 private:
  template <typename T>
  std::optional<std::int64_t> integer(const Option<T>& option, const OptionAlias& alias) const {
    const Range range = range_of(option, alias);
    return fields_.integer(alias.name, static_cast<std::int64_t>(range.least), static_cast<std::int64_t>(range.most));
  }
  template <typename T>
  static void check_count(const Option<T>& option, const OptionAlias& alias, std::size_t count) {
    const Range range = range_of(option, alias);
    if (!range.contains(static_cast<double>(count)))
      throw invalid_value(alias.name, "the number of elements is out of range: got " + std::to_string(count) +
                                          ", expected " + range.text());
  }

  Fields& fields_;
  std::int64_t vocabulary_;
};

Json bounded(const char* type, const Range& range) {
  Json schema{{"type", type}};
  const bool integer = std::string_view(type) == "integer";
  const auto number = [&](double value) { return integer ? Json(static_cast<std::int64_t>(value)) : Json(value); };
  if (std::isfinite(range.least)) schema["minimum"] = number(range.least);
  if (std::isfinite(range.most)) schema["maximum"] = number(range.most);
  return schema;
}

Json schema_of(const Option<bool>&, const Range&) { return {{"type", "boolean"}}; }
Json schema_of(const Option<double>&, const Range& range) { return bounded("number", range); }
Json schema_of(const Option<std::int64_t>&, const Range& range) { return bounded("integer", range); }
Json schema_of(const Option<std::uint64_t>&, const Range& range) { return bounded("integer", range); }
Json schema_of(const Option<std::string>&, const Range&) { return {{"type", "string"}}; }
Json schema_of(const Option<EarlyStopping>&, const Range&) {
  Json names = Json::array();
  for (const auto& [name, value] : kEarlyStoppingNames) names.push_back(name);
  return {{"type", "string"}, {"enum", std::move(names)}};
}
Json schema_of(const Option<std::vector<std::string>>&, const Range& range) {
  const Json text{{"type", "string"}};
  const Json texts{{"type", "array"}, {"items", text}, {"maxItems", static_cast<std::int64_t>(range.most)}};
  return {{"anyOf", Json::array({text, texts})}};
}
Json schema_of(const Option<std::vector<LogitBias>>&, const Range&) {
  const Json number = bounded("number", {-kLargestBias, kLargestBias});
  return {{"type", "object"}, {"additionalProperties", {{"anyOf", Json::array({number, {{"type", "null"}}})}}}};
}

}  // namespace

const GenerationFields& generation_fields(std::string_view endpoint) {
  static const std::map<std::string_view, GenerationFields> all{
      {"completions", {FieldNames::openai, OptionModels::language_models}},
      {"translations", {FieldNames::libre_translate, OptionModels::encoder_decoders}},
      {"summaries", {.models = OptionModels::encoder_decoders, .without = {"nbest", "prefix"}}},
      {"attention", {.only = {"beam"}}}};
  return all.at(endpoint);
}

GenerationOptions read_generation_options(Fields& request, const GenerationFields& fields, std::int64_t vocabulary) {
  GenerationOptions options;
  const FieldReader reader(request, vocabulary);
  visit_fields(fields, [&](const auto& option, const OptionAlias& alias) {
    options.*option.field = reader.read(option, alias);
  });
  return options;
}

Json generation_schemas(const GenerationFields& fields, const Json& defaults) {
  const SearchOptions untold = default_search(fields.models);
  Json all = Json::object();
  visit_fields(fields, [&](const auto& option, const OptionAlias& alias) {
    std::string description = std::string(option.meaning) + ".";
    if (const auto given = defaults.find(alias.name); given != defaults.end()) {
      description += " Default: " + given->template get<std::string>() + ".";
    } else if (const auto value = default_text(option, untold)) {
      const std::string key =
          option.config_key ? std::string(option.config_key) + " of generation_config.json, or " : "";
      description += " Default: " + key + *value + ".";
    }
    Json schema = schema_of(option, range_of(option, alias));
    schema["description"] = description;
    all[alias.name] = {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
  });
  return all;
}

}  // namespace attend::serve
