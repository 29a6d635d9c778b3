// attend train tokenizer: learns a vocabulary from text.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/interrupt.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/core/file.h"
#include "attend/core/folder.h"
#include "attend/text/training/train_bpe.h"
#include "attend/text/training/train_sentencepiece.h"
#include "attend/text/training/train_wordpiece.h"
#include "attend/text/training/train_words.h"
#include "attend/text/unicode.h"

namespace attend::cli {
namespace {

enum class Type { bpe, wordpiece, unigram, sentencepiece_bpe, characters, words };

struct TrainTokenizerFlags {
  std::string type_name = "bpe", output;
  Type type = Type::bpe;
  std::vector<std::string> input, target_input, special;
  std::optional<std::int64_t> vocab_size, min_frequency, limit_alphabet;
  std::optional<bool> lowercase, eos;
  bool letters = false, byte_fallback = false, json = false;
  double character_coverage = SentencePieceTrainingOptions().character_coverage;
};

/// Gives lines to a trainer, counts them, and shows a progress bar.
class Text {
 public:
  Text(const std::vector<std::string>& paths, std::string label) : reader_(paths), bar_(std::move(label), "B") {}

  LineSource lines() {
    return [this](std::string& line) {
      if (!reader_.next(line)) {
        bar_.erase();
        return false;
      }
      if (sample_.empty()) sample_ = line;
      bar_.update(reader_.bytes_read(), reader_.total_bytes());
      return true;
    };
  }
  std::int64_t line_count() const { return reader_.lines_read(); }
  std::int64_t byte_count() const { return reader_.bytes_read(); }
  /// The first line that is not empty.
  const std::string& sample() const { return sample_; }

 private:
  LineReader reader_;
  ProgressBar bar_;
  std::string sample_;
};

/// Without a flag, the trainer's own default applies.
template <typename Value>
void set(Value& option, const std::optional<Value>& flag) {
  if (flag) option = *flag;
}

/// Sets the options that a trainer has.
template <typename Options>
void set_flags(Options& options, const TrainTokenizerFlags& flags) {
  set(options.vocab_size, flags.vocab_size);
  set(options.lowercase, flags.lowercase);
  options.special.more = flags.special;
  if constexpr (requires { options.min_frequency; }) set(options.min_frequency, flags.min_frequency);
  if constexpr (requires { options.limit_alphabet; }) set(options.limit_alphabet, flags.limit_alphabet);
  if constexpr (requires { options.append_eos; }) set(options.append_eos, flags.eos);
}

/// SentencePiece does not report its progress, and cannot be interrupted.
Tokenizer train_with_library(const TrainTokenizerFlags& flags, Text& text, std::optional<Text>& target) {
  SentencePieceTrainingOptions options;
  set_flags(options, flags);
  options.unigram = flags.type == Type::unigram;
  options.character_coverage = flags.character_coverage;
  options.byte_fallback = flags.byte_fallback;
  const StopAtOnce at_once;
  std::cerr << "attend: SentencePiece is training; it does not report its progress" << std::endl;
  return target ? train_sentencepiece_pair(text.lines(), target->lines(), options)
                : train_sentencepiece(text.lines(), options);
}

Tokenizer train(const TrainTokenizerFlags& flags, Text& text, std::optional<Text>& target) {
  ProgressBar bar("Merging", "tokens");
  switch (flags.type) {
    case Type::bpe: {
      BpeTrainingOptions options;
      if (flags.letters) {
        options.byte_level = false;
        options.special = {.padding = "<pad>", .unknown = "<unk>", .bos = "<s>", .eos = "</s>"};
      }
      set_flags(options, flags);
      return train_bpe(text.lines(), options, bar.progress());
    }
    case Type::wordpiece: {
      WordPieceTrainingOptions options;
      set_flags(options, flags);
      return train_wordpiece(text.lines(), options, bar.progress());
    }
    case Type::characters:
    case Type::words: {
      WordTrainingOptions options;
      set_flags(options, flags);
      return flags.type == Type::words ? train_words(text.lines(), options) : train_characters(text.lines(), options);
    }
    case Type::unigram:
    case Type::sentencepiece_bpe:
      break;
  }
  return train_with_library(flags, text, target);
}

/// Prints the summary, as text or as JSON.
void summarise(const TrainTokenizerFlags& flags, const Tokenizer& tokenizer, const Text& text,
               const std::optional<Text>& target, double seconds) {
  const std::int64_t lines = text.line_count() + (target ? target->line_count() : 0);
  const std::int64_t size = text.byte_count() + (target ? target->byte_count() : 0);
  const std::string sample = text.sample().substr(0, 200);
  const Encoding encoding = tokenizer.encode(sample.substr(0, sample.size() - unfinished_utf8(sample)));
  std::vector<std::string> tokens;
  for (const std::int32_t id : encoding.ids) tokens.push_back(tokenizer.token(id));
  if (flags.json) {
    nlohmann::ordered_json json{{"type", flags.type_name}, {"folder", flags.output}, {"tokens", tokenizer.size()},
                                {"lines", lines},          {"bytes", size},          {"seconds", seconds}};
    std::cout << as_line(json);
    return;
  }
  std::cout << "Tokenizer   " << flags.type_name << ", " << grouped(tokenizer.size()) << " tokens\n"
            << "Text        " << grouped(lines) << " lines, " << bytes(static_cast<double>(size)) << ", in "
            << duration(seconds) << '\n'
            << "Folder      " << flags.output << '\n'
            << "First line ";
  for (std::size_t i = 0; i < std::min<std::size_t>(tokens.size(), 20); ++i) std::cout << ' ' << tokens[i];
  std::cout << (tokens.size() > 20 ? " …\n" : "\n");
}

void run(const TrainTokenizerFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  check_output_folder(flags.output);
  const FolderLock lock(flags.output);
  for (const char* name : {"config.json", "model.safetensors"})
    if (std::filesystem::exists(std::filesystem::path(flags.output) / name))
      fail<InputError>("output", flags.output, ": holds a model, which has its own tokenizer; choose another folder");
  Text text(flags.input, "Reading");
  std::optional<Text> target;
  if (!flags.target_input.empty()) target.emplace(flags.target_input, "Reading the target side");
  const Tokenizer tokenizer = train(flags, text, target);
  FolderUpdate update(flags.output);
  save_tokenizer(tokenizer, update.stage());
  update.commit();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summarise(flags, tokenizer, text, target, seconds);
  if (flags.vocab_size && tokenizer.size() < *flags.vocab_size && flags.type != Type::characters)
    warn("the text gives only " + grouped(tokenizer.size()) + " tokens; " + grouped(*flags.vocab_size) +
         " were asked for");
}

}  // namespace

void add_train_tokenizer(Verb& parent) {
  Verb* verb = parent.add_subcommand("tokenizer", "Learn a vocabulary of subwords, words or characters from text");
  auto flags = std::make_shared<TrainTokenizerFlags>();
  const std::map<std::string, Type> types{{"bpe", Type::bpe},
                                          {"wordpiece", Type::wordpiece},
                                          {"unigram", Type::unigram},
                                          {"sentencepiece-bpe", Type::sentencepiece_bpe},
                                          {"characters", Type::characters},
                                          {"words", Type::words}};
  verb->add_option("-t,--type", flags->type_name,
                   "Type of the tokenizer: bpe, wordpiece, unigram, sentencepiece-bpe, characters or words")
      ->type_name("TYPE")
      ->check(is_one_of({"bpe", "wordpiece", "unigram", "sentencepiece-bpe", "characters", "words"}));
  add_input_flag(*verb, flags->input);
  verb->add_option("-o,--output", flags->output, "Folder for the tokenizer")->type_name("DIR")->required();
  verb->add_option("-n,--vocab-size", flags->vocab_size, "Size of the vocabulary")
      ->default_text("8000 subwords, or 30000 words")
      ->type_name("N")
      ->check(kPositive);
  verb->add_option("--min-frequency", flags->min_frequency, "Leave out tokens that occur less often")
      ->default_text("2 for bpe and wordpiece, 0 for words")
      ->type_name("N")
      ->check(kNotNegative);
  const auto add_choice = [&](const std::string& name, std::optional<bool>& flag, bool value, const std::string& text) {
    verb->add_flag_callback(
        name, [&flag, value] { flag = value; }, text);
  };
  add_choice("--lowercase", flags->lowercase, true, "Convert text to lower case; wordpiece does so by default");
  add_choice("--no-lowercase", flags->lowercase, false, "wordpiece: keep case and accents");
  verb->add_option("--special", flags->special, "Further special tokens, such as '>>fr<<'")->type_name("TOKEN");
  add_choice(
      "--eos", flags->eos, true,
      "Append </s> to each text, as translation models need it; all types but bpe and wordpiece do so by default");
  add_choice("--no-eos", flags->eos, false, "Do not append </s>");
  verb->add_flag("--letters", flags->letters,
                 "bpe: start from characters instead of bytes; characters that are not in the text become unknown");
  verb->add_option("--limit-alphabet", flags->limit_alphabet,
                   "bpe --letters and wordpiece: keep only the N most frequent characters; 0 keeps all")
      ->type_name("N")
      ->check(kNotNegative);
  verb->add_option("--character-coverage", flags->character_coverage,
                   "unigram, sentencepiece-bpe: fraction of the characters of the text that the vocabulary covers")
      ->type_name("SHARE")
      ->check(between(0.5, 1.0));
  verb->add_flag("--byte-fallback", flags->byte_fallback,
                 "unigram, sentencepiece-bpe: encode unknown characters as bytes");
  verb->add_option(
          "--target-input", flags->target_input,
          "unigram, sentencepiece-bpe: text in the target language, to train the two tokenizers that Marian uses")
      ->type_name("FILE");
  verb->add_flag("--json", flags->json, "Print the summary as one JSON object");
  verb->footer(
      "Hugging Face transformers can read the folder. Which type to choose:\n"
      "  bpe                 as GPT-2: bytes, so no character is unknown; for text generation\n"
      "  wordpiece           as BERT: words and their parts; for classification and embeddings\n"
      "  unigram             as T5 and Marian, by SentencePiece; for translation\n"
      "  sentencepiece-bpe   BPE by SentencePiece\n"
      "  characters, words   for small models and small data\n\n"
      "Examples:\n"
      "  attend train tokenizer --input book.txt --output my-bpe --vocab-size 8000\n"
      "  attend train tokenizer --type wordpiece --input a.txt b.txt --output my-wordpiece\n"
      "  attend train tokenizer --type unigram --input train.en --target-input train.de --output en-de\n"
      "  attend tokenize --model my-bpe --input book.txt");
  verb->callback([flags, types] {
    flags->type = types.at(flags->type_name);
    const bool library = flags->type == Type::unigram || flags->type == Type::sentencepiece_bpe;
    if (!flags->target_input.empty() && !library)
      throw UsageError("--target-input", "needs --type unigram or sentencepiece-bpe");
    if (!flags->target_input.empty() && flags->input.empty())
      throw UsageError("--target-input", "needs --input FILE, the text in the source language");
    if (flags->letters && flags->type != Type::bpe) throw UsageError("--letters", "needs --type bpe");
    run(*flags);
  });
}

}  // namespace attend::cli
