#include "attend/serve/access.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "attend/serve/api_error.h"
#include "attend/serve/http_message.h"

namespace attend::serve {
namespace {

bool is_ip_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (name.starts_with('[') && name.ends_with(']'))
    return ::inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), address.data()) == 1;
  return ::inet_pton(AF_INET, name.c_str(), address.data()) == 1;
}

/// Without the port and the dot at the end of a full name, in small letters.
std::string name_of(const std::string& host) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  std::string name = lower(host.substr(0, colon));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::any_of(all, [&](const std::string& other) { return other == "*" || lower(other) == one; });
}

/// Whether a page of this origin was loaded from this server.
bool is_own_origin(const Call& call) {
  const std::string origin = lower(call.origin);
  for (const auto& [scheme, port] : {std::pair{"http://", ":80"}, std::pair{"https://", ":443"}}) {
    if (!origin.starts_with(scheme)) continue;
    const auto shortened = [port = std::string(port)](std::string host) {
      if (host.ends_with(port)) host.resize(host.size() - port.size());
      return host;
    };
    return !call.host.empty() && shortened(origin.substr(std::string(scheme).size())) == shortened(lower(call.host));
  }
  return false;
}

/// The time it takes does not depend on how much of the key is right.
bool is_key(const std::string& key, const std::string& given) {
  volatile unsigned char difference = key.empty() || key.size() != given.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = key.empty() ? '\0' : key[i % key.size()];
    difference = static_cast<unsigned char>(difference | (expected ^ given[i]));
  }
  return difference == 0;
}

}  // namespace

bool is_loopback(const std::string& host) {
  in_addr address{};
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

std::vector<std::string> host_names(const std::string& host, const std::vector<std::string>& more) {
  std::vector<std::string> names = more;
  names.push_back(host);
  std::array<char, 256> own{};
  if (!is_loopback(host) && ::gethostname(own.data(), own.size() - 1) == 0) names.emplace_back(own.data());
  return names;
}

void check_host(const AccessRules& rules, const Call& call) {
  if (call.host.empty()) return;  // HTTP/1.0; a browser always sends it
  const std::string name = name_of(call.host);
  if (name == "localhost" || is_ip_address(name) || contains(rules.hosts, name)) return;
  throw ApiError(403, "forbidden",
                 "the server is not known as \"" + name + "\"; start it with --allowed-host " + name + " if it is");
}

bool is_allowed_origin(const AccessRules& rules, const Call& call) {
  return !call.origin.empty() && contains(rules.origins, lower(call.origin));
}

void check_origin(const AccessRules& rules, const Call& call) {
  if (call.origin.empty() || is_own_origin(call) || is_allowed_origin(rules, call)) return;
  throw ApiError(403, "forbidden",
                 "web pages of " + call.origin + " may not use this server; start it with --cors-origin " +
                     call.origin + " if they may");
}

bool is_known_key(const AccessRules& rules, const std::string& given) {
  bool known = false;
  for (const std::string& key : rules.keys) known |= is_key(key, given);
  return known;
}

std::string bearer_key(const Call& call) {
  constexpr std::size_t kScheme = 6;
  if (lower(call.authorization.substr(0, kScheme + 1)) != "bearer ") return "";
  const std::size_t first = call.authorization.find_first_not_of(' ', kScheme);
  return first == std::string::npos ? "" : call.authorization.substr(first);
}

std::string media_type(const Call& call) {
  std::string type = lower(call.content_type.substr(0, call.content_type.find(';')));
  while (type.ends_with(' ') || type.ends_with('\t')) type.pop_back();
  return type;
}

}  // namespace attend::serve
