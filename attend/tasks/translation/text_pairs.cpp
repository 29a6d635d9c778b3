#include "attend/tasks/translation/text_pairs.h"

#include <memory>
#include <optional>

#include "attend/core/error.h"
#include "attend/core/wording.h"
#include "attend/text/training/train_sentencepiece.h"

namespace attend {
namespace {

/// SentencePiece keeps its lines in memory. So many are enough for any vocabulary, and take a few hundred megabytes.
constexpr std::int64_t kLinesForSubwords = 1'000'000;

/// The texts of one side, or of both sides in turn.
LineSource lines_of(const PairFiles& files, bool sources, bool targets, const Progress& progress) {
  return [next = open_pairs(files, progress), record = Record(), sources, targets,
          target_is_next = false](std::string& line) mutable {
    if (target_is_next) {
      line = record.target;
    } else {
      if (!next(record)) return false;
      line = sources ? record.source : record.target;
    }
    target_is_next = sources && targets && !target_is_next;
    return true;
  };
}

}  // namespace

std::function<bool(Record&)> open_pairs(const PairFiles& files, const Progress& progress) {
  std::shared_ptr<CorpusReader> reader =
      files.pairs.empty()
          ? read_parallel(TextStream::open(files.source), TextStream::open(files.target))
          : read_tsv(TextStream::open(files.pairs), {.source = "1", .target = "2", .required = "source TAB target"});
  return [reader, progress, any = false](Record& record) mutable {
    const bool more = reader->next(record);
    if (!more && !any) fail<InputError>("train", reader->name(), ": holds no pairs");
    any = true;
    if (progress) progress(reader->position(), 0);
    return more;
  };
}

PairExcerpt read_excerpt(const PairFiles& files, std::int64_t count) {
  PairExcerpt excerpt;
  if (!files.given()) return excerpt;
  const std::function<bool(Record&)> next = open_pairs(files);
  for (Record record; std::ssize(excerpt.sources) < count && next(record);)
    excerpt.sources.push_back(record.source), excerpt.targets.push_back(record.target);
  return excerpt;
}

Tokenizer learn_subwords(const PairFiles& files, const PairSubwords& options, const TrainingObserver& observer) {
  const SentencePieceTrainingOptions subwords{.unigram = false,
                                              .vocab_size = options.vocab_size,
                                              .lowercase = options.lowercase,
                                              .character_coverage = 1.0,
                                              .max_lines = kLinesForSubwords};
  observer.info("Learning " + grouped(options.vocab_size) + " subwords " +
                (options.each_side ? "of each side" : "from both sides"));
  const Progress progress = observer.progress("Reading");
  std::optional<Tokenizer> learned;
  const auto learn = [&] {
    learned = options.each_side ? train_sentencepiece_pair(lines_of(files, true, false, progress),
                                                           lines_of(files, false, true, progress), subwords)
                                : train_sentencepiece(lines_of(files, true, true, progress), subwords);
  };
  observer.uninterrupted ? observer.uninterrupted(learn) : learn();
  return *learned;
}

}  // namespace attend
