#include "attend/data/language.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

#include "attend/data/code_points.h"

namespace attend {
namespace {

std::string normalised(std::string_view code) {
  std::string result(code);
  for (char& c : result) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

struct Range {
  char32_t first, last;
  Script script;
};
/// Unicode blocks of letters, in order. They contain a few symbols, which hardly change the fraction of letters.
constexpr Range kRanges[] = {
    {0x0041, 0x005A, Script::latin},    {0x0061, 0x007A, Script::latin},      {0x00AA, 0x00AA, Script::latin},
    {0x00BA, 0x00BA, Script::latin},    {0x00C0, 0x00D6, Script::latin},      {0x00D8, 0x00F6, Script::latin},
    {0x00F8, 0x02AF, Script::latin},    {0x0370, 0x03FF, Script::greek},      {0x0400, 0x052F, Script::cyrillic},
    {0x0531, 0x058F, Script::armenian}, {0x0591, 0x05F4, Script::hebrew},     {0x0620, 0x065F, Script::arabic},
    {0x066E, 0x06D3, Script::arabic},   {0x06FA, 0x06FF, Script::arabic},     {0x0750, 0x077F, Script::arabic},
    {0x08A0, 0x08FF, Script::arabic},   {0x0900, 0x0965, Script::devanagari}, {0x0970, 0x097F, Script::devanagari},
    {0x0980, 0x09FF, Script::bengali},  {0x0A00, 0x0A7F, Script::gurmukhi},   {0x0A80, 0x0AFF, Script::gujarati},
    {0x0B00, 0x0B7F, Script::oriya},    {0x0B80, 0x0BFF, Script::tamil},      {0x0C00, 0x0C7F, Script::telugu},
    {0x0C80, 0x0CFF, Script::kannada},  {0x0D00, 0x0D7F, Script::malayalam},  {0x0D80, 0x0DFF, Script::sinhala},
    {0x0E01, 0x0E4E, Script::thai},     {0x0E80, 0x0EFF, Script::lao},        {0x0F00, 0x0FFF, Script::tibetan},
    {0x1000, 0x109F, Script::myanmar},  {0x10A0, 0x10FF, Script::georgian},   {0x1100, 0x11FF, Script::hangul},
    {0x1200, 0x139F, Script::ethiopic}, {0x1780, 0x17FF, Script::khmer},      {0x1800, 0x18AF, Script::mongolian},
    {0x1C80, 0x1C8F, Script::cyrillic}, {0x1C90, 0x1CBF, Script::georgian},   {0x1E00, 0x1EFF, Script::latin},
    {0x1F00, 0x1FFF, Script::greek},    {0x2C60, 0x2C7F, Script::latin},      {0x2D00, 0x2D2F, Script::georgian},
    {0x2D80, 0x2DDF, Script::ethiopic}, {0x2DE0, 0x2DFF, Script::cyrillic},   {0x2E80, 0x2FDF, Script::han},
    {0x3005, 0x3007, Script::han},      {0x3041, 0x309F, Script::kana},       {0x30A1, 0x30FA, Script::kana},
    {0x30FC, 0x30FF, Script::kana},     {0x3130, 0x318F, Script::hangul},     {0x31F0, 0x31FF, Script::kana},
    {0x3400, 0x4DBF, Script::han},      {0x4E00, 0x9FFF, Script::han},        {0xA640, 0xA69F, Script::cyrillic},
    {0xA720, 0xA7FF, Script::latin},    {0xA8E0, 0xA8FF, Script::devanagari}, {0xA9E0, 0xA9FF, Script::myanmar},
    {0xAA60, 0xAA7F, Script::myanmar},  {0xAB00, 0xAB2F, Script::ethiopic},   {0xAB30, 0xAB6F, Script::latin},
    {0xAC00, 0xD7FF, Script::hangul},   {0xF900, 0xFAFF, Script::han},        {0xFB00, 0xFB06, Script::latin},
    {0xFB13, 0xFB17, Script::armenian}, {0xFB1D, 0xFB4F, Script::hebrew},     {0xFB50, 0xFDFF, Script::arabic},
    {0xFE70, 0xFEFC, Script::arabic},   {0xFF21, 0xFF3A, Script::latin},      {0xFF41, 0xFF5A, Script::latin},
    {0xFF66, 0xFF9F, Script::kana},     {0xFFA0, 0xFFDC, Script::hangul},     {0x1B000, 0x1B16F, Script::kana},
    {0x20000, 0x323AF, Script::han},
};

struct Written {
  std::string_view languages;  // separated by spaces
  std::vector<Script> scripts;
};
const std::vector<Written>& written() {
  static const std::vector<Written> table = {
      {" en it fr de es pt nl sv da nb nn no fi et lv lt pl cs sk sl hr bs sq ro hu tr az vi id ms tl fil sw af eu ca "
       "gl "
       "cy ga gd br is mt eo la lb rm oc ast fo fy hsb dsb ia io wa sc fur lmo nap scn vec li gv kw mi sm to haw ceb "
       "jv su mg so zu xh st tn rw ln lg yo ig ha wo ff qu ay gn ht ku uz tk crh ",
       {Script::latin}},
      {" ru uk be bg mk ky kk tg mn tt ba cv ce os ab rue sah udm kv ", {Script::cyrillic}},
      {" sr ", {Script::cyrillic, Script::latin}},
      {" el grc ", {Script::greek}},
      {" hy ", {Script::armenian}},
      {" he iw yi ", {Script::hebrew}},
      {" ar fa ur ps ug ckb sd arz azb ", {Script::arabic}},
      {" hi mr ne sa mai bho kok ", {Script::devanagari}},
      {" bn as ", {Script::bengali}},
      {" pa ", {Script::gurmukhi}},
      {" gu ", {Script::gujarati}},
      {" or ", {Script::oriya}},
      {" ta ", {Script::tamil}},
      {" te ", {Script::telugu}},
      {" kn ", {Script::kannada}},
      {" ml ", {Script::malayalam}},
      {" si ", {Script::sinhala}},
      {" th ", {Script::thai}},
      {" lo ", {Script::lao}},
      {" bo dz ", {Script::tibetan}},
      {" my ", {Script::myanmar}},
      {" ka ", {Script::georgian}},
      {" am ti ", {Script::ethiopic}},
      {" km ", {Script::khmer}},
      {" ja ", {Script::kana, Script::han}},
      {" ko ", {Script::hangul, Script::han}},
      {" zh yue wuu nan lzh cmn ", {Script::han}},
  };
  return table;
}

constexpr std::pair<std::string_view, Script> kNamed[] = {
    {"latn", Script::latin},
    {"latin", Script::latin},
    {"cyrl", Script::cyrillic},
    {"cyrillic", Script::cyrillic},
    {"arab", Script::arabic},
    {"deva", Script::devanagari},
    {"devanagari", Script::devanagari},
    {"mong", Script::mongolian},
    {"hans", Script::han},
    {"hant", Script::han},
};

}  // namespace

bool language_matches(std::string_view asked, std::string_view given) {
  const std::string wanted = normalised(asked), got = normalised(given);
  return got.starts_with(wanted) && (got.size() == wanted.size() || got[wanted.size()] == '-');
}

Script script_of(char32_t code_point) {
  if (code_point < 0x80) return (code_point | 0x20) - U'a' < 26 ? Script::latin : Script::none;
  const auto* range = std::ranges::lower_bound(kRanges, code_point, {}, &Range::last);
  return range != std::end(kRanges) && code_point >= range->first ? range->script : Script::none;
}

std::vector<Script> scripts_of_language(std::string_view code) {
  const std::string whole = normalised(code);
  const std::size_t end = whole.find_first_of("-@.");
  if (end != std::string::npos)
    for (const auto& [name, script] : kNamed)
      if (whole.find(name, end + 1) != std::string::npos) return {script};
  const std::string key = ' ' + whole.substr(0, end) + ' ';
  for (const Written& entry : written())
    if (entry.languages.find(key) != std::string_view::npos) return entry.scripts;
  return {};
}

double share_in_scripts(std::string_view text, const std::vector<Script>& scripts) {
  std::int64_t letters = 0, inside = 0;
  for_each_code_point(text, [&](char32_t c, std::string_view) {
    const Script script = script_of(c);
    letters += script != Script::none;
    inside += script != Script::none && std::ranges::find(scripts, script) != scripts.end();
  });
  return letters == 0 ? 1 : static_cast<double>(inside) / static_cast<double>(letters);
}

}  // namespace attend
