#pragma once
#include <QColor>
#include <QPalette>
#include <QPoint>
#include <QRect>
#include <QStringList>

class QPainter;

/// Colours of everything we paint ourselves, derived from the window's palette: light and dark
/// follow the desktop, charts included.
namespace gradwire::gui {

struct Theme {
  bool dark = false;
  QColor background;  ///< of a chart
  QColor gutter;      ///< of labels beside it
  QColor ink;         ///< text, 4.5:1 against background
  QColor faint_ink;   ///< secondary text, 4.5:1
  QColor axis;        ///< lines that carry meaning, 3:1
  QColor grid;        ///< decoration
  QColor accent;      ///< selection
  QColor card;        ///< hover card
};

Theme theme_of(const QPalette& palette);

/// WCAG 2 contrast ratio, 1 to 21.
double contrast(const QColor& a, const QColor& b);
/// `colour`, darkened or lightened until its contrast against `background` is at least `least`.
QColor with_contrast(QColor colour, const QColor& background, double least);
/// Okabe-Ito colour for category `index` (they repeat after seven), 3:1 against the background.
QColor category_colour(const Theme& theme, int index);
/// Black or white, whichever reads better on `fill`.
QColor ink_on(const QColor& fill);

/// A small card beside `at`, kept inside `bounds`; the first line is its title.
void paint_card(QPainter& painter, const Theme& theme, const QRect& bounds, const QPoint& at,
                const QStringList& lines);

}  // namespace gradwire::gui
