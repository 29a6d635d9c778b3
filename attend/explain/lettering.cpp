#include "attend/explain/lettering.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>

#include <cmath>
#include <map>
#include <numbers>
#include <vector>
#include FT_FREETYPE_H

#include "attend/text/unicode.h"

namespace attend {

struct Lettering::Fonts {
  /// The installed fonts, best match first.
  struct Family {
    FcFontSet* sorted = nullptr;
    std::map<int, FT_Face> faces;  // the fonts that were opened; null: opening failed
  };
  float size;
  FT_Library library = nullptr;
  Family plain, bold;

  explicit Fonts(float letters) : size(letters) {
    if (FT_Init_FreeType(&library) != 0) library = nullptr;
    plain.sorted = sorted_by("sans-serif"), bold.sorted = sorted_by("sans-serif:bold");
  }
  ~Fonts() {
    for (Family* family : {&plain, &bold}) {
      for (const auto& [number, face] : family->faces)
        if (face) FT_Done_Face(face);
      if (family->sorted) FcFontSetDestroy(family->sorted);
    }
    if (library) FT_Done_FreeType(library);
  }
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  static FcFontSet* sorted_by(const char* family) {
    FcPattern* pattern = FcNameParse(reinterpret_cast<const FcChar8*>(family));
    FcConfigSubstitute(nullptr, pattern, FcMatchPattern);
    FcDefaultSubstitute(pattern);
    FcResult result = FcResultMatch;
    FcFontSet* fonts = FcFontSort(nullptr, pattern, FcTrue, nullptr, &result);
    FcPatternDestroy(pattern);
    return fonts;
  }

  FT_Face open(Family& family, int number) {
    if (const auto known = family.faces.find(number); known != family.faces.end()) return known->second;
    FcChar8* file = nullptr;
    int index = 0;
    FT_Face face = nullptr;
    FcPattern* font = family.sorted->fonts[number];
    FcPatternGetInteger(font, FC_INDEX, 0, &index);
    if (FcPatternGetString(font, FC_FILE, 0, &file) != FcResultMatch ||
        FT_New_Face(library, reinterpret_cast<const char*>(file), index, &face) != 0)
      face = nullptr;
    if (face && FT_Set_Char_Size(face, 0, std::lround(size * 64), 72, 72) != 0) {  // a bitmap font of other sizes
      FT_Done_Face(face);
      face = nullptr;
    }
    return family.faces[number] = face;
  }

  /// The first font that has a letter; null if none has it.
  FT_Face face_of(char32_t letter, bool is_bold) {
    Family& family = is_bold ? bold : plain;
    for (int i = 0; library && family.sorted && i < family.sorted->nfont; ++i) {
      FcCharSet* letters = nullptr;
      if (FcPatternGetCharSet(family.sorted->fonts[i], FC_CHARSET, 0, &letters) != FcResultMatch) continue;
      if (!FcCharSetHasChar(letters, letter)) continue;
      if (FT_Face face = open(family, i)) return face;
    }
    return nullptr;
  }

  /// Calls take(glyph) for each letter; `flags` say whether the glyph is rendered or only measured.
  template <typename Take>
  void each_letter(const std::string& words, bool is_bold, FT_Matrix* turn, FT_Int32 flags, Take&& take) {
    for (std::size_t at = 0; at < words.size();) {
      const CodePoint letter = decode_utf8(words, at);
      at += static_cast<std::size_t>(letter.size);
      FT_Face face = face_of(letter.value, is_bold);
      if (!face) continue;
      FT_Set_Transform(face, turn, nullptr);
      if (FT_Load_Char(face, letter.value, flags) == 0) take(face->glyph);
    }
  }
};

Lettering::Lettering(float size) : fonts_(std::make_unique<Fonts>(size)) {}
Lettering::~Lettering() = default;

bool Lettering::has_fonts() const { return fonts_->plain.sorted && fonts_->plain.sorted->nfont > 0; }

float Lettering::width(const std::string& words, bool bold) {
  float width = 0;
  fonts_->each_letter(words, bold, nullptr, FT_LOAD_NO_HINTING,
                      [&](FT_GlyphSlot glyph) { width += static_cast<float>(glyph->advance.x) / 64; });
  return width;
}

void Lettering::write(const std::string& words, float x, float y, float degrees, bool bold,
                      const std::function<void(int, int, float)>& pixel) {
  // FreeType's y grows upwards, ours downwards.
  const double angle = -degrees * std::numbers::pi / 180;
  const auto fixed = [](double value) { return static_cast<FT_Fixed>(std::lround(value * 0x10000)); };
  FT_Matrix turn{fixed(std::cos(angle)), fixed(-std::sin(angle)), fixed(std::sin(angle)), fixed(std::cos(angle))};
  fonts_->each_letter(words, bold, &turn, FT_LOAD_RENDER | FT_LOAD_NO_HINTING, [&](FT_GlyphSlot glyph) {
    const FT_Bitmap& bitmap = glyph->bitmap;
    const int left = static_cast<int>(std::lround(x)) + glyph->bitmap_left;
    const int top = static_cast<int>(std::lround(y)) - glyph->bitmap_top;
    for (unsigned row = 0; row < bitmap.rows; ++row)
      for (unsigned column = 0; column < bitmap.width; ++column) {
        if (bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) break;  // a glyph of a colour font is not drawn
        const unsigned char cover = bitmap.buffer[static_cast<int>(row) * bitmap.pitch + static_cast<int>(column)];
        if (cover > 0)
          pixel(left + static_cast<int>(column), top + static_cast<int>(row), static_cast<float>(cover) / 255);
      }
    x += static_cast<float>(glyph->advance.x) / 64, y -= static_cast<float>(glyph->advance.y) / 64;
  });
}

}  // namespace attend
