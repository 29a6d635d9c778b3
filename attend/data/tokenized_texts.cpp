#include "attend/data/tokenized_texts.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attend/core/threads.h"
#include "attend/data/fingerprint.h"
#include "attend/data/text_stream.h"
#include "attend/text/tokenizer_json.h"

namespace attend {
namespace {

constexpr std::size_t kPiece = 256 << 10;        // bytes of text for one task
constexpr std::size_t kLongestPiece = 16 << 20;  // a longer text is cut here, even if this changes its tokens
constexpr std::size_t kBatch = 8 << 20;          // bytes of text in memory at once

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Whether a text can be cut after a line feed between two visible characters without changing its ids. This is not the
/// case for tokenizers that add something before each text.
bool can_cut(const Tokenizer& tokenizer) {
  for (const auto& [left, right] : {std::pair("a word\n", "and one"), std::pair("Stop.\n", "(1)")}) {
    std::vector<std::int32_t> parts = tokenizer.ids(left);
    for (const std::int32_t id : tokenizer.ids(right)) parts.push_back(id);
    if (parts != tokenizer.ids(std::string(left) + right)) return false;
  }
  return true;
}

/// The last such position, or 0 if there is none.
std::size_t cut_of(std::string_view text) {
  for (std::size_t at = text.rfind('\n'); at != std::string_view::npos && at > 0; at = text.rfind('\n', at - 1))
    if (at + 1 < text.size() && !is_blank(text[at - 1]) && !is_blank(text[at + 1])) return at + 1;
  return 0;
}

/// Tokenizes texts on all threads, and passes the ids to a writer.
class Filler {
 public:
  Filler(TokenStoreWriter& writer, const Tokenizer& tokenizer, const TokenizeOptions& options)
      : writer_(writer), tokenizer_(tokenizer), can_cut_(can_cut(tokenizer)) {
    const SpecialTokens& special = tokenizer.special();
    if (options.end_token) end_ = special.eos ? special.eos : special.separator;
  }

  /// Appends text to the current document.
  void add(std::string_view text) {
    text_ += text;
    if (text_.size() < kPiece) return;
    const std::size_t cut = can_cut_ ? cut_of(text_) : 0;
    if (cut > 0)
      take(cut, false);
    else if (text_.size() >= kLongestPiece)
      take(text_.size(), false);
  }
  void end_document() { take(text_.size(), true); }
  bool inside_document() const { return !text_.empty(); }

  void flush() {
    std::vector<std::vector<std::int32_t>> ids(pieces_.size());
    parallel_tasks(static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      ids[at] = tokenizer_.ids(pieces_[at].text);
    });
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      writer_.add(ids[i]);
      if (!pieces_[i].last) continue;
      if (end_) writer_.add(std::span(&*end_, 1));
      writer_.end_document();
    }
    pieces_.clear();
    bytes_ = 0;
  }

 private:
  struct Piece {
    std::string text;
    bool last;  // the last piece of its document
  };

  void take(std::size_t size, bool last) {
    pieces_.push_back({text_.substr(0, size), last});
    text_.erase(0, size);
    if ((bytes_ += size) >= kBatch) flush();
  }

  TokenStoreWriter& writer_;
  const Tokenizer& tokenizer_;
  bool can_cut_;
  std::optional<std::int32_t> end_;
  std::string text_;
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0;
};

void read(TextStream& text, DocumentEnd end, Filler& filler, const std::function<void()>& report) {
  if (end == DocumentEnd::file) {
    for (std::string_view piece; !(piece = text.piece()).empty(); report()) filler.add(piece);
    filler.end_document();
    return;
  }
  for (std::string line; text.line(line); report()) {
    if (line.empty()) {
      if (filler.inside_document()) filler.end_document();
    } else {
      if (filler.inside_document()) filler.add("\n");
      filler.add(line);
      if (end == DocumentEnd::line) filler.end_document();
    }
  }
  if (filler.inside_document()) filler.end_document();
}

std::int64_t bytes_of(const std::vector<std::filesystem::path>& texts) {
  std::uintmax_t bytes = 0;
  for (const std::filesystem::path& path : texts) {
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(path, unknown);
    if (unknown) return 0;
    bytes += size;
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::function<bool(std::string&)> lines_of(const std::vector<std::filesystem::path>& texts, const Progress& progress) {
  struct State {
    std::vector<std::filesystem::path> texts;
    std::optional<TextStream> text;
    std::size_t next = 0;
    std::int64_t before = 0, total = 0;  // bytes of the files that are done, and of all
  };
  const auto state = std::make_shared<State>(State{texts, {}, 0, 0, bytes_of(texts)});
  return [state, progress](std::string& line) {
    while (!state->text || !state->text->line(line)) {
      if (state->text) state->before += state->text->position();
      if (state->next == state->texts.size()) return false;
      state->text = TextStream::open(state->texts[state->next++]);
    }
    if (progress) progress(state->before + state->text->position(), state->total);
    return true;
  };
}

std::uint64_t fingerprint(const Tokenizer& tokenizer) {
  Fingerprint all;
  const Tokenizer::Parts& parts = tokenizer.parts();
  if (const auto* model = std::get_if<SentencePiece>(&parts.model)) {
    all.add(write_vocabulary(model->vocabulary())).add(model->source_file()).add(model->target_file());
    for (const std::int32_t id : tokenizer.ids("which of the two sides?")) all.add(static_cast<std::uint64_t>(id));
  } else {
    all.add(write_tokenizer_json(parts));
  }
  for (const std::optional<std::int32_t>& end : {parts.special.eos, parts.special.separator})
    all.add(end ? static_cast<std::uint64_t>(*end) : ~std::uint64_t{0});
  return all.value();
}

CachedTokenStore tokenized_texts(const std::vector<std::filesystem::path>& texts, const Tokenizer& tokenizer,
                                 const std::filesystem::path& path, const TokenizeOptions& options,
                                 const Progress& progress) {
  Fingerprint sources;
  for (const std::filesystem::path& text : texts) sources.add_file(text);
  sources.add(static_cast<std::uint64_t>(options.document_end)).add(options.end_token ? 1 : 0);
  const TokenStoreKey key{sources.value(), fingerprint(tokenizer)};
  return cached_token_store(path, tokenizer.size(), key, [&](TokenStoreWriter& writer) {
    Filler filler(writer, tokenizer, options);
    const std::int64_t total = bytes_of(texts);
    std::int64_t before = 0;  // bytes of the files that are done
    for (const std::filesystem::path& file : texts) {
      TextStream text = TextStream::open(file);
      read(text, options.document_end, filler, [&] {
        if (progress) progress(before + text.position(), total);
      });
      before += text.position();
    }
    filler.flush();
  });
}

}  // namespace attend
