#include "attend/tasks/summarization/summarizer.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "attend/core/error.h"
#include "attend/models/bounds.h"
#include "attend/text/sentences.h"

namespace attend {
namespace {

constexpr const char *kTasks = "task_specific_params", *kTask = "summarization";
constexpr const char *kMaxSource = "attend_max_source_tokens", *kLong = "attend_long_text";
const std::vector<std::pair<std::string, LongText>> kLongTextNames = {
    {"split", LongText::split}, {"truncate", LongText::truncate}, {"error", LongText::error}};

/// The weights of some sentences of a document.
using SentenceWeights = std::vector<std::pair<std::size_t, float>>;

/// A piece of text that is read as a whole: at first a sentence of the document, later the summary of a part.
struct Segment {
  std::string text;
  std::string between;      // the white space between it and the segment before
  SentenceWeights weights;  // of the document's sentences; their sum is 1
  std::int64_t tokens = 0;  // of the text alone
};

/// Neighbouring segments that fit into the model together, as one source.
struct Part {
  std::size_t document = 0, first = 0, count = 0;
  std::string source;       // with the prefix
  std::vector<Span> spans;  // of each segment in the source
  std::int64_t tokens = 0;  // at most so many, unless a token spans two segments

  void append(const Segment& segment) {
    if (count > 0) source += segment.between;
    const std::int64_t begin = std::ssize(source);
    source += segment.text;
    spans.push_back({begin, std::ssize(source)});
    tokens += segment.tokens + 1;
    ++count;
  }
};

std::string text_at(std::string_view text, std::int64_t begin, std::int64_t end) {
  return std::string(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
}

std::int64_t tokens_in(const Tokenizer& tokenizer, const std::string& text) {
  return std::ssize(tokenizer.encode(text).ids);
}

/// What every document of a call needs.
struct Setting {
  const Tokenizer& tokenizer;
  std::string prefix;
  std::int64_t limit = 0;  // tokens that the model reads at once; 0: no limit
  bool sources = false;    // the weights of sentences are wanted
};

/// A document that is being summarized.
class Document {
 public:
  /// Divides the text into sentences. A sentence with more tokens than fit is cut into windows.
  Document(std::string_view text, const Setting& setting) : text_(text), sentences_(sentences(text)) {
    // A window that is encoded again may have some tokens more.
    const std::int64_t room = (setting.limit - tokens_in(setting.tokenizer, setting.prefix)) * 7 / 8;
    const EncodeOptions windows{
        .max_tokens = setting.limit == 0 ? 0 : std::max<std::int64_t>(room, 1) + tokens_in(setting.tokenizer, ""),
        .long_text = LongText::split};
    std::int64_t end = 0;
    for (std::size_t i = 0; i < sentences_.size(); ++i) {
      const Span& span = sentences_[i];
      const std::string sentence = text_at(text, span.begin, span.end);
      std::string between = text_at(text, end, span.begin);
      end = span.end;
      std::int64_t from = 0;
      const std::vector<Encoding> all = setting.tokenizer.encode_windows(sentence, windows);
      for (std::size_t w = 0; w < all.size(); ++w) {
        const std::int64_t to = w + 1 < all.size() ? last_byte(all[w]) : std::ssize(sentence);
        segments_.push_back({text_at(sentence, from, to), std::move(between), {{i, 1.f}}, std::ssize(all[w].ids)});
        summary.invalid += all[w].invalid;
        between.clear(), from = to;
      }
    }
    if (segments_.empty()) summary.parts = 0;
  }

  bool done() const { return segments_.empty(); }

  /// The parts to summarize next.
  std::vector<Part> parts(std::size_t document, const Setting& setting) {
    std::vector<Part> parts;
    const std::int64_t added = tokens_in(setting.tokenizer, setting.prefix);
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (!parts.empty()) {
        Part longer = parts.back();
        longer.append(segments_[i]);
        if (setting.limit == 0 || longer.tokens <= setting.limit ||
            tokens_in(setting.tokenizer, longer.source) <= setting.limit) {
          parts.back() = std::move(longer);
          continue;
        }
      }
      parts.push_back({.document = document, .first = i, .source = setting.prefix, .spans = {}, .tokens = added});
      parts.back().append(segments_[i]);
    }
    if (rounds_++ == 0) summary.parts = std::ssize(parts);
    if (rounds_ == 1 && parts.size() == 1) {  // the text as it was given, with the white space around it
      const std::int64_t offset = sentences_.front().begin;
      parts.front().source = setting.prefix + std::string(text_);
      for (Span& span : parts.front().spans) span.begin += offset, span.end += offset;
    }
    return parts;
  }

  /// The result of the last part.
  void finish(const Part& part, const Translation& last, const Setting& setting) {
    summary.text = last.text, summary.score = last.score, summary.ids = last.ids, summary.finished = last.finished;
    summary.maps = last.maps;
    if (setting.sources) {
      for (const Span& span : sentences_) summary.sentences.push_back({span, 0.f});
      for (const auto& [sentence, weight] : weights_of(part, last)) summary.sentences[sentence].weight = weight;
    }
    segments_.clear();
  }

  /// The results of several parts: their texts are summarized next.
  void go_on(std::span<const Part> parts, std::span<const std::vector<Translation>> found, const Setting& setting) {
    std::vector<Segment> next;
    std::int64_t before = 0, after = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const Translation& best = found[p].front();
      const bool touch = !next.empty() && !next.back().text.empty() && !best.text.empty() &&
                         sentences_touch(next.back().text, best.text);
      next.push_back(
          {best.text, touch ? "" : " ", weights_of(parts[p], best), tokens_in(setting.tokenizer, best.text)});
      for (std::size_t i = 0; i < parts[p].count; ++i) before += segments_[parts[p].first + i].tokens;
      after += next.back().tokens;
    }
    // Summaries that are no shorter than their parts would never end: they become one segment, whose end is cut.
    segments_ = after < before ? std::move(next) : std::vector<Segment>{joined(next)};
  }

  Summary summary;

 private:
  static std::int64_t last_byte(const Encoding& encoding) {
    std::int64_t end = 0;
    for (std::size_t t = 0; t < encoding.spans.size(); ++t)
      if (!encoding.special[t]) end = std::max(end, encoding.spans[t].end);
    return end;
  }

  static Segment joined(const std::vector<Segment>& segments) {
    Segment all = segments.front();
    for (std::size_t i = 1; i < segments.size(); ++i) {
      all.text += segments[i].between + segments[i].text, all.tokens += segments[i].tokens;
      std::ranges::copy(segments[i].weights, std::back_inserter(all.weights));
    }
    for (auto& [sentence, weight] : all.weights) weight /= static_cast<float>(segments.size());
    return all;
  }

  /// The weights of the document's sentences in the summary of a part: the cross-attention that falls on each segment,
  /// as a share, times the weights of the segment. A blank summary has attended to all alike.
  SentenceWeights weights_of(const Part& part, const Translation& found) const {
    std::vector<double> sums(part.count);
    for (const std::vector<float>& row : found.attention)
      for (std::size_t s = 0; s < row.size(); ++s) {
        const Span& token = found.source_spans[s];
        if (token.begin == token.end) continue;  // a special token
        const auto after = std::ranges::upper_bound(part.spans, token.end - 1, {}, &Span::begin);
        if (after != part.spans.begin()) sums[static_cast<std::size_t>(after - part.spans.begin()) - 1] += row[s];
      }
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    std::map<std::size_t, float> weights;
    for (std::size_t i = 0; i < part.count; ++i)
      for (const auto& [sentence, weight] : segments_[part.first + i].weights)
        weights[sentence] +=
            weight * static_cast<float>(total > 0 ? sums[i] / total : 1.0 / static_cast<double>(part.count));
    return {weights.begin(), weights.end()};
  }

  std::string_view text_;
  std::vector<Span> sentences_;
  std::vector<Segment> segments_;
  int rounds_ = 0;
};

}  // namespace

SummaryParameters SummaryParameters::read(const Config& config) {
  const Config own = config.object(kTasks).object(kTask);
  SummaryParameters read{
      .prefix = own.text("prefix", ""),
      .max_source_tokens = own.integer_in(kMaxSource, 0, bounds::kPositions, 0),
      .max_new_tokens = own.has("max_length") ? std::max<std::int64_t>(own.integer("max_length") - 1, 1) : 0};
  if (own.has(kLong)) read.long_text = own.choice(kLong, kLongTextNames);
  return read;
}

void SummaryParameters::record(const std::filesystem::path& folder) const {
  Config config(folder / "config.json"), tasks = config.object(kTasks), own;
  if (!prefix.empty()) own.set("prefix", prefix);
  if (max_source_tokens > 0) own.set(kMaxSource, max_source_tokens);
  if (max_new_tokens > 0) own.set("max_length", max_new_tokens + 1);
  if (long_text) own.set(kLong, name_of(*long_text, kLongTextNames));
  tasks.set(kTask, own);
  config.set(kTasks, tasks);
  config.save(folder / "config.json");
}

Summarizer::Summarizer(const ModelFolder& folder)
    : translator_(folder),
      defaults_(SummaryParameters::read(folder.config())),
      parameters_(folder.config().object(kTasks).object(kTask)) {}

GenerationOptions Summarizer::search_of(const SummarizeOptions& options) const {
  GenerationOptions search = options.search;
  const SearchOptions& folder = translator_.generation().search;
  SearchOptions task = GenerationConfig::read(parameters_, folder).search;
  // transformers counts the decoder's start token.
  const auto length = [&](const char* key) { return std::max<std::int64_t>(parameters_.integer(key) - 1, 0); };
  if (!search.max_new_tokens && defaults_.max_new_tokens > 0) search.max_new_tokens = defaults_.max_new_tokens;
  if (!search.min_new_tokens && parameters_.has("min_length")) search.min_new_tokens = length("min_length");
  visit_options([&]<typename T>(const Option<T>& option) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> || std::is_same_v<T, EarlyStopping>) {
      std::optional<T>& value = search.*option.field;
      if (!value && option.config_key && option.setting && parameters_.has(option.config_key))
        value = option.setting(task);
    }
  });
  if (search.greedy.value_or(false)) search.beam.reset();
  if (!search.max_new_tokens && folder.max_new_tokens == 0 && folder.max_length == 0)
    search.max_new_tokens = kDefaultNewTokens;
  search.nbest.reset();
  return search;
}

std::string Summarizer::prefix_of(const SummarizeOptions& options) const {
  return options.source_prefix.value_or(defaults_.prefix);
}

std::int64_t Summarizer::limit_of(const SummarizeOptions& options) const {
  const std::int64_t model = translator_.max_source_tokens();
  const std::int64_t asked = options.max_source_tokens > 0 ? options.max_source_tokens : defaults_.max_source_tokens;
  return asked > 0 && (model == 0 || asked < model) ? asked : model;
}

LongText Summarizer::long_text_of(const SummarizeOptions& options) const {
  return options.long_text.value_or(defaults_.long_text.value_or(LongText::split));
}

void Summarizer::check(const SummarizeOptions& options) const {
  translator_.check({.search = search_of(options), .attention = options.sources});
  const auto prefix = std::ssize(translator_.source_tokenizer().encode(prefix_of(options)).ids);
  if (const std::int64_t limit = limit_of(options); limit > 0 && prefix >= limit)
    fail<InputError>("summarize", "the model reads at most ", limit,
                     " tokens at once, which leaves no room for a text ", "after the prefix and special tokens (",
                     prefix, ")");
}

std::vector<Summary> Summarizer::operator()(std::span<const std::string> documents, const SummarizeOptions& options,
                                            const Progress& progress) const {
  check(options);
  const Tokenizer& tokenizer = translator_.source_tokenizer();
  const std::string prefix = prefix_of(options);
  const std::int64_t limit = limit_of(options);
  const TranslateOptions translate{.search = search_of(options),
                                   .max_tokens = limit,
                                   .long_text = LongText::truncate,
                                   .sentences = SentenceMode::whole,
                                   .batch_tokens = options.batch_tokens,
                                   .attention = options.sources,
                                   .maps = options.maps};

  const LongText long_text = long_text_of(options);
  const Setting setting{tokenizer, prefix, long_text == LongText::truncate ? 0 : limit, options.sources};
  std::vector<Document> all;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (long_text == LongText::error && limit > 0)
      if (const std::int64_t tokens = tokens_in(tokenizer, prefix + documents[i]); tokens > limit)
        throw TextError(i, "the text is too long: got " + std::to_string(tokens) + " tokens, expected at most " +
                               std::to_string(limit));
    all.emplace_back(documents[i], setting);
  }
  for (bool first = true; std::ranges::any_of(all, [](const Document& one) { return !one.done(); }); first = false) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i].done()) std::ranges::move(all[i].parts(i, setting), std::back_inserter(parts));
    std::vector<std::string> sources;
    for (const Part& part : parts) sources.push_back(part.source);
    const std::vector<std::vector<Translation>> found = translator_(sources, translate, first ? progress : Progress());
    for (std::size_t p = 0; p < parts.size();) {
      Document& document = all[parts[p].document];
      std::size_t count = 0;
      for (; p + count < parts.size() && parts[p + count].document == parts[p].document; ++count)
        document.summary.truncated += found[p + count].front().truncated;
      if (count == 1)
        document.finish(parts[p], found[p].front(), setting);
      else
        document.go_on(std::span(parts).subspan(p, count), std::span(found).subspan(p, count), setting);
      p += count;
    }
  }

  std::vector<Summary> summaries;
  for (Document& document : all) summaries.push_back(std::move(document.summary));
  return summaries;
}

Summary Summarizer::operator()(const std::string& document, const SummarizeOptions& options) const {
  return (*this)(std::span(&document, 1), options).front();
}

}  // namespace attend
