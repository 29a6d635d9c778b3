// Python's methods of strings, for chat templates. Texts are valid UTF-8, and counted in code points.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend::jinja {

/// str.isspace() of one character.
bool is_python_space(char32_t c);
/// The bytes of white space at the beginning and at the end.
std::size_t leading_space(std::string_view text);
std::size_t trailing_space(std::string_view text);

/// str.strip(), lstrip(), rstrip(): white space, or the characters in `chars`.
std::string_view strip(std::string_view text, bool left, bool right, const std::optional<std::string>& chars = {});

/// The code points of a text, for access by index.
class Letters {
 public:
  explicit Letters(std::string_view text);
  std::size_t size() const { return ascii_ ? text_.size() : begins_.size() - 1; }
  std::string_view at(std::size_t index) const { return part(index, index + 1); }
  std::string_view part(std::size_t begin, std::size_t end) const {
    return text_.substr(byte(begin), byte(end) - byte(begin));
  }
  std::size_t byte(std::size_t index) const { return ascii_ ? index : begins_[index]; }
  /// The code point that begins at this byte.
  std::size_t index(std::size_t byte) const;

 private:
  std::string_view text_;
  bool ascii_;
  std::vector<std::size_t> begins_;
};

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);
std::string title(std::string_view text);  ///< of str; the filter has words of its own
std::string swap_case(std::string_view text);

/// str.replace(): at most `count` times, or without a limit if it is negative. An empty `old` is between all letters.
std::string replace(std::string_view text, std::string_view old, std::string_view fresh, std::int64_t count = -1);
/// str.split() and rsplit(); without a separator at white space.
std::vector<std::string> split(std::string_view text, const std::optional<std::string>& separator, std::int64_t most,
                               bool from_right);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends = false);
/// html.escape(), as markupsafe does it.
std::string escape_html(std::string_view text);

}  // namespace attend::jinja
