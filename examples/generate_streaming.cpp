// Text generation: continues a prompt and prints the text while it is generated.
//
//   generate_streaming MODEL PROMPT      MODEL: the folder of a language model such as gpt2
#include <attend/attend.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) throw attend::InputError("usage: generate_streaming MODEL PROMPT");
  const std::vector<std::string> prompts = {argv[2]};
  attend::GenerateOptions options;
  options.search.temperature = 0.8;
  options.search.max_new_tokens = 16;
  options.search.seed = 7;

  const attend::LanguageModel model(argv[1]);
  std::cout << prompts[0];
  const auto texts = model.generate(
      prompts, options,
      [](std::size_t /*prompt*/, std::size_t /*sample*/, const std::string& text) { std::cout << text << std::flush; });
  const attend::Generation& generated = texts[0][0];
  std::cout << "\n\n" << generated.ids.size() << " tokens, log-probability " << generated.log_probability << '\n';
} catch (const attend::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
