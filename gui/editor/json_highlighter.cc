#include "gui/editor/json_highlighter.h"

#include <QRegularExpression>

namespace gradwire::gui {

JsonHighlighter::JsonHighlighter(QTextDocument* document, const Theme& theme)
    : QSyntaxHighlighter(document) {
  set_theme(theme);
}

void JsonHighlighter::set_theme(const Theme& theme) {
  const auto colour = [&](int index) {
    return with_contrast(category_colour(theme, index), theme.background, 4.5);
  };
  key_.setForeground(colour(0));
  key_.setFontWeight(QFont::DemiBold);
  text_.setForeground(colour(2));
  number_.setForeground(colour(5));
  number_.setFontItalic(true);
  rehighlight();
}

void JsonHighlighter::highlightBlock(const QString& text) {
  static const QRegularExpression kTexts(R"("(?:[^"\\]|\\.)*")");
  static const QRegularExpression kNumbers(
      R"((?<![\w"])(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null)\b)");
  for (auto match = kNumbers.globalMatch(text); match.hasNext();) {
    const auto found = match.next();
    setFormat(static_cast<int>(found.capturedStart()), static_cast<int>(found.capturedLength()),
              number_);
  }
  for (auto match = kTexts.globalMatch(text); match.hasNext();) {
    const auto found = match.next();
    const bool key = text.mid(found.capturedEnd()).trimmed().startsWith(':');
    setFormat(static_cast<int>(found.capturedStart()), static_cast<int>(found.capturedLength()),
              key ? key_ : text_);
  }
}

}  // namespace gradwire::gui
