// Hierarchical attention (Yang et al. 2016): which sentence of a document decides, and which word of it.
#include <array>

#include "attend/cli/lessons/lesson.h"
#include "attend/models/hierarchical_classifier.h"
#include "attend/models/recurrent_classifier.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/dropout.h"
#include "attend/ops/reduce.h"
#include "attend/ops/tape.h"
#include "attend/train/optimizer.h"

namespace attend::cli::documents_lesson {
namespace {

constexpr std::int64_t kSentences = 16, kWords = 6, kLength = kSentences * kWords;
constexpr std::int32_t kMarker = 1, kGood = 2, kBad = 6, kCues = 4, kFirstFiller = 10, kVocabulary = 60;

/// Documents of random words. Every sentence has a word of praise or of blame. The one sentence that also has the
/// marker decides the label.
struct Documents {
  ClassifierInput input;
  Tensor labels;                                    ///< int32 [B]: 0 is praise, 1 is blame
  std::vector<std::int64_t> decisive, marker, cue;  ///< the sentence that decides; the marker and the cue in it
};

Documents make_documents(std::int64_t count, Generator& generator) {
  const PhiloxKey key = generator.next();
  std::uint64_t drawn = 0;
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(philox(key, drawn++)[0] % static_cast<std::uint32_t>(n));
  };
  Documents made{{Tensor::empty({count, kLength}, DType::i32), Tensor::empty({count}, DType::i32),
                  Tensor::empty({count, kLength}, DType::i32)},
                 Tensor::empty({count}, DType::i32),
                 {},
                 {},
                 {}};
  for (std::int64_t b = 0; b < count; ++b) {
    made.input.lengths.data<std::int32_t>()[b] = kLength;
    made.decisive.push_back(b % kSentences);
    std::int32_t* ids = made.input.ids.data<std::int32_t>() + b * kLength;
    for (std::int64_t s = 0; s < kSentences; ++s) {
      std::int32_t* words = ids + s * kWords;
      for (std::int64_t w = 0; w < kWords; ++w) {
        words[w] = kFirstFiller + static_cast<std::int32_t>(below(kVocabulary - kFirstFiller));
        made.input.parts.data<std::int32_t>()[b * kLength + s * kWords + w] = static_cast<std::int32_t>(s);
      }
      const std::int64_t cue = below(kWords), marker = (cue + 1 + below(kWords - 1)) % kWords;
      const auto label = static_cast<std::int32_t>(below(2));
      words[cue] = (label == 0 ? kGood : kBad) + static_cast<std::int32_t>(below(kCues));
      if (s != made.decisive.back()) continue;
      words[marker] = kMarker;
      made.labels.data<std::int32_t>()[b] = label;
      made.marker.push_back(marker), made.cue.push_back(cue);
    }
  }
  return made;
}

double accuracy(const TextClassifier& network, const Documents& documents) {
  const NoGrad no_grad;
  const Tensor chosen = argmax(network.logits(documents.input), 1);
  std::int64_t right = 0;
  for (std::int64_t b = 0; b < chosen.numel(); ++b)
    right += chosen.data<std::int32_t>()[b] == documents.labels.data<std::int32_t>()[b];
  return static_cast<double>(right) / static_cast<double>(chosen.numel());
}

void learn(TextClassifier& network, int steps, Generator& generator) {
  network.train_all();
  Adam adam(network.stored_parameters(), {.learning_rate = 5e-3});
  const Training training;
  for (int step = 0; step < steps; ++step) {
    const Documents batch = make_documents(64, generator);
    adam.zero_grad();
    backward(cross_entropy(network.logits(batch.input), batch.labels));
    adam.step();
  }
}

template <typename Options>
Options sized(Options options) {
  options.vocabulary = kVocabulary, options.labels = {"praise", "blame"};
  options.embedding = 24, options.hidden = 8, options.dropout = 0.f;
  return options;
}

Page give() {
  constexpr int kSteps = 800;
  Generator data(2016), held_out(7), weights(1);
  Page page{"Documents: attention over words, then over sentences", {}};
  page.say(
      "Each document has 16 sentences of 6 random words. Every sentence has a word of praise or of blame, but only one "
      "sentence counts: the one that also has a marker. A network must find that sentence. All networks see the same "
      "51,200 documents once; they are tested on 2,000 others.");
  const Documents test = make_documents(2000, held_out);
  RecurrentClassifierOptions plain = sized(RecurrentClassifierOptions());
  plain.pooling = StatePooling::mean;
  RecurrentClassifier mean_network(plain, weights);
  plain.pooling = StatePooling::attention;
  RecurrentClassifier pooled_network(plain, weights);
  HierarchicalClassifier network(sized(HierarchicalClassifierOptions()), weights);
  Table table{{"network", "right"}, {}};
  const auto row = [&](const char* name, TextClassifier& one) {
    Generator same(2016);
    learn(one, kSteps, same);
    table.rows.push_back({name, fixed(100 * accuracy(one, test), 1) + " %"});
  };
  row("GRU over all words, mean of the states", mean_network);
  row("GRU over all words, attention pooling", pooled_network);
  row("hierarchical attention", network);
  page.show(std::move(table));

  // One document for each place of the sentence that decides.
  const Documents shown = make_documents(kSentences, held_out);
  Probe probe;
  const NoGrad no_grad;
  network.logits(shown.input, &probe);
  const Tensor& words = probe.records().front().weights;     // [16 · 16, 1, 1, 6]
  const Tensor& sentences = probe.records().back().weights;  // [16, 1, 1, 16]
  HeatMap over_sentences{"weights of the sentences", "sentence", "document", kSentences, kSentences,
                         sentences.to_vector()};
  HeatMap over_words{"weights of the words in the sentence that decides", "word", "document", kSentences, kWords, {}};
  double marked = 0;
  std::array<double, 2> decisive{}, documents{};  // by label
  for (std::int64_t b = 0; b < kSentences; ++b) {
    const auto at = static_cast<std::size_t>(b);
    const float* row_of_words = words.data() + (b * kSentences + shown.decisive[at]) * kWords;
    over_words.values.insert(over_words.values.end(), row_of_words, row_of_words + kWords);
    const auto label = static_cast<std::size_t>(shown.labels.data<std::int32_t>()[b]);
    decisive[label] += sentences.data()[b * kSentences + shown.decisive[at]], ++documents[label];
    marked += (row_of_words[shown.marker[at]] + row_of_words[shown.cue[at]]) / kSentences;
  }
  page.heading("Where it looks");
  page.say("In document n, sentence n decides, so the weights of the sentences should lie on the diagonal.");
  page.show(
      Figure{"The sentence that decides gets " + fixed(decisive[0] / documents[0], 2) +
                 " of the weight in documents of praise, and " + fixed(decisive[1] / documents[1], 2) +
                 " in those of blame; without attention it would be 0.06. One label is enough: a network that "
                 "finds nothing of the one answers the other. In that sentence, the marker and the word of praise "
                 "or blame together get " +
                 fixed(marked, 2) + " (two words of six would be 0.33).",
             {std::move(over_sentences), std::move(over_words)}});
  return page;
}

const Enlist kEnlisted({"documents", "find the sentence that decides, and the words in it", give});

}  // namespace
}  // namespace attend::cli::documents_lesson
