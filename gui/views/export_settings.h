#pragma once
#include <QDialog>
#include <QDoubleSpinBox>

#include "gui/views/export_view.h"

namespace gradwire::gui {

/// Sizes of exported charts. Not modal: what is set counts at once.
class ExportSettings : public QDialog {
  Q_OBJECT

 public:
  ExportSettings(const ExportOptions& options, QWidget* parent);

 signals:
  void changed(const gradwire::gui::ExportOptions& options);

 private:
  QDoubleSpinBox* add(const char* label, const char* unit, double low, double high, double value);

  class QFormLayout* form_;
  QDoubleSpinBox *width_, *height_, *font_, *scale_;
};

}  // namespace gradwire::gui
