// Attention weights: shows how much each token of a text attends to each other token.
//
//   attention_map MODEL TEXT             prints one layer, the mean of its heads
//   attention_map MODEL TEXT page.html   also writes a page with every layer and head
#include <attend/attend.h>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc < 3) throw attend::InputError("usage: attention_map MODEL TEXT [page.html]");
  const attend::AttentionReader model(argv[1]);  // BERT, GPT-2, a translator, …: any folder that has attention
  const std::vector<attend::AttentionMap> maps = model({.text = argv[2]});
  std::cout << attend::to_terminal(attend::figure_of(maps));

  const attend::AttentionMatrix weights = attend::matrix_of(maps.front());
  for (std::size_t q = 0, keys = weights.keys.shown.size(); q < weights.queries.shown.size(); ++q) {
    const auto row = weights.values.begin() + static_cast<std::ptrdiff_t>(q * keys);
    const auto most = std::max_element(row, row + static_cast<std::ptrdiff_t>(keys));
    std::cout << weights.queries.shown[q] << " attends most to "
              << weights.keys.shown[static_cast<std::size_t>(most - row)] << " (" << *most << ")\n";
  }
  if (argc > 3) {
    attend::AttentionPage page("Attention");
    page.add(maps.front());
    std::ofstream(argv[3]) << page.html();
  }
} catch (const attend::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
