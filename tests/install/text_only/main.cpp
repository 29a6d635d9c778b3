// Prints the tokens of a text:  text_only FOLDER TEXT
#include <attend/text/tokenizer.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const attend::Tokenizer tokenizer = attend::load_tokenizer(argv[1]);
  for (const std::int32_t id : tokenizer.encode(argv[2]).ids) std::cout << tokenizer.token(id) << '\n';
}
