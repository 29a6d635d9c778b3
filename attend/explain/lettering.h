// Text as pixels, drawn by FreeType. For each letter, fontconfig finds an installed font that has it.
#pragma once
#include <functional>
#include <memory>
#include <string>

namespace attend {

/// Not thread-safe: use one object for each picture.
class Lettering {
 public:
  /// `size`: the font size in pixels.
  explicit Lettering(float size);
  ~Lettering();

  bool has_fonts() const;
  /// The width of a text in pixels.
  float width(const std::string& words, bool bold = false);
  /// Draws a text that begins at (x, y) on its base line, rotated clockwise. Calls `pixel` with the coverage, 0 to 1,
  /// of each pixel. Letters that no font has are left out.
  void write(const std::string& words, float x, float y, float degrees, bool bold,
             const std::function<void(int x, int y, float cover)>& pixel);

 private:
  struct Fonts;
  std::unique_ptr<Fonts> fonts_;
};

}  // namespace attend
