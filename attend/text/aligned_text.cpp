#include "attend/text/aligned_text.h"

#include <limits>

#include "attend/core/error.h"
#include "attend/text/byte_level.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

bool continues(char byte) { return (byte & 0xC0) == 0x80; }

int size_of(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

/// The size of the code point with this first byte, in valid UTF-8.
std::size_t size_at(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

AlignedText::Origin AlignedText::origin_of_byte(std::size_t at) const {
  if (moved_) return origins_[at];
  std::size_t begin = at;
  while (continues(original_[begin])) --begin;
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + size_at(original_[begin]))};
}

Span AlignedText::origin(std::size_t begin, std::size_t end) const {
  if (begin >= end) return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
  return {origin_of_byte(begin).begin, origin_of_byte(end - 1).end};
}

char32_t TextEdit::peek() const { return decode_utf8(text_.view_, at_).value; }

void TextEdit::begin_moving() {
  if (moving_ || !text_.keep_origins_) return;
  if (text_.original_.size() > std::numeric_limits<std::uint32_t>::max())
    fail<InputError>("tokenize", "the text has ", text_.original_.size(), " bytes, expected less than 4 GB: cut it");
  moving_ = true;
  origins_.reserve(text_.view_.size() + text_.view_.size() / 8);
  for (std::size_t i = 0; i < written_.size(); ++i) origins_.push_back(text_.origin_of_byte(i));
}

void TextEdit::write(char32_t code_point, AlignedText::Origin origin) {
  append_utf8(code_point, written_);
  if (moving_) origins_.insert(origins_.end(), static_cast<std::size_t>(size_of(code_point)), origin);
}

void TextEdit::map(const std::array<char, 128>& ascii) {
  const std::string_view old = text_.view_;
  std::size_t end = at_;
  for (; end < old.size() && static_cast<unsigned char>(old[end]) < 0x80; ++end) {
    const char by = ascii[static_cast<unsigned char>(old[end])];
    if (by == kStop) break;
    written_ += by;
  }
  if (moving_)
    for (std::size_t i = at_; i < end; ++i) origins_.push_back(text_.origin_of_byte(i));
  at_ = end;
}

void TextEdit::keep() { keep(size_at(text_.view_[at_])); }

void TextEdit::keep(std::size_t bytes) {
  written_.append(text_.view_, at_, bytes);
  if (moving_)
    for (std::size_t i = 0; i < bytes; ++i) origins_.push_back(text_.origin_of_byte(at_ + i));
  at_ += bytes;
}

void TextEdit::replace(char32_t by) {
  const std::size_t size = size_at(text_.view_[at_]);
  if (size != static_cast<std::size_t>(size_of(by))) begin_moving();
  write(by, moving_ ? text_.origin_of_byte(at_) : AlignedText::Origin{});
  at_ += size;
}

void TextEdit::drop() { drop(size_at(text_.view_[at_])); }

void TextEdit::drop(std::size_t bytes) {
  if (bytes > 0) begin_moving();
  at_ += bytes;
}

void TextEdit::insert(char32_t code_point) {
  begin_moving();
  write(code_point, moving_ && at_ > 0 ? text_.origin_of_byte(at_ - 1) : AlignedText::Origin{0, 0});
}

void TextEdit::insert(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at += size_at(text[at])) insert(decode_utf8(text, at).value);
}

void TextEdit::prepend(std::string_view text) {
  begin_moving();
  const AlignedText::Origin origin = moving_ ? text_.origin_of_byte(at_) : AlignedText::Origin{};
  for (std::size_t at = 0; at < text.size(); at += size_at(text[at])) write(decode_utf8(text, at).value, origin);
  keep();
}

void TextEdit::to_byte_letters() {
  begin_moving();
  const AlignedText::Origin origin = moving_ ? text_.origin_of_byte(at_) : AlignedText::Origin{};
  for (const std::size_t end = at_ + size_at(text_.view_[at_]); at_ < end; ++at_)
    write(byte_letters()[static_cast<unsigned char>(text_.view_[at_])], origin);
}

void TextEdit::commit() {
  if (moving_) {
    text_.origins_ = std::move(origins_);
    text_.moved_ = true;
  }
  text_.changed_ = std::move(written_);
  text_.view_ = text_.changed_;
}

}  // namespace attend
