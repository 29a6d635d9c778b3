// Answers that may be large. They are sent in parts as they are written, so that a client that reads slowly does not
// keep the whole answer in memory.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "attend/serve/call.h"
#include "attend/serve/patience.h"

namespace attend::serve {

/// Collects text and sends it in parts; without `write`, only collects it.
class PartWriter {
 public:
  explicit PartWriter(const Reply::Write* write = nullptr, const Patience* patience = nullptr)
      : write_(write), patience_(patience) {}
  /// Throws as Patience::check(), also hung_up when the client is gone.
  PartWriter& operator<<(std::string_view text);
  /// The shortest digits that read back as the same number.
  PartWriter& operator<<(float value);
  PartWriter& operator<<(std::int64_t value);
  /// Sends the rest.
  void flush();
  std::string take() { return std::move(text_); }

 private:
  void send(std::string_view text);

  const Reply::Write* write_;
  const Patience* patience_;
  std::string text_;
};

/// An answer in JSON that `produce` writes. If it has about `bytes` or fewer and that is little, it is written at once;
/// otherwise while it is sent. `produce` must not fail, and owns what it uses. The request's memory stays reserved
/// until the answer is sent; if that takes too long, or the server stops, the connection breaks off.
Reply written_reply(std::function<void(PartWriter&)> produce, double bytes, const Patience& patience);
/// The same for a finished text.
Reply json_reply(std::string json, const Patience& patience);

}  // namespace attend::serve
