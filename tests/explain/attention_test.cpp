// Captured attention in every form: as matrices, in numbers, as JSON, as a page and as a picture.
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/core/error.h"
#include "attend/explain/attention_json.h"
#include "attend/explain/attention_matrix.h"
#include "attend/explain/attention_page.h"
#include "attend/explain/head_statistics.h"
#include "attend/explain/png.h"
#include "attend/explain/svg.h"
#include "attend/text/base64.h"

namespace attend {
namespace {

using Json = nlohmann::json;

/// Weights of a head as a function of query and key, normalised row by row.
template <typename F>
Tensor layer_of(std::int64_t heads, std::int64_t Q, std::int64_t K, F&& weight) {
  const Tensor layer = Tensor::empty({heads, Q, K});
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t q = 0; q < Q; ++q) {
      float sum = 0, *row = layer.data() + (h * Q + q) * K;
      for (std::int64_t k = 0; k < K; ++k) sum += row[k] = static_cast<float>(weight(h, q, k));
      for (std::int64_t k = 0; k < K && sum > 0; ++k) row[k] /= sum;
    }
  return layer;
}

/// "[CLS] play ##ing <b> & play [SEP]": one word of two tokens, markup, a word twice.
AttentionMap small_map() {
  AttentionMap map;
  map.kind = "bert", map.text = "playing <b>& play";
  AttentionView view{AttentionKind::self};
  view.queries = view.keys = {{"[CLS]", "play", "##ing", "<b>", "&", "play", "[SEP]"},
                              {"[CLS]", "play", "##ing", "<b>", "&", "play", "[SEP]"},
                              {-1, 0, 0, 1, 1, 2, -1}};
  view.layers = {0, 1}, view.heads = {0, 1};
  view.weights = {layer_of(2, 7, 7, [](auto h, auto q, auto k) { return h == 0 ? q == k : k + 1; }),
                  layer_of(2, 7, 7, [](auto h, auto q, auto k) { return h == 0 ? k == std::max<long>(q - 1, 0) : 1; })};
  map.views.push_back(view);
  return map;
}

AttentionMap long_map(std::int64_t T) {
  AttentionMap map;
  AttentionView view{AttentionKind::self, true};
  for (std::int64_t t = 0; t < T; ++t) {
    view.keys.shown.push_back("t" + std::to_string(t)), view.keys.written.push_back("t" + std::to_string(t));
    view.keys.words.push_back(static_cast<std::int32_t>(t));
  }
  view.queries = view.keys, view.layers = {0, 1}, view.heads = {0, 1};
  for (int l = 0; l < 2; ++l)
    view.weights.push_back(
        layer_of(2, T, T, [](auto h, auto q, auto k) { return k <= q ? 1 + (k * 7 + q + h) % 5 : 0; }));
  map.views.push_back(view);
  return map;
}

TEST(AttentionMatrix, IsAHeadAMeanOrTheMeanOfAllLayers) {
  const AttentionMap map = small_map();
  const AttentionMatrix head = matrix_of(map, {.layer = 0, .head = 0});
  for (std::size_t q = 0; q < 7; ++q)
    for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(head.values[q * 7 + k], q == k ? 1.f : 0.f);
  EXPECT_EQ(head.name, "self attention, layer 0, head 0");
  EXPECT_EQ(matrix_of(map, {.layer = -1}).name, "self attention, layer 1, mean of 2 heads");
  EXPECT_EQ(matrix_of(map).name, matrix_of(map, {.layer = 1}).name);
  EXPECT_NEAR(matrix_of(map, {.average = true}).values[8], (1 + 2.f / 28 + 0 + 1.f / 7) / 4, 1e-6);
  EXPECT_THROW(matrix_of(map, {.layer = 2}), InputError);
  EXPECT_THROW(matrix_of(map, {.head = 9}), InputError);
  EXPECT_THROW(matrix_of(map, {.view = AttentionKind::cross}), InputError);
}

TEST(AttentionMatrix, WordsSumWhatGoesToThemAndAverageWhatComesFromThem) {
  const AttentionMatrix tokens = matrix_of(small_map(), {.layer = 0, .head = 1});
  const AttentionMatrix words = by_words(tokens);
  EXPECT_EQ(words.keys.shown, (std::vector<std::string>{"[CLS]", "playing", "<b>&", "play", "[SEP]"}));
  EXPECT_NEAR(words.values[1], tokens.values[1] + tokens.values[2], 1e-6);
  EXPECT_NEAR(words.values[1 * 5 + 0], (tokens.values[1 * 7] + tokens.values[2 * 7]) / 2, 1e-6);
  for (std::size_t row = 0; row < 5; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k) sum += words.values[row * 5 + k];
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(AttentionMatrix, RollOutIsTheProductOfHalfTheWeightsAndHalfTheIdentity) {
  const AttentionMap map = small_map();
  const AttentionView& view = map.view();
  const std::size_t T = 7;
  std::vector<double> expected(T * T);
  for (std::size_t i = 0; i < T; ++i) expected[i * T + i] = 1;
  for (const Tensor& layer : view.weights) {
    std::vector<double> next(T * T);
    for (std::size_t i = 0; i < T; ++i)
      for (std::size_t j = 0; j < T; ++j) {
        const double mean = (layer.data()[i * T + j] + layer.data()[T * T + i * T + j]) / 2;
        for (std::size_t k = 0; k < T; ++k) next[i * T + k] += (0.5 * mean + (i == j ? 0.5 : 0)) * expected[j * T + k];
      }
    expected = next;
  }
  const std::vector<float> rolled = attention_rollout(view);
  for (std::size_t i = 0; i < T * T; ++i) EXPECT_NEAR(rolled[i], expected[i], 1e-6);
  AttentionView part = view;
  part.layers = {1}, part.weights = {view.weights[1]};
  EXPECT_THROW(attention_rollout(part), InputError);
  part = view, part.kind = AttentionKind::cross;
  EXPECT_THROW(attention_rollout(part), InputError);
}

TEST(AttentionMatrix, KeepsTheGreatestOfEachRow) {
  std::vector<float> values{0.1f, 0.4f, 0.2f, 0.3f, 0.25f, 0.25f, 0.25f, 0.25f};
  keep_greatest(values, 4, 2);
  EXPECT_EQ(values, (std::vector<float>{0, 0.4f, 0, 0.3f, 0.25f, 0.25f, 0, 0}));
}

TEST(AttentionMatrix, LabelsShowWhiteSpace) {
  EXPECT_EQ(label_of(" the"), "the");
  EXPECT_EQ(label_of("  "), "␣");
  EXPECT_EQ(label_of("\n"), "↵");
  EXPECT_EQ(label_of(" a\tb"), "a⇥b");
}

TEST(HeadStatistics, TellsWhatAHeadLooksAt) {
  const std::vector<HeadStatistics> heads = head_statistics(small_map().view());
  ASSERT_EQ(heads.size(), 4u);
  EXPECT_NEAR(heads[0].self, 1, 1e-6);
  EXPECT_NEAR(heads[0].entropy, 0, 1e-6);
  EXPECT_NEAR(heads[0].distance, 0, 1e-6);
  EXPECT_NEAR(heads[0].separator, 1. / 7, 1e-6);
  EXPECT_NEAR(heads[0].first, 1. / 7, 1e-6);
  EXPECT_NEAR(heads[2].previous, 6. / 7, 1e-6);
  EXPECT_NEAR(heads[2].distance, 6. / 7, 1e-6);
  EXPECT_NEAR(heads[3].entropy, std::log2(7), 1e-5);
  EXPECT_NEAR(heads[3].same_word, 2. / 7 / 7, 1e-6);
  EXPECT_NEAR(heads[3].next, 6. / 49, 1e-6);
  EXPECT_EQ(table_of(heads, AttentionKind::self).rows.size(), 4u);
  const std::vector<HeadStatistics> mean = mean_of({heads, heads});
  EXPECT_NEAR(mean[2].previous, heads[2].previous, 1e-9);
}

TEST(HeadStatistics, OfTheRollOutAreThoseOfItsMatrix) {
  AttentionMap map = small_map();
  AttentionView& view = map.views.front();
  const HeadStatistics rolled = rollout_statistics(view);
  EXPECT_EQ(name_of(rolled), "roll-out");
  const std::vector<float> values = attention_rollout(view);
  view.layers = view.heads = {0};
  view.weights = {Tensor::empty({1, 7, 7})};
  std::ranges::copy(values, view.weights[0].data());
  EXPECT_EQ(rolled.entropy, head_statistics(view)[0].entropy);
  EXPECT_EQ(rolled.previous, head_statistics(view)[0].previous);
}

TEST(AttentionJson, HasTheRollOutIfAsked) {
  const AttentionMap map = small_map();
  const Json view = Json::parse(to_json(map, {.rollout = true})).at("views")[0];
  EXPECT_EQ(view.at("rollout")[3][2].get<float>(), attention_rollout(map.view())[3 * 7 + 2]);
  EXPECT_FALSE(Json::parse(to_json(map)).at("views")[0].contains("rollout"));
}

TEST(AttentionJson, HasWhatWasPromised) {
  AttentionMap map = small_map();
  map.logprobs = {std::nan(""), -1.5};
  const Json json = Json::parse(to_json(map, {.model = "m"}));
  EXPECT_EQ(json.at("model"), "m");
  EXPECT_EQ(json.at("kind"), "bert");
  EXPECT_EQ(json.at("tokens").size(), 7u);
  EXPECT_EQ(json.at("layers").size(), 2u);
  EXPECT_EQ(json.at("layers")[1][0][3][2], 1.f);
  EXPECT_TRUE(json.at("logprobs")[0].is_null());
  const Json& view = json.at("views")[0];
  EXPECT_EQ(view.at("name"), "self");
  EXPECT_EQ(view.at("query_words"), Json({-1, 0, 0, 1, 1, 2, -1}));
  EXPECT_EQ(view.at("layers")[0].at("heads")[1].at("head"), 1);
  EXPECT_EQ(view.at("layers")[0].at("heads")[1].at("weights")[0][6].get<float>(), map.view().weights[0].data()[49 + 6]);
  const Json few = Json::parse(to_json(map, {.top_k = 2}));
  EXPECT_FALSE(few.contains("layers"));
  EXPECT_EQ(few.at("views")[0].at("layers")[0].at("heads")[1].at("rows")[0][0][0], 6);
  EXPECT_EQ(few.at("views")[0].at("layers")[0].at("heads")[1].at("rows")[0].size(), 2u);
}

/// What stands between two texts of a page.
std::string between(const std::string& page, const std::string& before, const std::string& after) {
  const std::size_t begin = page.find(before) + before.size();
  return page.substr(begin, page.find(after, begin) - begin);
}

TEST(AttentionPage, NeedsNothingFromElsewhereAndIsSafeFromItsTexts) {
  AttentionPage page("Attention <&>");
  AttentionMap map = small_map();
  map.text = "</script><script>alert(1)</script>";
  page.add(map), page.add(map);
  const std::string html = page.html();
  for (const char* part : {" src=", "@import", "</script><script>alert"})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  EXPECT_NE(html.find("Attention &lt;&amp;&gt;"), std::string::npos);
  const Json maps = Json::parse(between(html, "id='maps'>", "</script>"));
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[1].at("text"), map.text);
  EXPECT_EQ(maps[0].at("views")[0].at("statistics").size(), 4u);
  EXPECT_EQ(maps[0].at("views")[0].at("together"), Json({"mean", "rollout"}));
}

TEST(AttentionPage, AsManyHopsOrSentencesAsKeysAreNoSelfAttention) {
  const auto same_tokens = [](const AttentionMap& map) {
    AttentionPage page("t");
    page.add(map);
    const bool in_page =
        Json::parse(between(page.html(), "id='maps'>", "</script>"))[0].at("views")[0].at("sameTokens");
    EXPECT_EQ(Json::parse(to_json(map)).at("views")[0].at("same_tokens"), in_page);
    EXPECT_EQ(is_self_attention(map.view()), in_page);
    return in_page;
  };
  EXPECT_TRUE(same_tokens(small_map()));
  for (const auto& [kind, query] : {std::pair(AttentionKind::memory, "hop "), {AttentionKind::self, "(sentence "}}) {
    AttentionMap map = small_map();
    AttentionView& view = map.views[0];
    view.kind = kind;
    for (std::size_t q = 0; q < view.queries.shown.size(); ++q)
      view.queries.shown[q] = view.queries.written[q] = query + std::to_string(q + 1);
    EXPECT_FALSE(same_tokens(map));
  }
  AttentionMap copied = small_map();  // a translation that repeats its source
  copied.views[0].kind = AttentionKind::cross;
  EXPECT_FALSE(same_tokens(copied));
}

TEST(AttentionPage, OpensAtWhatWasChosen) {
  const auto first = [](const AttentionChoice& choice) {
    AttentionPage page("t", choice);
    page.add(small_map());
    return Json::parse(between(page.html(), "id='maps'>", "</script>"))[0].at("views")[0].at("first");
  };
  EXPECT_EQ(first({}), 1);
  EXPECT_EQ(first({.layer = 0}), 0);
  EXPECT_EQ(first({.average = true}), "mean");
  EXPECT_EQ(first({.rollout = true}), "rollout");
}

TEST(AttentionPage, HoldsEveryWeightOfAShortTextWithinItsBytes) {
  const AttentionMap map = small_map();
  AttentionPage page("t");
  page.add(map);
  std::string bytes;
  ASSERT_TRUE(from_base64(between(page.html(), "id='w-0-0-0'>", "</script>"), bytes));
  ASSERT_EQ(bytes.size(), 3u * 49);  // two heads and their mean
  for (std::size_t i = 0; i < 98; ++i) {
    const double root = static_cast<unsigned char>(bytes[i]) / 255.;
    EXPECT_NEAR(root * root, map.view().weights[0].data()[i], 0.004);
  }
}

TEST(AttentionPage, KeepsTheGreatestOfALongText) {
  const std::int64_t T = 400, k = 16;
  const AttentionMap map = long_map(T);
  AttentionPage page("t", {.top_k = k});
  page.add(map);
  std::string bytes;
  ASSERT_TRUE(from_base64(between(page.html(), "id='w-0-0-1'>", "</script>"), bytes));
  ASSERT_EQ(std::ssize(bytes), 3 * 3 * T * k);
  const auto byte = [&](std::int64_t i) { return static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]); };
  const std::int64_t row = 300;  // of head 0
  std::vector<float> all(map.view().weights[1].data() + row * T, map.view().weights[1].data() + (row + 1) * T);
  std::ranges::sort(all, std::greater());
  for (std::int64_t i = row * k, last = -1; i < (row + 1) * k; ++i) {
    const int key = byte(2 * i) | byte(2 * i + 1) << 8;
    EXPECT_GT(key, last);  // the script relies on it
    last = key;
    const double root = byte(2 * 3 * T * k + i) / 255.;
    EXPECT_GE(map.view().weights[1].data()[row * T + key], all[static_cast<std::size_t>(k - 1)]);
    EXPECT_NEAR(root * root, map.view().weights[1].data()[row * T + key], 0.004);
  }
}

struct Decoded {
  png_image header{};
  std::vector<unsigned char> pixels;
  explicit Decoded(const std::string& bytes) {
    header.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size())) << header.message;
    header.format = PNG_FORMAT_RGB;
    pixels.resize(PNG_IMAGE_SIZE(header));
    EXPECT_TRUE(png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr)) << header.message;
  }
};

TEST(Png, HoldsThePixelsThatItWasGiven) {
  const Image image{3, 2, {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {1, 2, 3}, {4, 5, 6}, {255, 255, 255}}};
  const Decoded read(encode_png(image));
  EXPECT_EQ(read.header.width, 3u);
  EXPECT_EQ(read.header.height, 2u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(read.pixels[3 * i], image.pixels[i].red);
    EXPECT_EQ(read.pixels[3 * i + 2], image.pixels[i].blue);
  }
}

TEST(Png, DrawsTheSameFigureAsSvgAtTwiceItsSize) {
  const AttentionMap map = small_map();
  const Figure figure = figure_of(std::span(&map, 1), {.layer = 0, .head = 0});
  const std::string svg = to_svg(figure);
  const Decoded read(to_png(figure));
  EXPECT_NEAR(read.header.width, 2 * std::stof(svg.substr(svg.find(" width='") + 8)), 2);
  // The diagonal is dark, the rest of the map white.
  std::size_t dark = 0;
  for (std::size_t i = 0; i < read.pixels.size(); i += 3) dark += read.pixels[i] == 5 && read.pixels[i + 2] == 97;
  EXPECT_NEAR(static_cast<double>(dark), 7. * (600. / 7) * (600. / 7), 3000);
  EXPECT_NO_THROW(to_png(Figure{}));
  EXPECT_NO_THROW(to_png(
      {"c",
       {LinePlot{
           "p", "x", "y", {{"s", {1, 2}, {1, 2}, Series::Mark::dashed}, {"d", {1}, {2}, Series::Mark::points}}}}}));
}

TEST(Png, LosesNoCellOfALongText) {
  constexpr std::int64_t kTokens = 700;
  HeatMap map{"", "", "", kTokens, kTokens, std::vector<float>(kTokens * kTokens, 0.f)};
  for (std::size_t i = 0; i < kTokens; ++i) map.values[i * kTokens + i] = 1;
  const Decoded read(to_png({"", {map}}));
  std::size_t dark = 0;
  for (std::size_t i = 0; i < read.pixels.size(); i += 3) dark += read.pixels[i] == 5 && read.pixels[i + 2] == 97;
  EXPECT_NEAR(static_cast<double>(dark), 4. * kTokens, 16);
}

TEST(Png, RefusesPanelsThatItCouldNotShow) {
  Figure figure;
  for (int i = 0; i < 600; ++i) figure.panels.emplace_back(HeatMap{"", "", "", 1, 1, {1}});
  EXPECT_THROW(to_png(figure), InputError);
}

TEST(AttentionFigure, HasTheSourceAndTheTranslationInItsTitle) {
  AttentionMap map = small_map();
  map.translation = "ein Spiel";
  const Figure figure = figure_of(std::span(&map, 1));
  EXPECT_EQ(std::get<HeatMap>(figure.panels.front()).title, map.text + " → ein Spiel");
}

TEST(AttentionFigure, NamesTheTextAndItsQuestion) {
  AttentionMap map = small_map();
  map.views.front().kind = AttentionKind::context_to_question;  // as many words as the text has, by chance
  const Figure figure = figure_of(std::span(&map, 1));
  EXPECT_EQ(figure.caption.substr(0, 29), "Context-to-question attention");
  EXPECT_EQ(std::get<HeatMap>(figure.panels.front()).x_label, "question");
  EXPECT_EQ(std::get<HeatMap>(figure.panels.front()).y_label, "text");
  EXPECT_FALSE(can_roll_out(map.view()));
  EXPECT_EQ(table_of(head_statistics(map.view()), map.view().kind).header.size(), 6u);
  const Json json = Json::parse(to_json(map));
  EXPECT_EQ(json.at("source_tokens"), json.at("target_tokens"));
  EXPECT_EQ(json.at("views")[0].at("name"), "context-to-question");
}

TEST(Svg, AMapOfManyCellsIsOnePicture) {
  const AttentionMap map = long_map(300);
  const std::string svg = to_svg(figure_of(std::span(&map, 1)));
  EXPECT_NE(svg.find("data:image/png;base64,"), std::string::npos);
  EXPECT_LT(svg.size(), 600'000u);
}

}  // namespace
}  // namespace attend
