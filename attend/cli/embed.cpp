// attend embed: computes a vector for each line.
#include <charconv>
#include <filesystem>
#include <memory>

#include "attend/cli/shared/choice.h"
#include "attend/cli/shared/embedding_flags.h"
#include "attend/cli/shared/input.h"
#include "attend/cli/shared/json_line.h"
#include "attend/cli/shared/line_verb.h"
#include "attend/cli/shared/model_folder.h"
#include "attend/cli/shared/progress.h"
#include "attend/cli/verbs.h"
#include "attend/formats/npy.h"
#include "attend/tasks/embedding/text_encoder.h"

namespace attend::cli {
namespace {

enum class Format { automatic, npy, f32, jsonl, tsv };
const std::vector<std::pair<std::string, Format>> kFormats = {
    {"npy", Format::npy}, {"f32", Format::f32}, {"jsonl", Format::jsonl}, {"tsv", Format::tsv}};

struct EmbedFlags {
  EmbeddingFlags embedding;
  LineFlags lines;  // its model is that of `embedding`
  Format format = Format::automatic;
};

/// The format of --format, or of the file's ending; JSON lines without either. Throws if they contradict each other.
Format format_of(const EmbedFlags& flags) {
  const std::string ending = std::filesystem::path(flags.lines.output).extension().string();
  Format named = ending.empty() || ending == ".json" ? Format::jsonl : Format::automatic;
  for (const auto& [name, format] : kFormats)
    if (ending == "." + name) named = format;
  if (flags.format == Format::automatic && named == Format::automatic)
    throw UsageError("--output", flags.lines.output + ": no format ends in " + ending + "; choose one by --format");
  if (flags.format == Format::automatic) return named;
  if (!ending.empty() && named != Format::automatic && named != flags.format)
    throw UsageError("--output", flags.lines.output + ": ends in " + ending + ", but --format is " +
                                     name_of(flags.format, kFormats));
  return flags.format;
}

/// The shortest text that gives the same number when it is read.
void append(float value, std::string& text) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

/// Writes vectors to a file or a pipe, in one of the formats.
class VectorWriter {
 public:
  VectorWriter(const std::string& path, Format format, std::int64_t size)
      : format_(format), size_(size), writer_(path) {
    if (format_ != Format::npy) return;
    if (!writer_.is_file()) throw UsageError("--format", "npy needs a file: give --output FILE");
    writer_.write(npy_header(0, size_));
  }

  void write(const std::string& text, std::span<const float> vector, std::int64_t truncated) {
    ++rows_;
    line_.clear();
    if (format_ == Format::npy || format_ == Format::f32) {
      writer_.write({reinterpret_cast<const char*>(vector.data()), vector.size_bytes()});
      return;
    }
    if (format_ == Format::jsonl) line_ = R"({"text":)" + json_string(text) + R"(,"embedding":[)";
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if (i > 0) line_ += format_ == Format::tsv ? '\t' : ',';
      append(vector[i], line_);
    }
    if (format_ == Format::jsonl) {
      line_ += ']';
      if (truncated > 0) line_ += R"(,"truncated":)" + std::to_string(truncated);
      line_ += '}';
    }
    writer_.write(line_ += '\n');
  }
  void flush() { writer_.flush(); }
  void finish() {
    if (format_ == Format::npy) writer_.write_at(0, npy_header(rows_, size_));
    writer_.finish();
  }

 private:
  Format format_;
  std::int64_t size_, rows_ = 0;
  TextWriter writer_;
  std::string line_;
};

void run(const EmbedFlags& flags) {
  const Format format = format_of(flags);
  const TextEncoder encoder(flags.embedding.model, open_model(flags.embedding.model, flags.embedding.adapter));
  warn_of_weights(flags.embedding.model);
  const EmbedOptions options = options_of(flags.embedding, encoder);
  VectorWriter writer(flags.lines.output, format, encoder.size(options));
  const auto blocks = [&](const TextWork& work) { for_text_blocks(flags.lines, "Embedding", work); };
  embed_lines(encoder, options, blocks, [&](const std::vector<std::string>& lines, const Embeddings& embeddings) {
    const std::int64_t size = embeddings.vectors.dim(1);
    for (std::size_t i = 0; i < lines.size(); ++i)
      writer.write(lines[i],
                   {embeddings.vectors.data() + static_cast<std::int64_t>(i) * size, static_cast<std::size_t>(size)},
                   embeddings.truncated[i]);
    writer.flush();
  });
  writer.finish();
}

}  // namespace

void add_embed(Verb& program) {
  Verb* verb = program.add_subcommand("embed", "Compute a vector for each line of text");
  verb->group(kUseAModel);
  auto flags = std::make_shared<EmbedFlags>();
  add_embedding_flags(*verb, flags->embedding);
  verb->add_option("--prompt", flags->embedding.prompt, "Text to put before each line")
      ->default_text("the default prompt of the model's folder")
      ->type_name("TEXT");
  verb->add_option("--prompt-name", flags->embedding.prompt_name,
                   "Use the prompt that the model's folder has under this name")
      ->type_name("NAME")
      ->excludes("--prompt");
  verb->add_option("text", flags->lines.texts, "Texts")->type_name("TEXT")->default_text("the lines of --input");
  add_input_flag(*verb, flags->lines.input)->excludes("text");
  add_output_flag(*verb, flags->lines.output);
  Flag* format = add_choice(*verb, "--format", flags->format, kFormats, "Output format")
                     ->default_text("by the ending of --output, or jsonl");
  verb->add_flag_callback(
          "--json", [flags] { flags->format = Format::jsonl; }, "The same as --format jsonl")
      ->excludes(format);
  verb->footer(
      "jsonl: one object per line with text and embedding; tsv: numbers separated by tabs; npy: a NumPy matrix;\n"
      "f32: the same numbers without a header.\n"
      "Examples:\n"
      "  attend embed --model all-MiniLM-L6-v2 'How do I reset my password?'\n"
      "  attend embed --model e5-small-v2 --prompt 'passage: ' --input texts.txt --output texts.npy\n"
      "  attend embed --model bert-base-uncased --pool cls --normalize --input texts.txt --format tsv");
  verb->callback([flags] { run(*flags); });
}

}  // namespace attend::cli
