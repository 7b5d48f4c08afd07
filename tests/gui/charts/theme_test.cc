#include "gui/charts/theme.h"

#include <catch2/catch.hpp>

#include "gui/timeline/timeline_view.h"

using namespace gradwire::gui;

namespace {

QPalette palette_of(const QColor& base, const QColor& text) {
  QPalette palette;
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::Window, base);
  palette.setColor(QPalette::Text, text);
  palette.setColor(QPalette::Highlight, QColor(0x30, 0x8c, 0xc6));
  return palette;
}

}  // namespace

TEST_CASE("contrast is that of WCAG", "[unit]") {
  CHECK(contrast(Qt::black, Qt::white) == Approx(21));
  CHECK(contrast(Qt::white, Qt::white) == Approx(1));
  // #767676 on white is the classic 4.54:1.
  CHECK(contrast(QColor(0x76, 0x76, 0x76), Qt::white) == Approx(4.54).margin(0.01));
}

TEST_CASE("light and dark themes reach their contrasts", "[unit]") {
  const QPalette palettes[] = {palette_of(Qt::white, Qt::black),
                               palette_of(QColor(0x1e, 0x1e, 0x1e), QColor(0xdd, 0xdd, 0xdd)),
                               palette_of(QColor(0xfd, 0xf6, 0xe3), QColor(0x65, 0x7b, 0x83))};
  for (const QPalette& palette : palettes) {
    const Theme theme = theme_of(palette);
    INFO(theme.background.name().toStdString());
    CHECK(contrast(theme.ink, theme.background) >= 4.5);
    CHECK(contrast(theme.faint_ink, theme.background) >= 4.5);
    CHECK(contrast(theme.axis, theme.background) >= 3);
    for (int i = 0; i < 7; ++i) {
      CHECK(contrast(category_colour(theme, i), theme.background) >= 3);
    }
    for (int p = 0; p < kPhases; ++p) {
      const QColor fill = phase_colour(theme, static_cast<Phase>(p));
      CHECK(contrast(fill, theme.background) >= 3);
      CHECK(contrast(ink_on(fill), fill) >= 4.5);
    }
  }
  CHECK_FALSE(theme_of(palettes[0]).dark);
  CHECK(theme_of(palettes[1]).dark);
  // Okabe-Ito's yellow as it is would fail on white: the adjustment is what makes it pass.
  CHECK(contrast(QColor(0xF0, 0xE4, 0x42), Qt::white) < 3);
}
