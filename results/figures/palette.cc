#include "results/figures/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace gradwire::results {
namespace {

double linear(std::uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(Color color) {
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

std::uint8_t mixed(std::uint8_t from, double to, double share) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
}

constexpr Color kBlack{0, 0, 0}, kWhite{255, 255, 255};

/// In an order in which the first ones differ most, in colour and in grey.
constexpr std::array<Color, kSeriesColors> kOkabeIto = {{{0x00, 0x72, 0xB2},    // blue
                                                         {0xD5, 0x5E, 0x00},    // vermilion
                                                         {0x00, 0x9E, 0x73},    // bluish green
                                                         {0xCC, 0x79, 0xA7},    // reddish purple
                                                         {0xE6, 0x9F, 0x00},    // orange
                                                         {0x56, 0xB4, 0xE9},    // sky blue
                                                         {0x00, 0x00, 0x00},    // black
                                                         {0xF0, 0xE4, 0x42}}};  // yellow

Theme make_theme(Color background, Color ink, Color muted, Color grid) {
  Theme theme{background, ink, muted, grid, kOkabeIto};
  for (Color& color : theme.series)
    color = color == kBlack ? ink : with_contrast(color, background, 3.0);
  return theme;
}

}  // namespace

std::string Color::hex() const {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", red, green, blue);
  return text.data();
}

double contrast(Color a, Color b) {
  const double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

Color with_contrast(Color color, Color background, double ratio) {
  const double target = contrast(background, kWhite) > contrast(background, kBlack) ? 255.0 : 0.0;
  for (int percent = 0; percent <= 100; ++percent) {
    const double share = percent / 100.0;
    const Color candidate{mixed(color.red, target, share), mixed(color.green, target, share),
                          mixed(color.blue, target, share)};
    if (contrast(candidate, background) >= ratio) return candidate;
  }
  return target > 0 ? kWhite : kBlack;
}

Theme Theme::light() {
  return make_theme(kWhite, {0x1B, 0x1F, 0x24}, {0x57, 0x60, 0x6A}, {0xDD, 0xE1, 0xE6});
}

Theme Theme::dark() {
  return make_theme({0x14, 0x17, 0x1C}, {0xE8, 0xEA, 0xED}, {0xA4, 0xAD, 0xB8}, {0x31, 0x37, 0x40});
}

Color color_of(const Theme& theme, Role role) {
  switch (role.kind) {
    case Role::kBackground:
      return theme.background;
    case Role::kInk:
      return theme.ink;
    case Role::kMuted:
      return theme.muted;
    case Role::kGrid:
      return theme.grid;
    case Role::kSeries:
      break;
  }
  GRADWIRE_ASSERT(role.series >= 0);
  return theme.series[static_cast<std::size_t>(role.series % kSeriesColors)];
}

}  // namespace gradwire::results
