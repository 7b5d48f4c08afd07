#include "gui/views/export_settings.h"

#include <QFormLayout>

namespace gradwire::gui {

ExportSettings::ExportSettings(const ExportOptions& options, QWidget* parent) : QDialog(parent) {
  setWindowTitle("Size of exported charts");
  setModal(false);
  setAttribute(Qt::WA_DeleteOnClose);
  form_ = new QFormLayout(this);
  width_ = add("&Width", " mm", 40, 1000, options.width_mm);
  height_ = add("&Height", " mm", 30, 1000, options.height_mm);
  font_ = add("&Font", " pt", 4, 40, options.font_pt);
  scale_ = add("&Pixels of a PNG for 1/96 inch", "", 0.5, 10, options.png_scale);
}

QDoubleSpinBox* ExportSettings::add(const char* label, const char* unit, double low, double high,
                                    double value) {
  auto* box = new QDoubleSpinBox(this);
  box->setRange(low, high);
  box->setDecimals(1);
  box->setSuffix(unit);
  box->setValue(value);
  box->setAccessibleName(QString(label).remove('&'));
  form_->addRow(label, box);
  connect(box, &QDoubleSpinBox::valueChanged, this, [this] {
    emit changed({width_->value(), height_->value(), font_->value(), scale_->value()});
  });
  return box;
}

}  // namespace gradwire::gui
