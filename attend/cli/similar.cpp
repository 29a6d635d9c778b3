// attend similar: finds the lines of a file that are closest to a query in meaning.
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "attend/cli/shared/embedding_flags.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/numbers.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/core/error.h"
#include "attend/explain/page.h"
#include "attend/formats/npy.h"
#include "attend/tasks/classification/reranker.h"
#include "attend/tasks/embedding/nearest.h"
#include "attend/tasks/embedding/text_encoder.h"

namespace attend::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SimilarFlags {
  EmbeddingFlags embedding;
  std::optional<std::string> query_prompt;
  std::vector<std::string> queries;
  std::string query_file, texts, vectors, rerank, output;
  std::int64_t top = 10;
  std::int64_t candidates = 100;
  bool json = false;
};

/// The given prompt; otherwise the folder's prompt under the first of these names that it has.
std::optional<std::string> prompt_of(const TextEncoder& encoder, const std::optional<std::string>& given,
                                     std::initializer_list<const char*> names) {
  if (given) return given;
  for (const char* name : names)
    if (std::optional<std::string> prompt = encoder.prompt(name)) return prompt;
  return {};
}

std::vector<std::string> queries_of(const SimilarFlags& flags) {
  std::vector<std::string> queries = flags.queries;
  if (flags.query_file.empty()) return queries;
  LineReader reader({flags.query_file});
  for (std::string line; reader.next(line);) queries.push_back(line);
  return queries;
}

/// Compares the queries with all vectors of a file.
void add_vectors(const std::string& path, Nearest& nearest) {
  const Tensor vectors = read_npy(path);
  ProgressBar bar("Comparing", "vectors");
  constexpr std::int64_t kPiece = 1 << 16;
  for (std::int64_t begin = 0; begin < vectors.dim(0); begin += kPiece) {
    nearest.add(vectors.view_rows(begin, std::min(begin + kPiece, vectors.dim(0))));
    bar.update(nearest.rows(), vectors.dim(0));
  }
}

/// The texts of the nearest lines, by line number. Only these are kept in memory.
using NumberedLines = std::map<std::int64_t, std::string>;

NumberedLines wanted_lines(const Nearest& nearest) {
  NumberedLines lines;
  for (const auto& matches : nearest.best())
    for (const Nearest::Match& match : matches) lines[match.row];
  return lines;
}

/// Embeds and compares all texts. They are read once, so they may come from a pipe.
NumberedLines compare_texts(const TextEncoder& encoder, const EmbedOptions& options, const std::string& path,
                            Nearest& nearest) {
  LineReader reader({path});
  NumberedLines lines;
  const auto blocks = [&](const TextWork& work) { for_line_blocks(reader, "Reading", work); };
  embed_lines(encoder, options, blocks, [&](const std::vector<std::string>& block, const Embeddings& embeddings) {
    const std::int64_t first = nearest.rows();
    nearest.add(embeddings.vectors);
    NumberedLines wanted = wanted_lines(nearest);
    for (auto& [row, text] : wanted) {
      if (row < first)
        text = std::move(lines[row]);
      else
        text = block[static_cast<std::size_t>(row - first)];
    }
    lines = std::move(wanted);
  });
  return lines;
}

/// Reads the lines of the nearest vectors.
NumberedLines lines_of(const std::string& path, const Nearest& nearest) {
  NumberedLines lines = wanted_lines(nearest);
  LineReader reader({path});
  std::int64_t number = 0;
  for (std::string line; reader.next(line); ++number)
    if (const auto wanted = lines.find(number); wanted != lines.end()) wanted->second = line;
  if (number != nearest.rows())
    fail<InputError>("similar", path, ": has ", counted(number, "line"), ", but there are ",
                     counted(nearest.rows(), "vector"), "; were they computed from this file?");
  return lines;
}

struct Ranked {
  std::int64_t row;
  float cosine, score;  // without re-ranking, the score is the cosine
};

std::vector<Ranked> ranked(const std::vector<Nearest::Match>& matches) {
  std::vector<Ranked> all;
  for (const Nearest::Match& match : matches) all.push_back({match.row, match.cosine, match.cosine});
  return all;
}

/// The best matches by the score of a cross-encoder. Returns how many texts it had to cut.
std::int64_t rerank(const Reranker& reranker, const std::string& query, const NumberedLines& lines, std::int64_t top,
                    std::vector<Ranked>& matches) {
  std::vector<std::string> texts;
  for (const Ranked& match : matches) texts.push_back(lines.at(match.row));
  const Relevance relevance = reranker(query, texts);
  std::vector<std::size_t> order(matches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i, matches[i].score = relevance.scores[i];
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return relevance.logits[i]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  std::vector<Ranked> best;
  for (const std::size_t i : order) best.push_back(matches[i]);
  matches = std::move(best);
  return relevance.truncated;
}

void run(const SimilarFlags& flags) {
  const TextEncoder encoder(flags.embedding.model, open_model(flags.embedding.model, flags.embedding.adapter));
  warn_of_weights(flags.embedding.model);
  std::optional<Reranker> reranker;
  if (!flags.rerank.empty()) reranker.emplace(flags.rerank), warn_of_weights(flags.rerank);
  EmbedOptions options = flags.embedding.options;
  const std::vector<std::string> queries = queries_of(flags);
  TextWriter writer(flags.output);
  if (queries.empty()) return writer.finish();
  warn_of_blank(std::ranges::count_if(queries, is_blank), "a vector without meaning");
  options.prompt = prompt_of(encoder, flags.query_prompt, {"query"});
  Nearest nearest(encoder.embed(queries, options).vectors,
                  reranker ? std::max(flags.top, flags.candidates) : flags.top);
  NumberedLines lines;
  if (!flags.vectors.empty()) {
    add_vectors(flags.vectors, nearest);
    lines = lines_of(flags.texts, nearest);
  } else {
    options.prompt = prompt_of(encoder, flags.embedding.prompt, {"document", "passage", "corpus"});
    lines = compare_texts(encoder, options, flags.texts, nearest);
  }
  if (nearest.rows() == 0) warn("there are no texts to compare with: the input is empty");
  const std::vector<std::vector<Nearest::Match>> best = nearest.best();
  std::int64_t cut = 0;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::vector<Ranked> found = ranked(best[q]);
    if (reranker) cut += rerank(*reranker, queries[q], lines, flags.top, found);
    Json matches = Json::array();
    if (!flags.json && queries.size() > 1) writer.write((q ? "\n# " : "# ") + queries[q] + "\n");
    for (const Ranked& match : found) {
      const std::string& text = lines.at(match.row);
      if (!flags.json) {
        writer.write(fixed(match.score, 4) + "\t" + std::to_string(match.row + 1) + "\t" + text + "\n");
        continue;
      }
      Json one = {{"line", match.row + 1}, {"score", match.score}, {"text", text}};
      if (reranker) one["cosine"] = match.cosine;
      matches.push_back(std::move(one));
    }
    if (flags.json) writer.write(as_line({{"query", queries[q]}, {"matches", matches}}));
  }
  if (cut > 0) warn("cut: " + counted(cut, "text") + " too long for the model of --rerank");
  writer.finish();
}

}  // namespace

void add_similar(Verb& program) {
  Verb* verb = program.add_subcommand("similar", "Find the texts that are closest to a query in meaning");
  verb->group(kUseAModel);
  auto flags = std::make_shared<SimilarFlags>();
  Flag* query = verb->add_option("-q,--query", flags->queries, "Query; repeat the flag for several queries");
  query->type_name("TEXT")->one_at_a_time();
  Flag* file = verb->add_option("--queries", flags->query_file, "File with one query per line; - is standard input");
  file->type_name("FILE");
  verb->add_option("--texts", flags->texts, "File with one text per line; - is standard input")
      ->type_name("FILE")
      ->required();
  verb->add_option("--vectors", flags->vectors,
                   "Vectors of these texts (.npy), made by `attend embed` with the same model and prompt")
      ->default_text("compute them")
      ->type_name("FILE");
  verb->add_option("--top", flags->top, "Number of texts to print for each query, the closest first")
      ->type_name("N")
      ->check(kPositive);
  verb->add_option("--rerank", flags->rerank,
                   "Folder of a cross-encoder, a classifier with one label: sort the closest texts by its score")
      ->default_text("sort by cosine similarity")
      ->type_name("DIR");
  verb->add_option("--candidates", flags->candidates, "Number of texts to re-rank for each query, with --rerank")
      ->type_name("N")
      ->check(kPositive);
  add_embedding_flags(*verb, flags->embedding);
  verb->add_option("--query-prompt", flags->query_prompt, "Text to put before each query")
      ->default_text("the prompt \"query\" of the model's folder")
      ->type_name("TEXT");
  verb->add_option("--prompt", flags->embedding.prompt, "Text to put before each text")
      ->default_text("the prompt \"document\" or \"passage\" of the model's folder")
      ->type_name("TEXT");
  add_output_flag(*verb, flags->output);
  verb->add_flag("--json", flags->json,
                 "Print one JSON object per query: query, matches (line, score, text; cosine with --rerank)");
  verb->footer(
      "Prints cosine similarity, line number and text. The search is exact: every text is compared. With --rerank, "
      "the\n"
      "score is the probability that the text is relevant.\n"
      "Examples:\n"
      "  attend similar --model all-MiniLM-L6-v2 --query 'lost password' --texts faq.txt --top 3\n"
      "  attend embed --model all-MiniLM-L6-v2 --input faq.txt --output faq.npy\n"
      "  attend similar --model all-MiniLM-L6-v2 --queries new.txt --texts faq.txt --vectors faq.npy --json\n"
      "  attend similar --model bge-small-en-v1.5 --rerank bge-reranker-base --query 'lost password' --texts faq.txt");
  verb->callback([flags] {
    if (flags->queries.empty() && flags->query_file.empty())
      throw UsageError("--query", "is missing: give --query TEXT or --queries FILE");
    if (flags->query_file == "-" && flags->texts == "-")
      throw UsageError("--queries and --texts cannot both be standard input");
    run(*flags);
  });
}

}  // namespace attend::cli
