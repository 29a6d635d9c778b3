// A connection on which a test sends any bytes.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

namespace attend::test {

class Raw {
 public:
  explicit Raw(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Raw() { close(); }
  Raw(Raw&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Raw& operator=(Raw&&) = delete;

  void send(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t sent = ::send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return;
      at += static_cast<std::size_t>(sent);
    }
  }
  /// All until the server closes, or nothing comes for a while.
  std::string receive(int patience = 5000) const {
    std::string all;
    std::array<char, 4096> buffer{};
    pollfd wanted{socket_, POLLIN, 0};
    while (::poll(&wanted, 1, patience) > 0) {
      const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  /// Reads up to block.size() bytes. Returns their number; 0 when the server has closed the connection.
  std::size_t read(std::string& block) const {
    const ssize_t got = ::recv(socket_, block.data(), block.size(), 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  /// The first byte.
  void receive_some() const {
    char byte = 0;
    EXPECT_EQ(::recv(socket_, &byte, 1, 0), 1);
  }
  /// Says that no more bytes follow, and still reads.
  void shut_down() const { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
};

/// A POST of JSON.
inline std::string request(const std::string& path, const std::string& body, const std::string& more = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + more + "\r\n" + body;
}
inline std::string status_of(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

}  // namespace attend::test
