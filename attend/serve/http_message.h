// Reads the requests of an HTTP/1.1 connection from bytes (RFC 9112), and writes the heads of answers. Knows no
// sockets.
//
// What two programs could read in different ways is refused: bare CR and LF, folded lines, spaces before a colon, two
// lengths, any transfer encoding but "chunked". So a proxy in front of the server and the server always agree about
// where a request ends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend::serve {

struct MessageLimits {
  std::size_t head = 64 << 10;  ///< request line and header fields, in bytes
  std::size_t fields = 100;     ///< header fields
  std::size_t path = 1024;      ///< path of the URL, in bytes
  std::size_t body = 8 << 20;   ///< body, in bytes
};

struct RequestHead {
  std::string method, path;  ///< the path is decoded
  std::string query;         ///< of the URL, encoded
  std::string host;          ///< with the port; empty if an HTTP/1.0 client does not send it
  std::vector<std::pair<std::string, std::string>> fields;  ///< names in small letters
  bool http_1_0 = false;
  bool keep_alive = true;  ///< the client may send another request on this connection
  bool expects_continue = false;
  bool chunked = false;
  std::uint64_t length = 0;  ///< of the body, unless it is chunked

  bool has_body() const { return chunked || length > 0; }
  /// The value of a field, or empty. Throws ApiError if there are several.
  std::string field(std::string_view name) const;
};

/// Reads one request after the other. All functions that read throw ApiError for a request that is refused; nothing can
/// be read from the connection after that.
class RequestReader {
 public:
  explicit RequestReader(const MessageLimits& limits) : limits_(limits) {}

  /// Adds bytes that the client has sent.
  void feed(std::string_view bytes) { input_.append(bytes); }
  /// Whether the request line and the header fields are complete. Then head() is valid.
  bool read_head();
  const RequestHead& head() const { return head_; }
  /// Whether the body is complete. Call it after read_head().
  bool read_body();
  /// The body is read, but not stored.
  void drop_body() { drop_ = true; }
  std::string take_body() { return std::move(body_); }
  /// Begins to read the next request.
  void next();
  /// Whether nothing of the next request has arrived.
  bool idle() const { return !head_done_ && at_ == input_.size(); }
  /// Bytes of memory that are taken.
  std::size_t size() const { return input_.capacity() + body_.capacity(); }

 private:
  enum class Part { size, data, data_end, trailer, done };

  void parse_head(std::string_view text);
  void parse_request_line(std::string_view line);
  void parse_target(std::string_view target);
  void parse_framing();
  void take(std::size_t count);
  bool read_chunks();
  bool read_line(std::string_view& line, std::size_t longest);

  MessageLimits limits_;
  std::string input_;  // bytes that are not yet read begin at at_
  std::size_t at_ = 0, scanned_ = 0, line_ = 0;
  RequestHead head_;
  bool head_done_ = false, skipped_ = false, drop_ = false;
  std::string body_;
  std::uint64_t left_ = 0;      // of the body or the chunk
  std::uint64_t received_ = 0;  // bytes of the body, as sent
  Part part_ = Part::size;
};

struct ResponseHead {
  int status = 200;
  std::string type = {};
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::size_t length = 0;
  bool chunked = false;      ///< instead of the length
  bool until_close = false;  ///< instead of the length: a stream for an HTTP/1.0 client
  bool keep_alive = true;
  bool http_1_0 = false;  ///< version of the request
};
std::string text_of(const ResponseHead& head);

/// ASCII capitals become small letters.
std::string lower(std::string_view text);
/// Decodes %41 and, in forms and queries, "+". Throws ApiError for an incomplete code.
std::string decode_url(std::string_view text, bool plus_is_space);

}  // namespace attend::serve
