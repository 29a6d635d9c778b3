// Readers for plain lines, and for two parallel files.
#include <utility>

#include "attend/core/error.h"
#include "attend/data/reader.h"

namespace attend {
namespace {

class LinesReader final : public CorpusReader {
 public:
  explicit LinesReader(TextStream text) : text_(std::move(text)) {}

  bool next(Record& record) override {
    record.target.clear();
    if (!text_.line(record.source)) return false;
    record.line = text_.lines();
    return true;
  }
  bool has_targets() const override { return false; }
  const std::string& name() const override { return text_.name(); }
  std::int64_t position() const override { return text_.position(); }
  InvalidText invalid_text() const override { return text_.invalid(); }

 private:
  TextStream text_;
};

class ParallelReader final : public CorpusReader {
 public:
  ParallelReader(TextStream source, TextStream target) : source_(std::move(source)), target_(std::move(target)) {}

  bool next(Record& record) override {
    const bool more_source = source_.line(record.source), more_target = target_.line(record.target);
    if (more_source != more_target) {
      const TextStream &longer = more_source ? source_ : target_, &shorter = more_source ? target_ : source_;
      fail<InputError>("corpus", shorter.name(), " ends after ", shorter.lines(), " lines, but ", longer.name(),
                       " goes on; expected a translation on each line");
    }
    record.line = source_.lines();
    return more_source;
  }
  const std::string& name() const override { return source_.name(); }
  std::int64_t position() const override { return source_.position() + target_.position(); }
  InvalidText invalid_text() const override { return source_.invalid() += target_.invalid(); }

 private:
  TextStream source_, target_;
};

}  // namespace

std::unique_ptr<CorpusReader> read_lines(TextStream text) { return std::make_unique<LinesReader>(std::move(text)); }

std::unique_ptr<CorpusReader> read_parallel(TextStream source, TextStream target) {
  return std::make_unique<ParallelReader>(std::move(source), std::move(target));
}

}  // namespace attend
