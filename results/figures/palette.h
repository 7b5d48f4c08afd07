#pragma once
#include <array>
#include <cstdint>
#include <string>

/// Colours of figures and reports. Nothing is drawn in a fixed colour: shapes name a role, and a
/// theme gives the role its colour.
namespace gradwire::results {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
  std::string hex() const;  ///< "#rrggbb"
};

/// Contrast ratio of WCAG 2.1 (relative luminance), 1..21.
double contrast(Color a, Color b);

/// `color`, moved towards black or white (away from the background) as little as needed to reach
/// `ratio` against `background`.
Color with_contrast(Color color, Color background, double ratio);

inline constexpr int kSeriesColors = 8;

struct Theme {
  Color background, ink, muted, grid;
  /// Okabe and Ito's colours ("Color Universal Design", 2008), each with contrast 3:1 or more.
  std::array<Color, kSeriesColors> series;
  static Theme light();
  static Theme dark();
};

/// A colour by meaning.
struct Role {
  enum Kind : std::uint8_t { kBackground, kInk, kMuted, kGrid, kSeries } kind = kInk;
  int series = 0;  ///< for kSeries; taken modulo kSeriesColors
};
Color color_of(const Theme& theme, Role role);

}  // namespace gradwire::results
