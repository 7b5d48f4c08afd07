#pragma once
#include <QSyntaxHighlighter>

#include "gui/charts/theme.h"

namespace gradwire::gui {

/// Colours the keys, texts, and numbers of JSON; each differs in weight or slant as well.
class JsonHighlighter : public QSyntaxHighlighter {
  Q_OBJECT

 public:
  JsonHighlighter(QTextDocument* document, const Theme& theme);
  void set_theme(const Theme& theme);

 protected:
  void highlightBlock(const QString& text) override;

 private:
  QTextCharFormat key_, text_, number_;
};

}  // namespace gradwire::gui
