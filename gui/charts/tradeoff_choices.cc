#include "gui/charts/tradeoff_view.h"

/// The choices above the chart: which columns are where.
namespace gradwire::gui {

QComboBox* TradeoffView::add_choice(const char* label, const char* name) {
  auto* box = new QComboBox(this);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(11);
  auto* text = new QLabel(label, this);
  text->setBuddy(box);
  row_->addWidget(text);
  row_->addWidget(box);
  return box;
}

void TradeoffView::fill_choices() {
  const RunColumns& columns = table_->view().columns();
  const TradeoffOptions usual = usual_axes(table_->view());
  const std::pair<QComboBox*, Column> boxes[] = {
      {x_, usual.x}, {y_, usual.y}, {colour_, usual.colour}, {facet_, Column::kRun}};
  for (const auto& [box, first] : boxes) {
    const QSignalBlocker quiet(box);
    const QString before = axes_chosen_ ? box->currentText() : QString();
    box->clear();
    if (box == facet_) box->addItem("(one)", -1);
    for (int c = box == x_ || box == y_ ? 0 : 1; c < columns.count(); ++c) {
      const SweptColumn* swept = columns.swept(column_at(c));
      if (swept && !swept->varied) continue;
      box->addItem(columns.title(column_at(c)), c);
    }
    int at = before.isEmpty() ? -1 : box->findText(before);
    if (at < 0) at = box == facet_ ? 0 : box->findData(static_cast<int>(first));
    box->setCurrentIndex(at);
  }
  if (axes_chosen_) return;
  const QSignalBlocker quiet_x(log_x_), quiet_y(log_y_);
  log_x_->setChecked(usual.log_x);
  log_y_->setChecked(usual.log_y);
}

bool TradeoffView::choose(QComboBox* box, const QString& title) {
  const int at = title.isEmpty() && box == facet_ ? 0 : box->findText(title);
  if (at < 0) return false;
  axes_chosen_ = true;
  box->setCurrentIndex(at);
  return true;
}

Column TradeoffView::chosen(const QComboBox* box) const {
  return static_cast<Column>(box->currentData().toInt());
}

void TradeoffView::store_view(ViewState& view) const {
  view.x = x_->currentText();
  view.y = y_->currentText();
  view.colour = colour_->currentText();
  view.panels = facet_->currentIndex() > 0 ? facet_->currentText() : QString();
  view.log_x = log_x_->isChecked();
  view.log_y = log_y_->isChecked();
  view.front = front_->isChecked();
  view.x_view = charts_.front()->x_view();
  view.y_view = charts_.front()->y_view();
}

void TradeoffView::show_view(const ViewState& view) {
  choose_x(view.x);
  choose_y(view.y);
  choose_colour(view.colour);
  choose_panels(view.panels);
  log_x_->setChecked(view.log_x);
  log_y_->setChecked(view.log_y);
  front_->setChecked(view.front);
  asked_ = view;
  rebuild_timer_.start();
}

}  // namespace gradwire::gui
