#include "attend/tasks/summarization/summarizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attend/core/error.h"
#include "attend/core/stop.h"
#include "attend/decode/sampling.h"
#include "attend/models/bounds.h"
#include "attend/tasks/summarization/consensus.h"
#include "attend/text/letter_case.h"
#include "attend/text/sentences.h"

namespace attend {
namespace {

constexpr const char *kTasks = "task_specific_params", *kTask = "summarization";
constexpr const char *kMaxSource = "attend_max_source_tokens", *kLong = "attend_long_text",
                     *kCandidates = "attend_candidates";
const std::vector<std::pair<std::string, LongText>> kLongTextNames = {
    {"split", LongText::split}, {"truncate", LongText::truncate}, {"error", LongText::error}};

constexpr std::int64_t kMostCandidates = 1024;

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
  Tokenizer tokenizer;
  std::string prefix;
  std::int64_t limit = 0;  // tokens that the model reads at once; 0: no limit
  bool sources = false;    // the weights of sentences are wanted
  bool lowercase = false;  // the model writes in lower case

  /// A summary of a part as it is shown, and read in the next round.
  std::string text_of(const Part& part, const Translation& found) const {
    return lowercase ? restore_case(found.text, part.source) : found.text;
  }
};

/// The candidate that agrees most with the others. Samples are as frequent as they are probable; the hypotheses of a
/// beam are all different.
std::size_t best_of(std::span<const Translation> candidates) {
  if (candidates.size() == 1) return 0;
  std::vector<std::string> texts;
  std::vector<double> probabilities;
  for (const Translation& one : candidates) {
    texts.push_back(one.text);
    probabilities.push_back(one.seed ? 1 : std::exp(one.log_probability));
  }
  return consensus(texts, probabilities);
}

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
      check_stop();
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
      check_stop();
      if (parts.empty() || !joins(parts.back(), segments_[i], setting)) {
        parts.push_back({.document = document, .first = i, .source = setting.prefix, .spans = {}, .tokens = added});
        parts.back().append(segments_[i]);
      }
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
    summary.text = setting.text_of(part, last), summary.score = last.score, summary.ids = last.ids,
    summary.finished = last.finished;
    summary.maps = last.maps, summary.seed = last.seed;
    if (setting.sources) {
      for (const Span& span : sentences_) summary.sentences.push_back({span, 0.f});
      for (const auto& [sentence, weight] : weights_of(part, last)) summary.sentences[sentence].weight = weight;
    }
    segments_.clear();
  }

  /// The results of several parts: their texts are summarized next.
  void go_on(std::span<const Part> parts, std::span<const Translation* const> found, const Setting& setting) {
    std::vector<Segment> next;
    std::int64_t before = 0, after = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::string text = setting.text_of(parts[p], *found[p]);
      const bool touch =
          !next.empty() && !next.back().text.empty() && !text.empty() && sentences_touch(next.back().text, text);
      next.push_back({text, touch ? "" : " ", weights_of(parts[p], *found[p]), tokens_in(setting.tokenizer, text)});
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

  /// Appends a segment to a part, if it fits.
  static bool joins(Part& part, const Segment& segment, const Setting& setting) {
    std::optional<std::int64_t> counted;
    if (setting.limit > 0 && part.tokens + segment.tokens + 1 > setting.limit) {
      // The sum may be too high, since a tokenizer can join what is counted apart.
      counted = tokens_in(setting.tokenizer, part.source + segment.between + segment.text);
      if (*counted > setting.limit) return false;
    }
    part.append(segment);
    if (counted) part.tokens = *counted;
    return true;
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
      .prefix = own.text("prefix", config.text("prefix", "")),
      .max_source_tokens = own.integer_in(kMaxSource, 0, bounds::kPositions, 0),
      .max_new_tokens = own.has("max_length") ? std::max<std::int64_t>(own.integer("max_length") - 1, 1) : 0};
  read.candidates = own.integer_in(kCandidates, 1, kMostCandidates, 1);
  if (own.has(kLong)) read.long_text = own.choice(kLong, kLongTextNames);
  return read;
}

void SummaryParameters::record(const std::filesystem::path& folder) const {
  Config config(folder / "config.json"), tasks = config.object(kTasks), own;
  if (!prefix.empty()) own.set("prefix", prefix);
  if (max_source_tokens > 0) own.set(kMaxSource, max_source_tokens);
  if (max_new_tokens > 0) own.set("max_length", max_new_tokens + 1);
  if (candidates > 1) own.set(kCandidates, candidates);
  if (long_text) own.set(kLong, name_of(*long_text, kLongTextNames));
  tasks.set(kTask, own);
  config.set(kTasks, tasks);
  config.save(folder / "config.json");
}

Summarizer::Summarizer(const ModelFolder& folder)
    : translator_(folder), defaults_(SummaryParameters::read(folder.config())) {
  // As transformers' pipeline for summaries does.
  const Config parameters = folder.config().object(kTasks).object(kTask);
  const GenerationConfig own = translator_.generation();
  GenerationConfig generation = GenerationConfig::read(parameters, own.search);
  if (parameters.has("max_length") && !parameters.has("max_new_tokens")) generation.search.max_new_tokens = 0;
  // The positions of the model are no length that the folder asks for.
  if (!parameters.has("max_length") && GenerationConfig::read(folder, {.max_length = 0}).search.max_length == 0)
    generation.search.max_length = 0;
  if (!generation.padding) generation.padding = own.padding;
  generation.ignored.insert(generation.ignored.end(), own.ignored.begin(), own.ignored.end());
  translator_ = translator_.with_generation(std::move(generation));
}

GenerationOptions Summarizer::search_of(const SummarizeOptions& options) const {
  GenerationOptions search = options.search;
  const SearchOptions& folder = generation().search;
  if (!search.max_new_tokens && folder.max_new_tokens == 0 && folder.max_length == 0)
    search.max_new_tokens = kDefaultNewTokens;
  search.nbest.reset();
  const std::int64_t candidates = options.candidates.value_or(defaults_.candidates);
  if (candidates > 1 && !search.greedy.value_or(false)) {
    search.nbest = candidates;
    if (search.beam)
      search.beam = std::max(*search.beam, candidates);
    else
      search.sample = true, search.seed = search.seed.value_or(1);  // a text always has the same summary
  }
  if (!search.seed) search.seed = random_seed();  // one for all passes of a document
  return search;
}

std::int64_t Summarizer::max_tokens_of(const SummarizeOptions& options) const {
  const SearchOptions& folder = generation().search;
  std::int64_t most = search_of(options).max_new_tokens.value_or(folder.max_new_tokens);
  if (most == 0) most = folder.max_length - 1;  // without the start token
  const std::int64_t model = translator_.max_new_tokens();
  return model > 0 ? std::min(most, model) : most;
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

struct SummaryJob::Content {
  std::vector<Document> documents = {};
  Setting setting;
  TranslateOptions translate;
  std::vector<Part> parts = {};  // of this round
};

SummaryJob::~SummaryJob() = default;
SummaryJob::SummaryJob(SummaryJob&&) noexcept = default;
SummaryJob& SummaryJob::operator=(SummaryJob&&) noexcept = default;

SummaryJob::SummaryJob(const Summarizer& summarizer, std::span<const std::string> documents,
                       const SummarizeOptions& options) {
  summarizer.check(options);
  const Tokenizer& tokenizer = summarizer.translator_.source_tokenizer();
  const std::string prefix = summarizer.prefix_of(options);
  const std::int64_t limit = summarizer.limit_of(options);
  const LongText long_text = summarizer.long_text_of(options);
  content_ =
      std::make_unique<Content>(Content{.setting = {tokenizer, prefix, long_text == LongText::truncate ? 0 : limit,
                                                    options.sources, summarizer.translator_.lowercase()},
                                        .translate = {.search = summarizer.search_of(options),
                                                      .max_tokens = limit,
                                                      .long_text = LongText::truncate,
                                                      .sentences = SentenceMode::whole,
                                                      .batch_tokens = options.batch_tokens,
                                                      .attention = options.sources,
                                                      .maps = options.maps}});
  for (std::size_t i = 0; i < documents.size(); ++i) {
    check_stop();
    if (long_text == LongText::error && limit > 0)
      if (const std::int64_t tokens = tokens_in(tokenizer, prefix + documents[i]); tokens > limit)
        throw TextError(i, "the text is too long: got " + std::to_string(tokens) + " tokens, expected at most " +
                               std::to_string(limit));
    content_->documents.emplace_back(documents[i], content_->setting);
  }
}

const TranslateOptions& SummaryJob::options() const { return content_->translate; }

std::vector<std::string> SummaryJob::next_sources() {
  std::vector<Document>& documents = content_->documents;
  content_->parts.clear();
  for (std::size_t i = 0; i < documents.size(); ++i)
    if (!documents[i].done())
      std::ranges::move(documents[i].parts(i, content_->setting), std::back_inserter(content_->parts));
  std::vector<std::string> sources;
  for (const Part& part : content_->parts) sources.push_back(part.source);
  return sources;
}

void SummaryJob::set(std::span<const std::vector<Translation>> found) {
  const std::span<const Part> parts = content_->parts;
  std::vector<const Translation*> chosen;
  for (const std::vector<Translation>& candidates : found) {
    check_stop();
    chosen.push_back(&candidates[best_of(candidates)]);
  }
  for (std::size_t p = 0; p < parts.size();) {
    check_stop();
    Document& document = content_->documents[parts[p].document];
    std::size_t count = 0;
    for (; p + count < parts.size() && parts[p + count].document == parts[p].document; ++count)
      document.summary.truncated += chosen[p + count]->truncated;
    if (count == 1)
      document.finish(parts[p], *chosen[p], content_->setting);
    else
      document.go_on(parts.subspan(p, count), std::span(chosen).subspan(p, count), content_->setting);
    p += count;
  }
}

std::vector<Summary> SummaryJob::finish() {
  std::vector<Summary> summaries;
  for (Document& document : content_->documents) summaries.push_back(std::move(document.summary));
  return summaries;
}

std::vector<Summary> Summarizer::operator()(std::span<const std::string> documents, const SummarizeOptions& options,
                                            const Progress& progress) const {
  SummaryJob job(*this, documents, options);
  for (bool first = true;; first = false) {
    const std::vector<std::string> sources = job.next_sources();
    if (sources.empty()) return job.finish();
    job.set(translator_(sources, job.options(), first ? progress : Progress()));
  }
}

Summary Summarizer::operator()(const std::string& document, const SummarizeOptions& options) const {
  return (*this)(std::span(&document, 1), options).front();
}

}  // namespace attend
