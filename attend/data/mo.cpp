// gettext .mo files: a table of messages and a table of translations, each a list of (length, offset), in the byte
// order of the machine that compiled them. All offsets are checked.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "attend/core/error.h"
#include "attend/data/catalogue.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

constexpr std::uint32_t kMagic = 0x950412DE, kSwappedMagic = 0xDE120495;

class MoReader final : public CatalogueReader {
 public:
  MoReader(std::string_view bytes, std::string name, std::shared_ptr<const void> owner)
      : bytes_(bytes), name_(std::move(name)), owner_(std::move(owner)) {
    constexpr std::size_t kHeaderSize = 28;
    if (bytes_.size() < kHeaderSize) give_up("too short for a .mo file");
    const std::uint32_t magic = number(0);
    if (magic != kMagic && magic != kSwappedMagic) give_up("is not a .mo file");
    swapped_ = magic == kSwappedMagic;
    if (number(4) >> 16 > 1) give_up("its revision is not known: got " + std::to_string(number(4) >> 16));
    count_ = number(8);
    messages_ = number(12);
    translations_ = number(16);
    for (const std::size_t table : {messages_, translations_})
      if (table > bytes_.size() || (bytes_.size() - table) / 8 < count_) give_up("its tables are out of bounds");
  }

  bool message(Message& message) override {
    while (next_ < count_) {
      const std::string_view id = string_at(messages_ + 8 * next_), translation = string_at(translations_ + 8 * next_);
      message = {};
      message.line = static_cast<std::int64_t>(++next_);
      if (id.empty()) {
        header_ = parse_catalogue_header(translation);
        decoder_.reset();
        if (!is_utf8_charset(header_.charset)) decoder_.emplace(header_.charset, name_);
      } else if (translation.empty()) {
        skip("untranslated", message.line);
      } else {
        fill(message, id, translation);
        if (first_replaced_ == 0 && replaced() > 0) first_replaced_ = message.line;
        return true;
      }
    }
    return false;
  }
  const std::string& name() const override { return name_; }
  std::int64_t position() const override {
    const std::size_t done = count_ == 0 ? bytes_.size() : bytes_.size() / count_ * next_;
    return static_cast<std::int64_t>(done);
  }
  InvalidText invalid_text() const override {
    return {replaced(), name_ + ", message " + std::to_string(first_replaced_)};
  }

 private:
  std::int64_t replaced() const { return replaced_ + (decoder_ ? decoder_->invalid() : 0); }

  std::uint32_t number(std::size_t at) const {
    std::uint32_t value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  /// The string of a table entry.
  std::string_view string_at(std::size_t entry) {
    const std::size_t size = number(entry), offset = number(entry + 4);
    if (offset > bytes_.size() || bytes_.size() - offset < size)
      give_up("message " + std::to_string(next_ + 1) + " is out of bounds");
    // Overlapping strings could make a small file give any amount of text.
    given_ += size;
    if (given_ > 4 * bytes_.size()) give_up("its messages overlap");
    return bytes_.substr(offset, size);
  }

  std::string utf8(std::string_view raw) {
    std::string text;
    if (decoder_) {
      decoder_->append(raw, text, true);
      return text;
    }
    const std::int64_t invalid = count_invalid_utf8(raw);
    replaced_ += invalid;
    return invalid == 0 ? std::string(raw) : replace_invalid_utf8(raw);
  }

  /// id: [context \4] singular [\0 plural]; translation: form [\0 form]…
  void fill(Message& message, std::string_view id, std::string_view translation) {
    if (const std::size_t end = id.find('\4'); end != std::string_view::npos) {
      message.context = utf8(id.substr(0, end));
      id.remove_prefix(end + 1);
    }
    const std::size_t zero = id.find('\0');
    message.id = utf8(id.substr(0, zero));
    if (zero != std::string_view::npos) message.plural = utf8(id.substr(zero + 1));
    constexpr std::size_t kMostForms = 32;
    for (std::size_t begin = 0; begin <= translation.size() && message.translations.size() < kMostForms;) {
      const std::size_t end = std::min(translation.find('\0', begin), translation.size());
      message.translations.push_back(utf8(translation.substr(begin, end - begin)));
      begin = end + 1;
    }
  }

  [[noreturn]] void give_up(const std::string& what) const { fail<InputError>("mo", name_, ": ", what); }

  std::string_view bytes_;
  std::string name_;
  std::shared_ptr<const void> owner_;
  bool swapped_ = false;
  std::size_t count_ = 0, messages_ = 0, translations_ = 0, next_ = 0, given_ = 0;
  std::optional<CharsetDecoder> decoder_;
  std::int64_t replaced_ = 0, first_replaced_ = 0;  // number of replacements, and the first message with one
};

}  // namespace

std::unique_ptr<CatalogueReader> open_mo(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  return std::make_unique<MoReader>(bytes, std::move(name), std::move(owner));
}

}  // namespace attend
