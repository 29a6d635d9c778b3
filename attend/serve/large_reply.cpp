#include "attend/serve/large_reply.h"

#include <algorithm>
#include <charconv>

#include "attend/serve/api_error.h"

namespace attend::serve {
namespace {

constexpr std::size_t kPart = 64 << 10;
constexpr double kLargeReply = 256 << 10;  // bytes

}  // namespace

PartWriter& PartWriter::operator<<(std::string_view text) {
  if (write_ && text_.size() + text.size() >= kPart) {
    flush();
    send(text);  // without a copy
  } else {
    text_ += text;
  }
  return *this;
}

PartWriter& PartWriter::operator<<(float value) {
  char digits[32];
  return *this << std::string_view(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

PartWriter& PartWriter::operator<<(std::int64_t value) { return *this << std::to_string(value); }

void PartWriter::send(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(kPart, text.size()))) {
    patience_->check();
    if (!(*write_)(text.substr(0, kPart))) throw ApiError(499, "hung_up", "the client has hung up");
  }
}

void PartWriter::flush() {
  send(text_);
  text_.clear();
}

Reply written_reply(std::function<void(PartWriter&)> produce, double bytes, const Patience& patience) {
  if (bytes <= kLargeReply) {
    PartWriter whole;
    produce(whole);
    return {.body = whole.take()};
  }
  Reply reply;
  reply.stream = [produce = std::move(produce), patience](const Reply::Write& write) {
    PartWriter parts(&write, &patience);
    produce(parts);
    parts.flush();
  };
  return reply;
}

Reply json_reply(std::string json, const Patience& patience) {
  const auto bytes = static_cast<double>(json.size());
  if (bytes <= kLargeReply) return {.body = std::move(json)};
  return written_reply([json = std::move(json)](PartWriter& out) { out << json; }, bytes, patience);
}

}  // namespace attend::serve
