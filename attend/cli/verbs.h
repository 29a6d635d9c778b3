// The program's verbs, one per file: tokenize.cpp has add_tokenize, train_tokenizer.cpp has add_train_tokenizer. Each
// function adds a verb to the program or to a parent verb; the verb's callback does the work. A verb throws UsageError
// for flags that cannot be combined and InputError for bad input (exit code 2 for both). main handles every other
// attend::Error (exit code 1), Interrupted and ClosedPipe.
#pragma once
#include <string>

#include "attend/cli/shared/flags.h"

namespace attend::cli {

/// The names under which `attend --help` lists the verbs, in this order.
constexpr const char* kUseAModel = "Use a model";
constexpr const char* kMakeAModel = "Make a model";
constexpr const char* kLearn = "See how it works";
constexpr const char* kTheMachine = "The machine";

/// Adds a verb that only has children, such as `attend train`. Add the children to the result.
Verb* add_parent(Verb& program, const std::string& name, const std::string& description);

void add_answer(Verb& program);
void add_attention(Verb& program);
void add_chat(Verb& program);
void add_classify(Verb& program);
void add_convert(Verb& program);
void add_corpus(Verb& program);
void add_demo(Verb& program);
void add_doctor(Verb& program);
void add_embed(Verb& program);
void add_evaluate(Verb& program);
void add_fill_mask(Verb& program);
void add_finetune(Verb& program);
void add_generate(Verb& program);
void add_lesson(Verb& program);
void add_run_algorithm(Verb& program);
void add_score(Verb& program);
void add_serve(Verb& program);
void add_similar(Verb& program);
void add_tag(Verb& program);
void add_tokenize(Verb& program);
void add_train(Verb& program);
void add_summarize(Verb& program);
void add_translate(Verb& program);

void add_corpus_packages(Verb& corpus);
void add_corpus_phrase_book(Verb& corpus);
void add_finetune_answer(Verb& finetune);
void add_finetune_classifier(Verb& finetune);
void add_finetune_dialogue(Verb& finetune);
void add_finetune_language_model(Verb& finetune);
void add_finetune_masked_lm(Verb& finetune);
void add_finetune_summary(Verb& finetune);
void add_finetune_translation(Verb& finetune);

void add_train_algorithm(Verb& train);
void add_train_answer(Verb& train);
void add_train_classifier(Verb& train);
void add_train_dialogue(Verb& train);
void add_train_language_model(Verb& train);
void add_train_masked_lm(Verb& train);
void add_train_memory(Verb& train);
void add_train_summary(Verb& train);
void add_train_tokenizer(Verb& train);
void add_train_translation(Verb& train);

}  // namespace attend::cli
