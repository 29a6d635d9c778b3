// Semantic search: embeds a few texts and prints those that are nearest to each query.
//
//   embed_and_search MODEL QUERY…      MODEL: a folder such as all-MiniLM-L6-v2
#include <attend/attend.h>

#include <iomanip>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc < 3) throw attend::InputError("usage: embed_and_search MODEL QUERY…");
  const std::vector<std::string> texts = {"How do I reset my password?", "The river has burst its banks.",
                                          "Our offices are closed on Sunday.", "A bank lends money to people."};
  const std::vector<std::string> queries(argv + 2, argv + argc);

  const attend::TextEncoder encoder(argv[1]);
  attend::Nearest nearest(encoder.embed(queries).vectors, 2);  // the two best of each query
  nearest.add(encoder.embed(texts).vectors);

  const auto best = nearest.best();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::cout << queries[q] << '\n';
    for (const attend::Nearest::Match& match : best[q])
      std::cout << "  " << std::fixed << std::setprecision(3) << match.cosine << "  "
                << texts[static_cast<std::size_t>(match.row)] << '\n';
  }
} catch (const attend::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
