#include "attend/text/training/merge_training.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "attend/core/error.h"
#include "attend/text/unicode.h"

namespace attend {
namespace {

using Pair = std::uint64_t;  // left id in the high bits, so pairs compare by left id, then right id

Pair pair_of(std::uint32_t left, std::uint32_t right) { return Pair{left} << 32 | right; }
std::uint32_t left_of(Pair pair) { return static_cast<std::uint32_t>(pair >> 32); }
std::uint32_t right_of(Pair pair) { return static_cast<std::uint32_t>(pair); }

/// A hash table of pairs and their counts, with open addressing. Most of the time is spent here.
class PairTable {
 public:
  struct Entry {
    Pair pair = kFree;
    std::int64_t count = 0;
    std::int32_t fresh = -1;  // the list of words in which the current merge creates this pair
  };

  /// The entry of a pair, which is added if needed. Valid until the next call.
  Entry& operator[](Pair pair) {
    if (2 * used_ >= entries_.size()) grow();
    Entry& entry = entries_[slot(pair)];
    if (entry.pair == kFree) entry.pair = pair, ++used_;
    return entry;
  }
  const std::vector<Entry>& slots() const { return entries_; }
  static constexpr Pair kFree = ~Pair{0};

 private:
  std::size_t slot(Pair pair) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (pair * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (entries_[at].pair != kFree && entries_[at].pair != pair) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Entry> old(std::max<std::size_t>(2 * entries_.size(), 1 << 12));
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.pair != kFree) entries_[slot(entry.pair)] = entry;
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

/// A pair to merge, with the words that contain it. If its count has changed, it is queued again.
struct Candidate {
  std::int64_t count;
  Pair pair;
  std::uint32_t words;  // index of the list
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

/// Words as indices of their characters, so that UTF-8 is decoded once.
struct Spelling {
  std::vector<char32_t> letters;     // the characters of the words, in order of occurrence
  std::vector<std::int64_t> counts;  // of the letters
  std::vector<std::uint32_t> text;   // indices into `letters`, all words concatenated
  std::vector<std::size_t> ends;     // ends of the words in `text`

  explicit Spelling(std::span<const WordCount> words) {
    constexpr std::uint32_t kNew = 0xFFFFFFFF;
    std::vector<std::uint32_t> places(0x110000, kNew);
    for (const auto& [word, count] : words) {
      for (std::size_t at = 0; at < word.size();) {
        const CodePoint letter = decode_utf8(word, at);
        at += static_cast<std::size_t>(letter.size);
        std::uint32_t& place = places[letter.value];
        if (place == kNew) {
          place = static_cast<std::uint32_t>(letters.size());
          letters.push_back(letter.value);
          counts.push_back(0);
        }
        counts[place] += count;
        text.push_back(place);
      }
      ends.push_back(text.size());
    }
  }
};

std::string utf8(char32_t letter) {
  std::string text;
  append_utf8(letter, text);
  return text;
}

class Training {
 public:
  Training(std::span<const WordCount> words, const MergeOptions& options) : options_(options) {
    for (const std::string& token : options.special_tokens) add_token(token);
    const Spelling spelling(words);
    for (const char32_t letter : alphabet(spelling)) add_token(utf8(letter));
    spell(words, spelling);
    if (words.empty()) fail<InputError>("train", "the text has no words");
    if (size() > options.vocab_size)
      fail<InputError>("train", "there is no room for special tokens and the alphabet: got vocab_size ",
                       options.vocab_size, ", expected at least ", size());
    count_pairs();
  }

  void run(const Progress& progress) {
    while (size() < options_.vocab_size && !queue_.empty()) {
      Candidate best = queue_.top();
      queue_.pop();
      if (const std::int64_t count = pairs_[best.pair].count; count != best.count) {
        best.count = count;
        queue_.push(best);
        continue;
      }
      if (best.count < 1 || best.count < options_.min_frequency) break;
      merge(best);
      if (progress) progress(size(), options_.vocab_size);
    }
  }

  TrainedMerges result() && {
    // A pair can be merged twice, since a token can be formed in two ways. The later merge counts.
    std::unordered_set<Pair> seen;
    std::vector<BpeMerge>& merges = result_.merges;
    auto kept = merges.rbegin();
    // NOLINTNEXTLINE(modernize-loop-convert): clang 14 cannot compile the library's views
    for (auto merge = merges.rbegin(); merge != merges.rend(); ++merge)
      if (seen.insert(pair_of(static_cast<std::uint32_t>(merge->left), static_cast<std::uint32_t>(merge->right)))
              .second)
        *kept++ = *merge;
    merges.erase(merges.begin(), kept.base());
    return std::move(result_);
  }

 private:
  struct Word {
    std::size_t begin;  // in symbols_
    std::uint32_t size;
    std::int64_t count;
  };

  std::int64_t size() const { return static_cast<std::int64_t>(result_.tokens.size()); }

  std::uint32_t add_token(const std::string& token) {
    const auto [found, is_new] = ids_.try_emplace(token, static_cast<std::uint32_t>(result_.tokens.size()));
    if (is_new) result_.tokens.push_back(token);
    return found->second;
  }

  /// The alphabet, sorted by code point.
  std::vector<char32_t> alphabet(const Spelling& spelling) const {
    constexpr auto kAlways = std::numeric_limits<std::int64_t>::max();
    std::map<char32_t, std::int64_t> counts;
    for (std::size_t i = 0; i < spelling.letters.size(); ++i) counts[spelling.letters[i]] = spelling.counts[i];
    for (const char32_t letter : options_.initial_alphabet) counts[letter] = kAlways;
    std::vector<std::pair<char32_t, std::int64_t>> kept(counts.begin(), counts.end());
    if (const auto limit = static_cast<std::size_t>(options_.limit_alphabet); limit > 0 && limit < kept.size()) {
      std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
      kept.resize(limit);
      std::sort(kept.begin(), kept.end());
    }
    std::vector<char32_t> letters(kept.size());
    std::ranges::transform(kept, letters.begin(), &std::pair<char32_t, std::int64_t>::first);
    return letters;
  }

  /// Converts words to the ids of their characters, with prefix and suffix.
  void spell(std::span<const WordCount> words, const Spelling& spelling) {
    constexpr std::uint32_t kUnseen = 0xFFFFFFFF, kLeftOut = 0xFFFFFFFE;
    const std::size_t prefixed = options_.continuing_subword_prefix.empty() ? 0 : 1;
    const std::size_t suffixed = options_.end_of_word_suffix.empty() ? 0 : 2;
    std::vector<std::array<std::uint32_t, 4>> ids;  // of the forms of each letter: [inside + 2 * last]
    for (const char32_t letter : spelling.letters)
      ids.emplace_back().fill(ids_.contains(utf8(letter)) ? kUnseen : kLeftOut);
    auto each_letter = [&](std::size_t word, auto&& use) {
      const std::size_t begin = word > 0 ? spelling.ends[word - 1] : 0, end = spelling.ends[word];
      for (std::size_t at = begin; at < end; ++at)
        if (std::uint32_t& id = ids[spelling.text[at]][(at > begin) * prefixed + (at + 1 == end) * suffixed];
            id != kLeftOut)
          use(id);
    };

    for (std::size_t word = 0; word < words.size(); ++word) each_letter(word, [](std::uint32_t& id) { id = 0; });
    std::map<char32_t, std::uint32_t> by_code_point;
    for (std::uint32_t i = 0; i < spelling.letters.size(); ++i) by_code_point[spelling.letters[i]] = i;
    for (const std::size_t form : {0, 1, 2, 3})
      for (const auto& [letter, i] : by_code_point)
        if (ids[i][form] < kLeftOut)
          ids[i][form] = add_token((form & 1 ? options_.continuing_subword_prefix : "") + utf8(letter) +
                                   (form & 2 ? options_.end_of_word_suffix : ""));
    symbols_.reserve(spelling.text.size());
    for (std::size_t word = 0; word < words.size(); ++word) {
      const std::size_t begin = symbols_.size();
      each_letter(word, [&](std::uint32_t id) { symbols_.push_back(id); });
      if (symbols_.size() - begin < 2)
        symbols_.resize(begin);  // nothing to merge
      else
        words_.push_back({begin, static_cast<std::uint32_t>(symbols_.size() - begin), words[word].count});
    }
  }

  /// The list of words that the current merge, or the first count, makes for a pair.
  void note(Pair pair, std::uint32_t word, std::int64_t count) {
    PairTable::Entry& entry = pairs_[pair];
    entry.count += count;
    if (entry.fresh < 0) {
      entry.fresh = static_cast<std::int32_t>(new_list());
      fresh_.push_back(pair);
    }
    std::vector<std::uint32_t>& list = lists_[static_cast<std::size_t>(entry.fresh)];
    if (list.empty() || list.back() != word) list.push_back(word);
  }

  void queue_fresh() {
    for (const Pair pair : fresh_) {
      PairTable::Entry& entry = pairs_[pair];
      const auto list = static_cast<std::uint32_t>(entry.fresh);
      entry.fresh = -1;
      if (entry.count > 0)
        queue_.push({entry.count, pair, list});
      else
        free_list(list);
    }
    fresh_.clear();
  }

  void count_pairs() {
    for (std::uint32_t index = 0; index < words_.size(); ++index) {
      const Word& word = words_[index];
      for (std::size_t at = word.begin; at + 1 < word.begin + word.size; ++at)
        note(pair_of(symbols_[at], symbols_[at + 1]), index, word.count);
    }
    queue_fresh();
  }

  void merge(const Candidate& best) {
    const std::uint32_t left = left_of(best.pair), right = right_of(best.pair);
    std::string_view tail = result_.tokens[right];
    if (tail.starts_with(options_.continuing_subword_prefix))
      tail.remove_prefix(options_.continuing_subword_prefix.size());
    const std::uint32_t joined = add_token(result_.tokens[left] + std::string(tail));
    result_.merges.push_back({static_cast<std::int32_t>(left), static_cast<std::int32_t>(right)});

    const std::vector<std::uint32_t> list = std::move(lists_[best.words]);
    free_list(best.words);
    for (const std::uint32_t index : list) merge_in(index, left, right, joined);
    queue_fresh();
  }

  /// The count of the merged pair is not updated, since it is needed again only if the pair is formed anew.
  void merge_in(std::uint32_t index, std::uint32_t left, std::uint32_t right, std::uint32_t joined) {
    Word& word = words_[index];
    std::uint32_t* symbols = symbols_.data() + word.begin;
    std::uint32_t written = 0;
    for (std::uint32_t read = 0; read < word.size;) {
      if (symbols[read] != left || read + 1 == word.size || symbols[read + 1] != right) {
        symbols[written++] = symbols[read++];
        continue;
      }
      read += 2;
      if (written > 0) {
        pairs_[pair_of(symbols[written - 1], left)].count -= word.count;
        note(pair_of(symbols[written - 1], joined), index, word.count);
      }
      symbols[written++] = joined;
      if (read < word.size) {
        pairs_[pair_of(right, symbols[read])].count -= word.count;
        note(pair_of(joined, symbols[read]), index, word.count);
      }
    }
    word.size = written;
  }

  std::uint32_t new_list() {
    if (free_.empty()) {
      lists_.emplace_back();
      return static_cast<std::uint32_t>(lists_.size() - 1);
    }
    const std::uint32_t list = free_.back();
    free_.pop_back();
    return list;
  }
  void free_list(std::uint32_t list) {
    lists_[list].clear();
    free_.push_back(list);
  }

  const MergeOptions& options_;
  TrainedMerges result_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::uint32_t> symbols_;
  std::vector<Word> words_;
  PairTable pairs_;
  std::priority_queue<Candidate> queue_;
  std::vector<std::vector<std::uint32_t>> lists_;  // lists of words without duplicates
  std::vector<std::uint32_t> free_;                // unused lists
  std::vector<Pair> fresh_;                        // pairs with a new list since queue_fresh()
};

}  // namespace

TrainedMerges train_merges(std::span<const WordCount> words, const MergeOptions& options, const Progress& progress) {
  Training training(words, options);
  training.run(progress);
  return std::move(training).result();
}

}  // namespace attend
