#include "gui/views/colour_scheme.h"

#include <QApplication>
#include <QStyle>

namespace gradwire::gui {
namespace {

struct Shades {
  QColor base, other_row, window, button, ink, faint, unavailable, highlight, link;
};

QPalette palette_of(const Shades& shades) {
  QPalette palette;
  palette.setColor(QPalette::Base, shades.base);
  palette.setColor(QPalette::AlternateBase, shades.other_row);
  palette.setColor(QPalette::Window, shades.window);
  palette.setColor(QPalette::Button, shades.button);
  palette.setColor(QPalette::ToolTipBase, shades.window);
  for (auto role :
       {QPalette::Text, QPalette::WindowText, QPalette::ButtonText, QPalette::ToolTipText}) {
    palette.setColor(role, shades.ink);
    palette.setColor(QPalette::Disabled, role, shades.unavailable);
  }
  palette.setColor(QPalette::PlaceholderText, shades.faint);
  palette.setColor(QPalette::Highlight, shades.highlight);
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, shades.link);
  return palette;
}

}  // namespace

QPalette palette_of(ColourScheme scheme) {
  static const Shades kLight = {
      QColor(0xff, 0xff, 0xff), QColor(0xf5, 0xf6, 0xf7), QColor(0xee, 0xef, 0xf1),
      QColor(0xee, 0xef, 0xf1), QColor(0x1a, 0x1c, 0x20), QColor(0x62, 0x67, 0x6e),
      QColor(0x8a, 0x8f, 0x96), QColor(0x1f, 0x63, 0xa6), QColor(0x1f, 0x63, 0xa6)};
  static const Shades kDark = {
      QColor(0x1b, 0x1e, 0x23), QColor(0x20, 0x24, 0x2a), QColor(0x26, 0x2a, 0x30),
      QColor(0x30, 0x35, 0x3c), QColor(0xe2, 0xe4, 0xe8), QColor(0x9a, 0x9f, 0xa7),
      QColor(0x6c, 0x72, 0x7a), QColor(0x2f, 0x6f, 0xb0), QColor(0x7f, 0xb8, 0xf0)};
  switch (scheme) {
    case ColourScheme::kLight:
      return palette_of(kLight);
    case ColourScheme::kDark:
      return palette_of(kDark);
    default:
      return QApplication::style()->standardPalette();
  }
}

void apply(ColourScheme scheme) {
  // An empty palette has Qt take the desktop's again.
  QApplication::setPalette(scheme == ColourScheme::kDesktop ? QPalette() : palette_of(scheme));
}

}  // namespace gradwire::gui
