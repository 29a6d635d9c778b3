// Checked access to the JSON of requests. Unknown fields are refused, not ignored.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attend::serve {

using Json = nlohmann::ordered_json;

/// The largest number of values in a body.
constexpr std::size_t kMostValues = 100000;

/// Whether a body begins as a JSON object does.
bool looks_like_json(std::string_view body);
/// Parses the JSON object of a request's body. Throws ApiError: invalid_utf8, or invalid_json, also for what no request
/// needs: more than 32 levels, 100,000 values, 1,000 keys in an object, 100 digits in a number, or a key twice. The
/// time is proportional to the size of the body, and the tree has at most 100,000 nodes.
Json parse_object(std::string_view body);
/// The text of a field of a JSON object, or empty, without parsing the rest: some nanoseconds per byte, whatever is in
/// the body. It finds API keys before it is known whether the client may use the server.
std::string find_text(std::string_view object, std::string_view key);
/// The same for a form.
std::string find_form_text(std::string_view form, std::string_view key);
/// The fields of a form, or of the query of a URL; of several with one name, the first. Throws ApiError for more than
/// 1,000 fields.
std::map<std::string, std::string> parse_form(std::string_view form);
/// One line; bytes that are no UTF-8 become U+FFFD.
std::string dump(const Json& json);

/// An object's fields. Each function throws ApiError: missing_field, or invalid_value for another kind or range.
class Fields {
 public:
  /// `path` stands before the names in messages: "messages[2].".
  explicit Fields(const Json& object, std::string path = {});

  /// The field as it is, or null where it is missing or null.
  const Json* find(const char* key);
  const Json& required(const char* key);

  std::string text(const char* key);
  std::optional<std::string> optional_text(const char* key);
  std::optional<bool> flag(const char* key);
  std::optional<std::int64_t> integer(const char* key, std::int64_t least, std::int64_t most);
  std::optional<double> number(const char* key, double least, double most);
  /// One text, or an array of them.
  std::vector<std::string> texts(const char* key);
  /// Throws if a field has more texts, or pairs of them, than a request may have.
  void check_number_of_texts(const char* key, std::size_t count) const;
  std::vector<std::string> optional_texts(const char* key);
  std::vector<std::int64_t> integers(const char* key);
  std::optional<std::string> choice(const char* key, const std::vector<std::string>& names);

  /// A field that clients send and that has no effect here.
  void ignore(const char* key) { known_.insert(key); }
  /// A field that is not supported: only these values, which have no effect, are accepted.
  void refuse(const char* key, const std::vector<Json>& harmless, const char* why);
  /// Throws invalid_value for a field that was not read by the functions above.
  void refuse_others() const;

  std::string name(const char* key) const { return path_ + key; }

 private:
  const Json& object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace attend::serve
