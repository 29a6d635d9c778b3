// Trains a small BERT on plain text, fine-tunes it as a text classifier, and classifies two texts.
//
//   finetune_classifier [FOLDER]     FOLDER: where to save the models (default: a temporary folder)
#include <attend/attend.h>

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  const std::filesystem::path folder =
      argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "attend-finetune-classifier";
  std::filesystem::create_directories(folder);
  std::ofstream text(folder / "text.txt"), labelled(folder / "labelled.tsv");
  for (const char* thing : {"film", "plot", "music", "book", "song", "play"})
    for (const auto& [word, label] :
         {std::pair("great", "good"), {"lovely", "good"}, {"awful", "bad"}, {"poor", "bad"}})
      text << "The " << thing << " was " << word << ". It was a " << word << ' ' << thing << ".\n\n",
          labelled << "The " << thing << " was " << word << ".\t" << label << '\n';
  text.close(), labelled.close();

  attend::MaskedLmTrainingOptions encoder;  // a folder such as bert-base-uncased can be used instead
  encoder.train = {folder / "text.txt"};
  encoder.next_sentence = false;
  encoder.model.width = 32, encoder.model.layers = 1, encoder.model.heads = 2, encoder.model.inner = 64;
  encoder.trainer.output = folder / "encoder", encoder.trainer.overwrite = true, encoder.trainer.steps = 50;
  attend::train_masked_lm(encoder);

  auto options = attend::ClassificationTrainingOptions::finetune(folder / "encoder");
  options.train = options.validation = folder / "labelled.tsv";
  options.trainer.learning_rate = 5e-3, options.trainer.epochs = 20;
  options.trainer.output = folder / "classifier", options.trainer.overwrite = true;
  const attend::TrainingResult result = attend::train_classification(options);
  std::cout << "accuracy " << result.state.best.front().second << '\n';

  const attend::Classifier classifier(folder / "classifier");
  for (const auto& found : classifier(std::vector<std::string>{"The music was lovely.", "The song was awful."}, {}))
    std::cout << classifier.labels()[found.label] << '\n';
}
