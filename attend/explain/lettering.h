// Words as pixels, by FreeType, in whichever of this machine's fonts has their letters (fontconfig knows).
#pragma once
#include <functional>
#include <memory>
#include <string>

namespace attend {

/// Not thread-safe: one for each picture.
class Lettering {
 public:
  /// Letters of `size` pixels.
  explicit Lettering(float size);
  ~Lettering();

  bool has_fonts() const;
  /// Pixels from the first letter to the end of the last.
  float width(const std::string& words, bool bold = false);
  /// Tells of every pixel that the words touch, from (x, y) on their base line, turned clockwise: how much of it they
  /// cover, 0 to 1. Letters that no font has are left out.
  void write(const std::string& words, float x, float y, float degrees, bool bold,
             const std::function<void(int x, int y, float cover)>& pixel);

 private:
  struct Fonts;
  std::unique_ptr<Fonts> fonts_;
};

}  // namespace attend
