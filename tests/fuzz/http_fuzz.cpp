// Any bytes as a connection: the parser of requests, in pieces of two sizes, and what is done with a request before a
// model sees it.
#include <string>
#include <string_view>
#include <vector>

#include "attend/core/error.h"
#include "attend/serve/access.h"
#include "attend/serve/fields.h"
#include "attend/serve/http_message.h"

namespace {

using namespace attend;
using namespace attend::serve;

/// All requests of a connection, as text; the last line tells whether it ends with one that is refused.
std::string read_all(std::string_view bytes, std::size_t piece) {
  RequestReader reader({.head = 4096, .fields = 20, .path = 100, .body = 4096});
  std::string all;
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(bytes.substr(at, piece));
      while (reader.read_head() && reader.read_body()) {
        const RequestHead& head = reader.head();
        all += head.method + ' ' + head.path + ' ' + head.host + '\n' + reader.take_body() + '\n';
        reader.next();
      }
    }
  } catch (const Error&) {
    all += "refused";
  }
  return all;
}

void attempt(auto&& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void check(const RequestHead& head, const std::string& body) {
  const AccessRules rules{{"secret"}, {"example.org"}, {"https://example.org"}};
  Call call{.method = head.method, .path = head.path, .body = body};
  attempt([&] {
    call.host = head.host, call.origin = head.field("origin"), call.content_type = head.field("content-type");
    call.authorization = head.field("authorization");
  });
  attempt([&] { check_host(rules, call); });
  attempt([&] { check_origin(rules, call); });
  attempt([&] { is_known_key(rules, bearer_key(call)); });
  attempt([&] { parse_form(head.query); });
  attempt([&] { parse_form(body); });
  attempt([&] { find_form_text(body, "api_key"); });
  attempt([&] { media_type(call); });
  attempt([&] {  // the search for a key finds what the parser finds
    const Json parsed = parse_object(body);
    const auto found = parsed.find("api_key");
    const std::string text = find_text(body, "api_key");
    if (!text.empty() && (found == parsed.end() || *found != text)) __builtin_trap();
  });
  find_text(body, "api_key");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && read_all(bytes, size) != read_all(bytes, 1)) __builtin_trap();
  attempt([&] {
    RequestReader reader({});
    reader.feed(bytes);
    if (reader.read_head() && reader.read_body()) check(reader.head(), reader.take_body());
  });
  return 0;
}
