// Who may use the server: checks of the headers of a request, before its body is read.
#pragma once
#include <string>
#include <vector>

#include "attend/serve/call.h"

namespace attend::serve {

/// The server's own address is only safe if web pages cannot use it. A browser tells which page sends a request
/// (Origin) and for which name (Host), and no page can change these two headers.
struct AccessRules {
  std::vector<std::string> keys = {};     ///< API keys, of which a client must send one; empty: no key is needed
  std::vector<std::string> hosts = {};    ///< names of the server besides localhost and IP addresses; "*": any name
  std::vector<std::string> origins = {};  ///< web pages of other origins that may use the server; "*": all
};

/// The names under which a server that listens at `host` is known: `more`, the host, and, if it accepts connections
/// from other machines, the name of this machine.
std::vector<std::string> host_names(const std::string& host, const std::vector<std::string>& more);
/// Whether only this machine can reach a server that listens at `host`.
bool is_loopback(const std::string& host);

/// Refuses a request for another host: a page whose name points to this server (DNS rebinding). Throws ApiError.
void check_host(const AccessRules& rules, const Call& call);
/// Refuses a request from a page of another origin (CSRF). Throws ApiError.
void check_origin(const AccessRules& rules, const Call& call);
/// Whether the request comes from a page of another origin that may use the server.
bool is_allowed_origin(const AccessRules& rules, const Call& call);
/// Whether the key is one of the keys. The time it takes does not depend on how much of a key is right.
bool is_known_key(const AccessRules& rules, const std::string& given);
/// The key of "Authorization: Bearer KEY", or empty.
std::string bearer_key(const Call& call);
/// The type of the body in small letters, without parameters.
std::string media_type(const Call& call);

}  // namespace attend::serve
