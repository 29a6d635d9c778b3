// attend tokenize: splits lines into tokens and ids, or turns ids into text.
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/error_text.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/core/threads.h"
#include "attend/data/tokenized_texts.h"
#include "attend/text/character_positions.h"
#include "attend/text/tokenizer.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TokenizeFlags {
  std::string model;
  std::vector<std::string> input;
  std::string output;
  Side side = Side::source;
  bool json = false, ids = false, offsets = false, pair = false;
  bool decode = false, keep_special = false, no_special = false;
  std::int64_t max_tokens = 0, overlap = 0;
  LongText long_text = LongText::error;
  std::string store;
  DocumentEnd document_end = DocumentEnd::file;
};

/// The result for one line.
struct Result {
  std::string output;
  std::string error;
  std::int64_t tokens = 0, dropped = 0;
};

template <typename Numbers>
void append_numbers(const Numbers& numbers, std::string& text) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(numbers[i]);
  }
}

class Encoder {
 public:
  Encoder(const Tokenizer& tokenizer, const TokenizeFlags& flags) : tokenizer_(tokenizer), flags_(flags) {
    options_.special_tokens = !flags.no_special;
    options_.max_tokens = flags.max_tokens;
    options_.long_text = flags.long_text;
    options_.overlap = flags.overlap;
  }

  Result operator()(const std::string& line) const {
    Result result;
    std::string_view first = line, second;
    if (flags_.pair) {
      const std::size_t tab = first.find('\t');
      if (tab == first.npos) fail<InputError>("tokenize", "--pairs expects two texts with a tab between them");
      second = first.substr(tab + 1);
      first = first.substr(0, tab);
    }
    const std::vector<Encoding> windows = flags_.pair ? tokenizer_.encode_pair_windows(first, second, options_)
                                                      : tokenizer_.encode_windows(first, options_);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      result.tokens += windows[i].size();
      result.dropped += windows[i].dropped;
      if (flags_.json)
        result.output += as_line(to_json(windows[i], first, second, i, windows.size()));
      else
        print(windows[i], result.output);
    }
    return result;
  }

 private:
  void print(const Encoding& encoding, std::string& output) const {
    if (!flags_.ids) {
      for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        if (i > 0) output += ' ';
        output += tokenizer_.token(encoding.ids[i]);
      }
      output += '\t';
    }
    append_numbers(encoding.ids, output);
    output += '\n';
  }

  Json to_json(const Encoding& encoding, std::string_view first, std::string_view second, std::size_t window,
               std::size_t windows) const {
    Json json;
    json["text"] = first;
    if (flags_.pair) json["text_pair"] = second;
    std::vector<std::string> tokens;
    for (const std::int32_t id : encoding.ids) tokens.push_back(tokenizer_.token(id));
    json["tokens"] = tokens;
    json["ids"] = encoding.ids;
    if (flags_.pair) json["types"] = encoding.types;
    if (flags_.offsets) {
      const CharacterPositions in_first(first), in_second(second);
      const auto pair = [](Span span) { return Json{span.begin, span.end}; };
      Json offsets = Json::array(), words = Json::array();
      for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
        const bool added = encoding.special[i] != 0;
        offsets.push_back(added ? Json() : pair((encoding.types[i] == 1 ? in_second : in_first)(encoding.spans[i])));
        words.push_back(encoding.words[i] < 0 ? Json() : Json(encoding.words[i]));
      }
      json["offsets"] = std::move(offsets);
      json["words"] = std::move(words);
    }
    if (windows > 1) json["window"] = window, json["windows"] = windows;
    if (encoding.dropped > 0) json["truncated"] = encoding.dropped;
    return json;
  }

  const Tokenizer& tokenizer_;
  const TokenizeFlags& flags_;
  EncodeOptions options_;
};

/// "15496 995", "15496,995", "[15496, 995]" or an object that has `ids`.
std::vector<std::int32_t> read_ids(std::string_view line) {
  if (line.starts_with('{') || line.starts_with('[')) {
    try {
      const Json json = Json::parse(line);
      return (json.is_object() ? json.at("ids") : json).get<std::vector<std::int32_t>>();
    } catch (const Json::exception&) {
      fail<InputError>("tokenize", "expected a list of ids, or an object with \"ids\"");
    }
  }
  std::vector<std::int32_t> ids;
  for (const char *at = line.data(), *end = at + line.size(); at < end;) {
    if (*at == ' ' || *at == ',' || *at == '\t') {
      ++at;
      continue;
    }
    std::int32_t id = 0;
    const auto [next, failed] = std::from_chars(at, end, id);
    if (failed != std::errc() || (next < end && *next != ' ' && *next != ',' && *next != '\t'))
      fail<InputError>("tokenize", "--decode expects ids, got \"",
                       line.substr(static_cast<std::size_t>(at - line.data()), 20), '"');
    ids.push_back(id);
    at = next;
  }
  return ids;
}

Result decode(const Tokenizer& tokenizer, const TokenizeFlags& flags, const std::string& line) {
  const std::vector<std::int32_t> ids = read_ids(line);
  Result result;
  result.tokens = static_cast<std::int64_t>(ids.size());
  const std::string text = tokenizer.decode(ids, !flags.keep_special);
  result.output = flags.json ? as_line({{"ids", ids}, {"text", text}}) : text + '\n';
  return result;
}

void make_store(const TokenizeFlags& flags, const Tokenizer& tokenizer) {
  if (flags.input.empty()) throw UsageError("--store", "needs --input FILE");
  ProgressBar bar("Tokenizing", "B");
  const CachedTokenStore made = tokenized_texts({flags.input.begin(), flags.input.end()}, tokenizer, flags.store,
                                                {.document_end = flags.document_end}, bar.progress());
  bar.erase();
  std::cout << flags.store << "  " << grouped(made.store.size()) << " tokens in " << grouped(made.store.documents())
            << (made.store.documents() == 1 ? " document" : " documents")
            << (made.made_because.empty() ? ", already up to date\n" : "\n");
  if (const InvalidText invalid = invalid_text_in({flags.input.begin(), flags.input.end()}); invalid.count > 0)
    warn(invalid.warning());
}

void run(TokenizeFlags flags) {
  const Tokenizer tokenizer = load_tokenizer(flags.model, flags.side);
  if (!flags.store.empty()) return make_store(flags, tokenizer);
  if (flags.long_text != LongText::error && flags.max_tokens == 0) {
    flags.max_tokens = tokenizer.max_tokens();
    if (flags.max_tokens == 0) throw UsageError("--long", "needs --max-tokens N: the model's folder has no limit");
  }
  LineReader reader(flags.input);
  TextWriter writer(flags.output);
  const Encoder encode(tokenizer, flags);
  ProgressBar bar(flags.decode ? "Decoding" : "Tokenizing", "B");
  const bool show_progress = !flags.output.empty() || !::isatty(STDOUT_FILENO);

  constexpr int kWarnedSeparately = 5;
  std::int64_t cut = 0, dropped = 0;
  std::vector<std::string> lines;
  std::vector<Result> results;
  while (reader.next(lines, 4096)) {
    results.assign(lines.size(), {});
    parallel_for(static_cast<std::int64_t>(lines.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) try {
          results[i] = flags.decode ? decode(tokenizer, flags, lines[i]) : encode(lines[i]);
        } catch (const InputError& error) {
          results[i].error = text_of(error);
        }
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Result& result = results[i];
      const auto where = [&] {
        return reader.where(reader.lines_read() - static_cast<std::int64_t>(results.size() - i) + 1);
      };
      if (!result.error.empty()) {
        writer.flush();  // the lines before the error are valid output
        throw InputError(where() + ": " + result.error);
      }
      writer.write(result.output);
      dropped += result.dropped;
      if (result.dropped > 0 && ++cut <= kWarnedSeparately)
        warn(where() + ": cut to " + grouped(result.tokens) + " tokens, " + grouped(result.dropped) + " dropped");
    }
    writer.flush();
    if (show_progress) bar.update(reader.bytes_read(), reader.total_bytes());
  }
  writer.finish();
  bar.erase();
  if (cut > kWarnedSeparately) warn(grouped(cut) + " lines were cut, " + grouped(dropped) + " tokens dropped in all");
}

}  // namespace

void add_tokenize(Verb& program) {
  Verb* verb = program.add_subcommand("tokenize", "Split text into tokens and ids, or turn ids into text (--decode)");
  verb->group(kUseAModel);
  auto flags = std::make_shared<TokenizeFlags>();
  verb->add_option("-m,--model", flags->model, "Folder with a tokenizer")->type_name("DIR")->required();
  add_input_flag(*verb, flags->input);
  Flag* output = add_output_flag(*verb, flags->output);
  Flag* json = verb->add_flag("--json", flags->json, "Print one JSON object per line: text, tokens, ids");
  Flag* ids = verb->add_flag("--ids", flags->ids, "Print ids only");
  Flag* offsets = verb->add_flag(
      "--offsets", flags->offsets,
      "With --json: add the position of each token in the text, in characters, and the number of its word");
  Flag* pair = verb->add_flag("--pairs", flags->pair, "Each line holds two texts with a tab between them");
  Flag* plain = verb->add_flag("--no-special", flags->no_special, "Do not add special tokens such as [CLS] and </s>");
  Flag* limit = verb->add_option("--max-tokens", flags->max_tokens, "Largest number of tokens in a text")
                    ->default_text("no limit")
                    ->type_name("N")
                    ->check(kPositive);
  Flag* kind = add_choice(*verb, "--long", flags->long_text,
                          {{"error", LongText::error}, {"truncate", LongText::truncate}, {"split", LongText::split}},
                          "What to do with longer texts; split prints several lines")
                   ->type_name("HOW");
  Flag* overlap = verb->add_option("--overlap", flags->overlap,
                                   "With --long split: number of tokens that two neighbouring lines share")
                      ->type_name("N")
                      ->check(kNotNegative);
  add_choice(*verb, "--side", flags->side, {{"source", Side::source}, {"target", Side::target}},
             "Which tokenizer of a translation model to use");
  verb->add_flag("-d,--decode", flags->decode, "Read ids, or JSON objects with ids, and print the text");
  Flag* keep = verb->add_flag("--keep-special", flags->keep_special, "With --decode: keep special tokens");
  Flag* store =
      verb->add_option("--store", flags->store, "Write a token store to this file, for `attend train language-model`")
          ->type_name("FILE");
  add_choice(*verb, "--documents", flags->document_end, kDocumentEndNames, "With --store: where a document ends")
      ->needs(store);
  verb->footer(
      "Prints tokens, a tab and ids for each line of text.\n\n"
      "Examples:\n"
      "  echo 'Hello world' | attend tokenize --model gpt2\n"
      "  attend tokenize --model gpt2 --input book.txt --ids --output book.ids\n"
      "  attend tokenize --model gpt2 --decode --input book.ids\n"
      "  attend tokenize --model gpt2 --input shelf/*.txt --store shelf.tokens\n"
      "  attend tokenize --model bert --json --offsets --pairs --long truncate --max-tokens 128 --input pairs.tsv");
  verb->callback([=] {
    const auto refuse = [](const Flag* option, const std::string& why) {
      if (option->given()) throw UsageError(option->name(), why);
    };
    if (flags->json) refuse(ids, "cannot be given together with --json");
    if (!flags->json) refuse(offsets, "needs --json");
    if (!flags->decode) refuse(keep, "needs --decode");
    if (flags->decode)
      for (const Flag* option : {ids, offsets, pair, plain, limit, kind, overlap, store})
        refuse(option, "cannot be given together with --decode");
    if (!flags->store.empty())
      for (const Flag* option : {output, json, ids, pair, plain, limit, kind})
        refuse(option, "cannot be given together with --store");
    run(*flags);
  });
}

}  // namespace attend::cli
