// The program's verbs, one a file: tokenize.cpp has add_tokenize, train_tokenizer.cpp has add_train_tokenizer. Each
// adds itself to the command line, or to the verb whose child it is; its callback does the work. A verb reports flags
// that do not go together by throwing CLI::ValidationError, bad input by InputError (exit code 2 for both), and leaves
// every other attend::Error (exit code 1), Interrupted and ClosedPipe to main.
#pragma once
#include <string>

#include "attend/cli/shared/cli11.h"

namespace attend::cli {

/// The names under which `attend --help` lists the verbs, in this order.
constexpr const char* kUseAModel = "Use a model";
constexpr const char* kMakeAModel = "Make a model";
constexpr const char* kLearn = "See how it works";
constexpr const char* kTheMachine = "The machine";

/// A verb that only has children, as `attend train` has `tokenizer`. Add them to what it returns.
CLI::App* add_parent(CLI::App& program, const std::string& name, const std::string& description);

void add_answer(CLI::App& program);
void add_attention(CLI::App& program);
void add_chat(CLI::App& program);
void add_classify(CLI::App& program);
void add_convert(CLI::App& program);
void add_corpus(CLI::App& program);
void add_demo(CLI::App& program);
void add_doctor(CLI::App& program);
void add_embed(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_fill_mask(CLI::App& program);
void add_finetune(CLI::App& program);
void add_generate(CLI::App& program);
void add_lesson(CLI::App& program);
void add_score(CLI::App& program);
void add_serve(CLI::App& program);
void add_similar(CLI::App& program);
void add_tag(CLI::App& program);
void add_tokenize(CLI::App& program);
void add_train(CLI::App& program);
void add_translate(CLI::App& program);

void add_corpus_phrase_book(CLI::App& corpus);
void add_finetune_classifier(CLI::App& finetune);
void add_finetune_language_model(CLI::App& finetune);
void add_finetune_masked_lm(CLI::App& finetune);
void add_finetune_translation(CLI::App& finetune);

void add_train_classifier(CLI::App& train);
void add_train_language_model(CLI::App& train);
void add_train_masked_lm(CLI::App& train);
void add_train_tokenizer(CLI::App& train);
void add_train_translation(CLI::App& train);

}  // namespace attend::cli
