#include "attend/data/text_stream.h"

#include <fcntl.h>
#include <iconv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr std::size_t kBufferSize = 256 << 10;
constexpr std::size_t kPeekSize = 64 << 10;

/// Whether two names are equal if case is ignored.
bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The size of a code unit of a charset, in bytes.
std::size_t unit_of(std::string_view charset) {
  if (same_name(charset.substr(0, 6), "UTF-16")) return 2;
  return same_name(charset.substr(0, 6), "UTF-32") ? 4 : 1;
}

iconv_t state_of(void* state) { return static_cast<iconv_t>(state); }

}  // namespace

bool is_utf8_charset(std::string_view name) {
  for (const char* known : {"", "UTF-8", "UTF8", "US-ASCII", "ASCII"})
    if (same_name(name, known)) return true;
  return false;
}

CharsetDecoder::CharsetDecoder(const std::string& charset, std::string_view file)
    : state_(::iconv_open("UTF-8", charset.c_str())), unit_(unit_of(charset)) {
  if (reinterpret_cast<std::intptr_t>(state_) == -1) {
    state_ = nullptr;
    fail<InputError>("read", file, ": its charset is not known here: got \"", charset,
                     "\", expected one that iconv lists");
  }
}

CharsetDecoder::~CharsetDecoder() {
  if (state_) ::iconv_close(state_of(state_));
}

CharsetDecoder::CharsetDecoder(CharsetDecoder&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)),
      unit_(other.unit_),
      pending_(std::move(other.pending_)),
      invalid_(other.invalid_) {}

void CharsetDecoder::append(std::string_view bytes, std::string& text, bool last) {
  pending_ += bytes;
  char* in = pending_.data();
  std::size_t left = pending_.size();
  std::array<char, 4096> buffer;
  while (left > 0) {
    char* out = buffer.data();
    std::size_t room = buffer.size();
    const std::size_t result = ::iconv(state_of(state_), &in, &left, &out, &room);
    const int error = result == static_cast<std::size_t>(-1) ? errno : 0;
    text.append(buffer.data(), static_cast<std::size_t>(out - buffer.data()));
    if (error == EINVAL && !last) break;       // an incomplete character
    if (error == EILSEQ || error == EINVAL) {  // skip the invalid bytes
      const std::size_t skipped = std::min(unit_, left);
      append_utf8(kReplacement, text);
      ++invalid_, in += skipped, left -= skipped;
    }
  }
  pending_.erase(0, pending_.size() - left);
}

struct TextStream::State {
  std::string name;
  int file = -1;             // -1: the text is in memory
  std::string_view memory;   // the unread rest
  std::vector<char> buffer;  // raw bytes; [begin, end) are not converted yet
  std::size_t begin = 0, end = 0;
  bool ended = false, started = false;
  std::optional<CharsetDecoder> decoder;
  std::string converted;     // a chunk that had to be changed
  std::string_view current;  // the rest of the last chunk, for line()
  std::int64_t position = 0, lines = 0, replaced = 0;
  std::int64_t newlines = 0;       // up to the first replacement
  std::int64_t first_invalid = 0;  // the line of the first replacement

  ~State() {
    if (file > STDIN_FILENO) ::close(file);
  }

  /// Adds bytes to the buffer until it has at least `wanted` or the file ends.
  void fill(std::size_t wanted) {
    if (begin > 0) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      end -= begin, begin = 0;
    }
    buffer.resize(kBufferSize);
    while (end < wanted && !ended) {
      const std::size_t read = read_some(buffer.data() + end, buffer.size() - end);
      end += read, position += static_cast<std::int64_t>(read);
      ended = read == 0;
    }
  }

  std::size_t read_some(char* to, std::size_t room) {
    if (file < 0) {
      const std::size_t size = std::min(room, memory.size());
      std::memcpy(to, memory.data(), size);
      memory.remove_prefix(size);
      return size;
    }
    for (;;) {
      const ssize_t read = ::read(file, to, room);
      if (read >= 0) return static_cast<std::size_t>(read);
      if (errno != EINTR) fail("read", name, ": ", std::generic_category().message(errno));
    }
  }

  std::string_view raw() const { return {buffer.data() + begin, end - begin}; }
  std::int64_t invalid() const { return replaced + (decoder ? decoder->invalid() : 0); }

  /// Returns a chunk of text. `first` is the position of its first replacement, or npos.
  std::string_view give(std::string_view text, std::size_t first = std::string_view::npos) {
    if (first_invalid > 0) return text;
    newlines += std::ranges::count(text.substr(0, first), '\n');
    if (first != std::string_view::npos) first_invalid = newlines + 1;
    return text;
  }

  void skip_byte_order_mark() {
    started = true;
    fill(4);
    const std::string_view start = raw();
    if (start.starts_with("\xEF\xBB\xBF")) {
      begin += 3;
      decoder.reset();
    } else if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
      decoder.emplace(start.starts_with("\xFF\xFE") ? "UTF-16LE" : "UTF-16BE", name);
      begin += 2;
    }
  }
};

TextStream::TextStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextStream::TextStream(TextStream&&) noexcept = default;
TextStream& TextStream::operator=(TextStream&&) noexcept = default;
TextStream::~TextStream() = default;

TextStream TextStream::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  if (path == "-") {
    state->name = "standard input";
    state->file = STDIN_FILENO;
    return TextStream(std::move(state));
  }
  state->name = path.string();
  state->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->file < 0) fail<InputError>("read", state->name, ": cannot open: ", std::generic_category().message(errno));
  struct stat status {};
  if (::fstat(state->file, &status) == 0 && S_ISDIR(status.st_mode))
    fail<InputError>("read", state->name, ": is a folder, expected a file");
  ::posix_fadvise(state->file, 0, 0, POSIX_FADV_SEQUENTIAL);
  return TextStream(std::move(state));
}

TextStream TextStream::of(std::string_view text, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->memory = text;
  return TextStream(std::move(state));
}

std::string_view TextStream::peek() {
  state_->fill(kPeekSize);
  return state_->raw().substr(0, kPeekSize);
}

void TextStream::set_charset(const std::string& charset) {
  state_->decoder.reset();
  if (!is_utf8_charset(charset)) state_->decoder.emplace(charset, state_->name);
}

std::string_view TextStream::piece() {
  State& state = *state_;
  if (!state.started) state.skip_byte_order_mark();
  for (;;) {
    const std::size_t waiting = state.end - state.begin;
    state.fill(std::min(waiting + 1, kBufferSize));
    const std::string_view bytes = state.raw();
    if (bytes.empty() && !state.decoder) return {};
    if (state.decoder) {
      state.converted.clear();
      const std::int64_t before = state.invalid();
      state.decoder->append(bytes, state.converted, state.ended);
      state.begin = state.end;
      if (!state.converted.empty() || state.ended)
        return state.give(state.converted,
                          state.invalid() > before ? state.converted.find("\uFFFD") : std::string::npos);
      continue;
    }
    const std::size_t tail = state.ended ? 0 : unfinished_utf8(bytes);
    const std::string_view whole = bytes.substr(0, bytes.size() - tail);
    state.begin += whole.size();
    if (whole.empty()) continue;
    const std::int64_t invalid = count_invalid_utf8(whole);
    if (invalid == 0) return state.give(whole);
    state.replaced += invalid;
    state.converted = replace_invalid_utf8(whole);
    const auto first = std::ranges::mismatch(whole, state.converted).in1;
    return state.give(state.converted, static_cast<std::size_t>(first - whole.begin()));
  }
}

bool TextStream::line(std::string& line) {
  line.clear();
  State& state = *state_;
  bool any = false;
  for (;;) {
    if (state.current.empty()) state.current = piece();
    if (state.current.empty()) break;
    any = true;
    const std::size_t newline = state.current.find('\n');
    line += state.current.substr(0, newline);
    if (line.size() > kLongestText)
      fail<InputError>("read", state.name, ": line ", state.lines + 1, " has more than ", kLongestText >> 20,
                       " MB; is it text?");
    if (newline == std::string_view::npos) {
      state.current = {};
      continue;
    }
    state.current.remove_prefix(newline + 1);
    break;
  }
  if (!any) return false;
  ++state.lines;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

std::string TextStream::rest() {
  std::string text;
  for (std::string_view next = piece(); !next.empty(); next = piece()) text += next;
  return text;
}

const std::string& TextStream::name() const { return state_->name; }
std::int64_t TextStream::lines() const { return state_->lines; }
std::int64_t TextStream::position() const { return state_->position; }
InvalidText invalid_text_in(const std::vector<std::filesystem::path>& files) {
  InvalidText all;
  for (const std::filesystem::path& file : files) {
    TextStream text = TextStream::open(file);
    while (!text.piece().empty()) {
    }
    all += text.invalid();
  }
  return all;
}

InvalidText TextStream::invalid() const {
  return {state_->invalid(), state_->name + ", line " + std::to_string(state_->first_invalid)};
}

}  // namespace attend
