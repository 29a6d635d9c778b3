#include "attend/serve/http_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ctime>
#include <optional>

#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

constexpr std::size_t kLongestMethod = 32;
constexpr std::size_t kLongestTarget = 16 << 10;
constexpr std::size_t kLongestChunkLine = 1024;   // the size of a chunk and its extensions; a line of a trailer
constexpr std::size_t kChunkOverhead = 64 << 10;  // bytes of chunk sizes and trailers, in addition to the body's limit

ApiError malformed(const std::string& message) {
  return {400, "invalid_value", "the request is malformed: " + message};
}

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_char); }
/// Printing characters, spaces, tabs, and bytes of other alphabets.
bool is_field_value_char(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); }

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower_letter(c);
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return {};
}

/// A name and its value. Throws ApiError.
std::pair<std::string, std::string> parse_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') throw malformed("a header field is folded over two lines");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    throw malformed("a header field is not \"Name: value\"");
  const std::string_view value = trim(line.substr(colon + 1));
  if (!std::ranges::all_of(value, is_field_value_char)) throw malformed("a header field has a control character");
  return {lower(line.substr(0, colon)), std::string(value)};
}

bool is_authority(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~[]:").find(c) != std::string_view::npos;
  });
}

/// The names in a list such as "keep-alive, Upgrade", in small letters.
bool list_has(const std::string& list, std::string_view name) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (lower(trim(rest.substr(0, comma))) == name) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

}  // namespace

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = lower_letter(c);
  return all;
}

std::string RequestHead::field(std::string_view name) const {
  const std::string* found = nullptr;
  for (const auto& [key, value] : fields) {
    if (key != name) continue;
    if (found) throw malformed("the header field " + key + " is given twice");
    found = &value;
  }
  return found ? *found : "";
}

bool RequestReader::read_head() {
  if (head_done_) return true;
  for (std::size_t end; (end = input_.find('\n', scanned_)) != std::string::npos;) {
    if (end == line_ || input_[end - 1] != '\r') throw malformed("a line does not end with CR LF");
    const bool first = line_ == at_, empty = end == line_ + 1;
    scanned_ = end + 1;
    if (scanned_ - at_ > limits_.head) break;
    line_ = scanned_;
    if (empty && first) {  // some clients send an empty line after a body
      if (skipped_) throw malformed("it begins with empty lines");
      skipped_ = true;
      at_ = scanned_;
    } else if (empty) {
      parse_head(std::string_view(input_).substr(at_, scanned_ - at_ - 2));
      at_ = scanned_;
      left_ = head_.length;
      return head_done_ = true;
    }
  }
  scanned_ = input_.size();
  if (at_ < input_.size() && !is_token_char(input_[at_]) && input_[at_] != '\r')
    throw malformed("it does not begin with a method");
  if (input_.size() - at_ > limits_.head)
    throw ApiError(line_ == at_ ? 414 : 431, "head_too_large",
                   "the request line and the headers have more than " + std::to_string(limits_.head) + " bytes");
  return false;
}

/// `text` has all lines, each with its CR LF, without the empty line at the end.
void RequestReader::parse_head(std::string_view text) {
  head_ = {};
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    if (line.find('\r') != std::string_view::npos) throw malformed("a line has a CR in it");
    text.remove_prefix(end + 2);
    if (first) {
      parse_request_line(line);
      continue;
    }
    if (head_.fields.size() == limits_.fields)
      throw ApiError(431, "head_too_large", "the request has more than " + std::to_string(limits_.fields) + " headers");
    head_.fields.push_back(parse_field(line));
  }
  parse_framing();
}

void RequestReader::parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    throw malformed("the first line is not \"METHOD /path HTTP/1.1\"");
  const std::string_view method = line.substr(0, first), version = line.substr(last + 1);
  if (!is_token(method) || method.size() > kLongestMethod) throw malformed("the method has no name");
  if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.')
    throw malformed("the version is missing");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    throw ApiError(505, "invalid_value", "the server speaks HTTP/1.1");
  head_.method = method;
  head_.http_1_0 = version == "HTTP/1.0";
  parse_target(line.substr(first + 1, last - first - 1));
}

void RequestReader::parse_target(std::string_view target) {
  if (target.size() > kLongestTarget) throw ApiError(414, "head_too_large", "the URL is too long");
  if (target.empty() || !std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f && c != '#'; }))
    throw malformed("the URL has characters that it must not have");
  if (target == "*" && head_.method == "OPTIONS") {
    head_.path = "*";
    return;
  }
  if (!target.starts_with('/')) {  // the absolute form, which proxies receive; its host stands for the header's
    const std::string scheme = lower(target.substr(0, std::min<std::size_t>(target.find("://"), 8)));
    if (scheme != "http" && scheme != "https") throw malformed("the URL does not begin with \"/\"");
    target.remove_prefix(scheme.size() + 3);
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    head_.host = target.substr(0, end);
    if (head_.host.empty() || !is_authority(head_.host)) throw malformed("the URL has no valid host");
    target.remove_prefix(end);
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  if (question > limits_.path) throw ApiError(414, "head_too_large", "the path is too long");
  head_.path = question == 0 ? "/" : decode_url(target.substr(0, question), false);
  if (head_.path.find('\0') != std::string::npos) throw malformed("the path has a NUL");
  if (question < target.size()) head_.query = target.substr(question + 1);
}

/// Where the request ends, and whether another one may follow.
void RequestReader::parse_framing() {
  const auto count = [&](std::string_view name) {
    return std::ranges::count_if(head_.fields, [&](const auto& field) { return field.first == name; });
  };
  const auto hosts = count("host");
  if (hosts > 1 || (hosts == 0 && !head_.http_1_0)) throw malformed("it has no Host, or several");
  const std::string host = head_.field("host");
  if (!is_authority(host)) throw malformed("the Host has characters that it must not have");
  if (head_.host.empty()) head_.host = host;

  const auto lengths = count("content-length"), encodings = count("transfer-encoding");
  if (lengths + encodings > 1) throw malformed("it gives its length more than once");
  if (encodings == 1) {
    if (lower(head_.field("transfer-encoding")) != "chunked")
      throw ApiError(501, "invalid_value", "the only Transfer-Encoding is chunked");
    if (head_.http_1_0) throw malformed("HTTP/1.0 has no Transfer-Encoding");
    head_.chunked = true;
  } else if (lengths == 1) {
    const std::string length = head_.field("content-length");
    if (length.empty() || length.size() > 18 ||
        !std::ranges::all_of(length, [](char c) { return c >= '0' && c <= '9'; }))
      throw malformed("Content-Length is not a number");
    head_.length = std::stoull(length);
    if (head_.length > limits_.body)
      throw ApiError(
          413, "body_too_large",
          "the body is too large: got " + length + " bytes, expected at most " + std::to_string(limits_.body));
  } else if (head_.method == "POST" || head_.method == "PUT" || head_.method == "PATCH") {
    throw ApiError(411, "missing_field", "a request with a body needs a Content-Length");
  }
  bool close = head_.http_1_0, keep = false;
  for (const auto& [name, value] : head_.fields)
    if (name == "connection") close = close || list_has(value, "close"), keep = keep || list_has(value, "keep-alive");
  head_.keep_alive = head_.http_1_0 ? keep : !close;
  if (const std::string expected = lower(head_.field("expect")); !expected.empty() && !head_.http_1_0) {
    if (expected != "100-continue") throw ApiError(417, "invalid_value", "the only Expect is 100-continue");
    head_.expects_continue = true;
  }
}

void RequestReader::take(std::size_t count) {
  if (!drop_) body_.append(input_, at_, count);
  at_ += count, left_ -= count;
}

bool RequestReader::read_body() {
  const std::size_t before = at_;
  bool done = false;
  if (head_.chunked) {
    done = read_chunks();
    received_ += at_ - before;
  } else {
    take(static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size() - at_)));
    done = left_ == 0;
  }
  if (at_ == input_.size() || at_ >= kChunkOverhead) input_.erase(0, at_), at_ = 0;
  if (received_ > limits_.body + kChunkOverhead)
    throw ApiError(413, "body_too_large",
                   "the body is too large: its chunks have more than " + std::to_string(limits_.body) + " bytes");
  return done;
}

/// A whole line, without its CR LF.
bool RequestReader::read_line(std::string_view& line, std::size_t longest) {
  const std::size_t most = std::min(input_.size() - at_, longest + 2);
  const auto* begin = input_.data() + at_;
  const auto* found = static_cast<const char*>(std::memchr(begin, '\n', most));
  if (!found) {
    if (input_.size() - at_ > longest + 1) throw malformed("a line between the chunks of the body is too long");
    return false;
  }
  const auto end = static_cast<std::size_t>(found - begin);
  if (end == 0 || input_[at_ + end - 1] != '\r') throw malformed("a line between the chunks does not end with CR LF");
  line = std::string_view(input_).substr(at_, end - 1);
  at_ += end + 1;
  return true;
}

bool RequestReader::read_chunks() {
  std::string_view line;
  for (;;) switch (part_) {
      case Part::size: {
        if (!read_line(line, kLongestChunkLine)) return false;
        std::size_t digits = 0;
        left_ = 0;
        for (; digits < line.size() && hex_digit(line[digits]); ++digits) left_ = left_ << 4 | *hex_digit(line[digits]);
        if (digits == 0 || digits > 15 || (digits < line.size() && line[digits] != ';') ||
            !std::ranges::all_of(line, is_field_value_char))
          throw malformed("a chunk of the body has no valid size");
        if (left_ > limits_.body || received_ + left_ > limits_.body + kChunkOverhead ||
            body_.size() + left_ > limits_.body)
          throw ApiError(413, "body_too_large",
                         "the body is too large: expected at most " + std::to_string(limits_.body) + " bytes");
        part_ = left_ > 0 ? Part::data : Part::trailer;
        break;
      }
      case Part::data:
        take(static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size() - at_)));
        if (left_ > 0) return false;
        part_ = Part::data_end;
        break;
      case Part::data_end:
        if (input_.size() == at_ || (input_[at_] == '\r' && input_.size() - at_ == 1)) return false;
        if (input_[at_] != '\r' || input_[at_ + 1] != '\n')
          throw malformed("a chunk of the body is longer than its size");
        at_ += 2;
        part_ = Part::size;
        break;
      case Part::trailer:
        if (!read_line(line, kLongestChunkLine)) return false;
        if (line.empty())
          part_ = Part::done;
        else
          parse_field(line);  // checked, and not used
        break;
      case Part::done:
        return true;
    }
}

void RequestReader::next() {
  input_.erase(0, at_);
  at_ = scanned_ = line_ = 0;
  head_done_ = skipped_ = drop_ = false;
  body_ = {};
  left_ = received_ = 0;
  part_ = Part::size;
}

std::string text_of(const ResponseHead& head) {
  std::string text = "HTTP/1.1 " + std::to_string(head.status) + ' ' + reason(head.status) + "\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::array<char, 40> date{};
  if (::gmtime_r(&now, &utc) && std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc) > 0)
    add("Date", date.data());
  if (!head.type.empty()) add("Content-Type", head.type);
  add("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : head.fields) add(name, value);
  if (head.chunked)
    add("Transfer-Encoding", "chunked");
  else if (!head.until_close && head.status != 204)
    add("Content-Length", std::to_string(head.length));
  if (!head.keep_alive)
    add("Connection", "close");
  else if (head.http_1_0)
    add("Connection", "keep-alive");
  return text += "\r\n";
}

std::string decode_url(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] == '%') {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
      if (!low) throw malformed("a % is not followed by two hexadecimal digits");
      decoded += static_cast<char>(*high << 4 | *low);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace attend::serve
