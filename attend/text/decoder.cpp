#include "attend/text/decoder.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "attend/text/byte_level.h"
#include "attend/text/sentencepiece.h"
#include "attend/text/unicode.h"

namespace attend {

std::optional<char> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  return error == std::errc{} && end == token.data() + 5 ? std::optional(static_cast<char>(value)) : std::nullopt;
}

std::string bytes_of_token(const std::string& token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const CodePoint c = decode_utf8(token, at);
    const auto byte = byte_of_letter(c.value);
    if (!byte) return token;
    bytes += static_cast<char>(*byte);
    at += static_cast<std::size_t>(c.size);
  }
  return bytes;
}

namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// Removes spaces before punctuation and in English contractions.
void clean_up(std::string& text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [what, by] : kRules) replace_all(text, what, by);
}

struct ApplyDecoding {
  std::vector<std::string>& tokens;

  void operator()(const decoder::ByteLevel&) const {
    std::string bytes;
    for (const std::string& token : tokens) bytes += bytes_of_token(token);
    tokens = {replace_invalid_utf8(bytes)};
  }

  void operator()(const decoder::WordPiece& step) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        if (tokens[i].starts_with(step.prefix))
          tokens[i].erase(0, step.prefix.size());
        else
          tokens[i].insert(0, 1, ' ');
      }
      if (step.cleanup) clean_up(tokens[i]);
    }
  }

  void operator()(const decoder::Metaspace& step) const {
    const bool prepends = step.prepend_scheme != pre_tokenizer::Metaspace::Prepend::never;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], step.replacement, i == 0 && prepends ? "" : " ");
  }

  void operator()(const decoder::Bpe& step) const {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], step.suffix, i + 1 < tokens.size() ? " " : "");
  }

  void operator()(const decoder::Fuse&) const {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens = {std::move(all)};
  }

  void operator()(const decoder::ByteFallback&) const {
    std::vector<std::string> decoded;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (count_invalid_utf8(bytes) == 0)
        decoded.push_back(bytes);
      else
        decoded.insert(decoded.end(), bytes.size(), "\xEF\xBF\xBD");
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = fallback_byte(token)) {
        bytes += *byte;
      } else {
        flush();
        decoded.push_back(std::move(token));
      }
    }
    flush();
    tokens = std::move(decoded);
  }

  void operator()(const decoder::Replace& step) const {
    for (std::string& token : tokens) {
      std::string replaced;
      PatternSearch search(step.pattern, token);
      std::size_t at = 0;
      while (const auto match = search.next()) {
        replaced.append(token, at, match->begin - at) += step.content;
        at = match->end;
      }
      if (at > 0) token = replaced.append(token, at);
    }
  }

  void operator()(const decoder::SentencePiece& step) const {
    tokens = {join_pieces(tokens, step.special_tokens, step.spaced)};
  }

  void operator()(const decoder::Strip& step) const {
    if (step.content.empty()) return;
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (std::int64_t i = 0; i < step.start && rest.starts_with(step.content); ++i)
        rest.remove_prefix(step.content.size());
      for (std::int64_t i = 0; i < step.stop && rest.ends_with(step.content); ++i)
        rest.remove_suffix(step.content.size());
      token = std::string(rest);
    }
  }
};

template <typename Step>
bool has(const Decoder& decoder) {
  return std::ranges::any_of(decoder, [](const decoder::Step& step) { return std::holds_alternative<Step>(step); });
}

}  // namespace

std::size_t unfinished_tokens(const Decoder& decoder, std::span<const std::string> tokens) {
  // A run of byte tokens is decoded as a whole, so the next byte can change the text of all of them.
  if (has<decoder::ByteFallback>(decoder))
    return static_cast<std::size_t>(
        std::find_if(tokens.rbegin(), tokens.rend(), [](const auto& token) { return !fallback_byte(token); }) -
        tokens.rbegin());
  if (!has<decoder::ByteLevel>(decoder)) return 0;
  constexpr std::size_t kLongestCharacter = 4;
  std::string bytes;  // of the last tokens
  std::vector<std::size_t> sizes;
  for (auto token = tokens.rbegin(); token != tokens.rend() && bytes.size() < kLongestCharacter; ++token) {
    const std::string own = bytes_of_token(*token);
    bytes.insert(0, own);
    sizes.push_back(own.size());
  }
  std::size_t count = 0;
  for (std::size_t unfinished = unfinished_utf8(bytes); unfinished > 0; ++count)
    unfinished -= std::min(unfinished, sizes[count]);
  return count;
}

std::string decode_tokens(const Decoder& decoder, std::vector<std::string> tokens) {
  for (const decoder::Step& step : decoder) std::visit(ApplyDecoding{tokens}, step);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && decoder.empty()) text += ' ';
    text += tokens[i];
  }
  return text;
}

}  // namespace attend
