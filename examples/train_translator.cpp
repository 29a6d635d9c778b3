// Trains a small translator from Italian to English, saves it, and translates with it.
//
//   train_translator [FOLDER]     FOLDER: where to save the model (default: a temporary folder)
#include <attend/attend.h>

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  const std::filesystem::path folder =
      argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "attend-train-translator";
  std::filesystem::create_directories(folder);
  std::ofstream pairs(folder / "pairs.tsv");  // a source, a tab and a target on each line
  for (const auto& [italian, english] : attend::phrase_book({.pairs = 3000}).training)
    pairs << italian << '\t' << english << '\n';
  pairs.close();

  attend::TranslationTrainingOptions options;
  options.train.pairs = folder / "pairs.tsv";
  options.vocab_size = 500;
  options.model.transformer.width = 32;
  options.model.transformer.encoder_inner = options.model.transformer.decoder_inner = 64;
  options.model.transformer.encoder_layers = options.model.transformer.decoder_layers = 1;
  options.trainer.learning_rate = 3e-3;
  options.trainer.steps = 100;
  options.trainer.output = folder / "model";
  options.trainer.overwrite = true;
  const attend::TrainingResult result = attend::train_translation(options);
  std::cout << result.state.step << " updates, loss " << result.state.loss << '\n';

  const attend::Translator translator(folder / "model");
  for (const auto& translations : translator(std::vector<std::string>{"Il gatto dorme.", "La casa è grande."}, {}))
    std::cout << translations.front().text << '\n';
}
