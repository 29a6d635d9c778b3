// A page is drawn completely and well-formed whatever stands in it: markup in labels, values that are not finite,
// nothing at all.
#include "attend/explain/page.h"

#include <expat.h>
#include <gtest/gtest.h>

#include <limits>

#include "attend/core/error.h"
#include "attend/explain/html.h"
#include "attend/explain/page_assets.h"
#include "attend/explain/svg.h"
#include "attend/explain/terminal.h"

namespace attend {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Figure awkward_figure() {
  return {
      "a <caption> & \"quotes\"",
      {LinePlot{"one & two", "x", "y", {{"<a>", {0, 1, 2}, {1, kNan, 3}}, {"dots", {0}, {2}, Series::Mark::points}}},
       LinePlot{"nothing", "", "", {}},
       LinePlot{"logarithmic", "", "", {{"b", {0, 1, 100}, {-1, 1, 1000}, Series::Mark::dashed}}, true, true},
       HeatMap{"weights", "key", "query", 2, 3, {0, 0.5f, 1, kNan, -1, 0}, {"früh", "<s>"}, {"a", "b", "字"}},
       HeatMap{"empty", "", "", 0, 0, {}}}};
}

Page awkward_page() {
  Page page{"Title <&>", {}};
  page.heading("Heading");
  page.say("Words & more words");
  page.show(Table{{"name", "value"}, {{"a<b", "1"}, {"字", "2.5"}}});
  page.show(awkward_figure());
  return page;
}

bool is_well_formed(const std::string& xml) {
  XML_Parser parser = XML_ParserCreate("UTF-8");
  const bool ok = XML_Parse(parser, xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_OK;
  if (!ok) ADD_FAILURE() << XML_ErrorString(XML_GetErrorCode(parser)) << " at " << XML_GetCurrentByteIndex(parser);
  XML_ParserFree(parser);
  return ok;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

TEST(Svg, IsWellFormedWhateverTheLabelsHold) {
  const std::string svg = to_svg(awkward_figure());
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_TRUE(is_well_formed(to_svg(Figure{})));
}

TEST(Svg, DrawsEachCellThatIsNotZeroAndNamesIt) {
  const std::string svg = to_svg({"", {HeatMap{"map", "", "", 1, 3, {0.25f, 0, 1}, {"q"}, {"a", "b", "c"}}}});
  EXPECT_EQ(count(svg, "<title>q, "), 2u);
  EXPECT_EQ(count(svg, "<title>q, c: 1</title>"), 1u);
}

TEST(Svg, AMapHasAColourBarWithNumbers) {
  const std::string svg = to_svg({"", {HeatMap{"", "", "", 1, 2, {0.25f, 0.5f}}}});
  for (const char* number : {">0<", ">0.25<", ">0.5<"}) EXPECT_EQ(count(svg, number), 1u) << number;
  EXPECT_GT(count(svg, "<rect x='314'"), 30u);  // the colours, right of the map
  const std::string both = to_svg({"", {HeatMap{"", "", "", 1, 2, {-2, 1}}}});
  for (const char* number : {">-2<", ">0<", ">2<"}) EXPECT_EQ(count(both, number), 1u) << number;
}

TEST(Svg, MapsWithOneScaleGiveOneValueOneColour) {
  Figure figure{"", {HeatMap{"", "", "", 1, 1, {0.5f}}, HeatMap{"", "", "", 1, 2, {0.5f, 1}}}};
  const auto colour_of_half = [&] { return count(to_svg(figure), "fill='#053061'><title>"); };
  EXPECT_EQ(colour_of_half(), 2u);  // in the first map, a half is the greatest
  share_scale(figure);
  EXPECT_EQ(colour_of_half(), 1u);
  EXPECT_EQ(std::get<HeatMap>(figure.panels[0]).full, 1);
}

TEST(Svg, EveryLabelOfASentenceIsWritten) {
  std::vector<std::string> labels;
  for (int i = 0; i < 50; ++i) labels.push_back("token" + std::to_string(i));
  const std::string svg = to_svg({"", {HeatMap{"", "", "", 50, 50, std::vector<float>(2500, 1.f), labels, labels}}});
  for (const std::string& label : labels) EXPECT_EQ(count(svg, '>' + label + "</text>"), 2u) << label;
}

TEST(Svg, LongLabelsBelowAMapLieWithinThePicture) {
  const auto width_with = [](const std::string& label) {
    std::vector<std::string> labels(30, ".");
    labels.back() = label;
    const std::string svg = to_svg({"", {HeatMap{"", "", "", 1, 30, std::vector<float>(30, 1.f), {}, labels}}});
    return std::stof(svg.substr(svg.find(" width='") + 8));
  };
  EXPECT_GT(width_with(std::string(24, 'm')), width_with("b") + 30);
}

TEST(Svg, AVeryLongLabelIsCutAndToldWholeInItsTooltip) {
  const std::string label(300, 'm');
  const std::string svg = to_svg({"", {HeatMap{"", "", "", 1, 1, {1}, {label}, {label}}}});
  EXPECT_EQ(count(svg, "…<title>" + label), 2u);
  EXPECT_LT(std::stof(svg.substr(svg.find(" width='") + 8)), 800);
}

TEST(Svg, ALongTitleIsCutAndToldWholeInItsTooltip) {
  std::string title;
  for (int i = 0; i < 60; ++i) title += "süß ";
  const std::string svg = to_svg({"", {HeatMap{title, "", "", 1, 1, {1}, {}, {}}}});
  EXPECT_EQ(count(svg, title), 1u);
  EXPECT_EQ(count(svg, "…<title>süß"), 1u);
}

TEST(Html, NeedsNothingFromElsewhere) {
  const std::string html = to_html(awkward_page());
  EXPECT_EQ(count(html, "src="), 0u);
  EXPECT_EQ(count(html, "href="), 0u);
  EXPECT_EQ(count(html, "<svg"), 1u);
  EXPECT_EQ(count(html, "a&lt;b"), 1u);
}

TEST(Html, HasTheLookOfTheOtherPages) { EXPECT_EQ(count(to_html(Page{"t", {}}), std::string(kPageStyle)), 1u); }

TEST(Terminal, LinesKeepTheWidthAndWithoutColourThereAreNoEscapes) {
  const std::string text = to_terminal(awkward_page(), {.width = 60, .colour = false});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(display_width(std::string_view(text).substr(begin, end - begin)), 66) << text.substr(begin, end - begin);
  EXPECT_NE(to_terminal(awkward_page(), {.width = 60, .colour = true}).find("\x1b[48;2;"), std::string::npos);
}

TEST(Terminal, AMapLargerThanTheScreenKeepsItsStrongestCells) {
  HeatMap map{"", "", "", 400, 400, std::vector<float>(160000, 0.f)};
  map.values[399 * 400 + 399] = 1;
  const std::string text = to_terminal(Figure{"", {map}}, {.width = 80});
  EXPECT_EQ(count(text, "█"), 1u);
  EXPECT_EQ(count(text, "400 × 400"), 1u);
}

TEST(Terminal, ControlCharactersOfTheTextAreVisible) {
  const std::string clear = "\x1b[2J";
  const HeatMap map{clear, "", "", 1, 1, {1.f}, {clear}, {clear}};
  for (const int width : {40, 80}) {
    const std::string text = to_terminal(Page{clear, {Paragraph{clear}, Figure{clear, {map}}}}, {.width = width});
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_NE(text.find("\\x1B[2J"), std::string::npos) << text;
  }
}

TEST(Terminal, AMapTellsTheValueOfItsFullColour) {
  const std::string text = to_terminal(Figure{"", {HeatMap{"", "key", "", 1, 2, {0.25f, 0.5f}}}});
  EXPECT_EQ(count(text, "key   (full colour: 0.5)"), 1u) << text;
}

TEST(Terminal, LabelsWiderThanTheirColumnsStandUpright) {
  const std::size_t n = 30;
  HeatMap map{"", "", "", 1, n, std::vector<float>(n, 1.f), {"row"}, std::vector<std::string>(n, "ab")};
  map.column_labels[1] = "e\xcc\x81tranglement", map.column_labels[2] = "";
  const std::string text = to_terminal(Figure{"", {map}}, {.width = 70});
  EXPECT_EQ(count(text, "       e\xcc\x81\n"), 1u) << text;  // the highest letter of the longest label
  EXPECT_EQ(count(text, "\n     a l   a a"), 1u) << text;
  EXPECT_EQ(count(text, "\n     b ⋮   b b"), 1u) << text;
}

TEST(Terminal, WidthCountsWideAndCombiningCharacters) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("字"), 2);
  EXPECT_EQ(display_width("e\xcc\x81"), 1);
}

TEST(Page, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(to_svg({"", {HeatMap{"m", "", "", 2, 2, {1}}}}), Error);
  EXPECT_THROW(to_svg({"", {LinePlot{"p", "", "", {{"s", {1, 2}, {1}}}}}}), Error);
  Page page{"", {}};
  page.show(Table{{"a", "b"}, {{"1"}}});
  EXPECT_THROW(to_terminal(page), Error);
}

}  // namespace
}  // namespace attend
