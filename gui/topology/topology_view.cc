#include "gui/topology/topology_view.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/models/columns.h"

namespace gradwire::gui {

namespace {
constexpr int kSteps = 1000;
constexpr int kFrameMs = 33;
/// The whole run in so many seconds, at speed 1.
constexpr double kWholeRun = 10;
}  // namespace

TopologyView::TopologyView(QWidget* parent) : QWidget(parent) {
  build();
  play_timer_.setInterval(kFrameMs);
  connect(&play_timer_, &QTimer::timeout, this, &TopologyView::advance);
  connect(play_, &QPushButton::clicked, this, &TopologyView::toggle_play);
  connect(slider_, &QSlider::valueChanged, this, [this](int position) {
    const double end = topology_ ? topology_->end_s : 0;
    map_->set_time(end * position / kSteps);
    write_note();
    emit time_chosen(map_->time());
  });
  write_note();
}

void TopologyView::build() {
  map_ = new TopologyMap(this);
  slider_ = new QSlider(Qt::Horizontal, this);
  slider_->setRange(0, kSteps);
  slider_->setPageStep(kSteps / 20);
  slider_->setAccessibleName("Time that the map shows");
  play_ = new QPushButton("Play", this);
  play_->setToolTip("Let the time run (Ctrl+Shift+P)");
  speed_ = new QComboBox(this);
  speed_->setAccessibleName("Speed of playing");
  for (const double speed : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    speed_->addItem(QStringLiteral("× %1").arg(speed), speed);
  }
  speed_->setCurrentIndex(2);
  time_ = new QLabel(this);
  time_->setMinimumWidth(fontMetrics().horizontalAdvance("1000.00 ms of 1000.00 ms"));
  note_ = new QLabel(this);
  note_->setWordWrap(true);
  note_->setContentsMargins(8, 2, 8, 2);
  note_->setAccessibleName("Busiest links");
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 2, 6, 4);
  row->addWidget(play_);
  row->addWidget(speed_);
  row->addWidget(slider_, 1);
  row->addWidget(time_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(note_);
  layout->addWidget(map_, 1);
  layout->addLayout(row);
}

void TopologyView::set_topology(TopologyPtr topology) {
  play_timer_.stop();
  play_->setText("Play");
  topology_ = std::move(topology);
  map_->set_topology(topology_);
  slider_->setEnabled(topology_ && topology_->end_s > 0);
  play_->setEnabled(slider_->isEnabled());
  map_->set_time(topology_ ? topology_->end_s * slider_->value() / kSteps : 0);
  write_note();
}

void TopologyView::set_time(double time_s) {
  if (!topology_ || topology_->end_s <= 0) return;
  const QSignalBlocker quiet(slider_);
  slider_->setValue(static_cast<int>(std::lround(time_s / topology_->end_s * kSteps)));
  map_->set_time(std::clamp(time_s, 0.0, topology_->end_s));
  write_note();
}

void TopologyView::toggle_play() {
  if (play_timer_.isActive()) {
    play_timer_.stop();
  } else if (slider_->isEnabled()) {
    if (slider_->value() == kSteps) slider_->setValue(0);
    since_.start();
    play_timer_.start();
  }
  play_->setText(play_timer_.isActive() ? "Pause" : "Play");
}

void TopologyView::advance() {
  const double passed = static_cast<double>(since_.restart()) / 1000;
  const double share = passed / kWholeRun * speed_->currentData().toDouble();
  const double time = map_->time() + share * topology_->end_s;
  if (time >= topology_->end_s) toggle_play();
  set_time(time);
  emit time_chosen(map_->time());
}

void TopologyView::write_note() {
  if (!topology_) {
    time_->clear();
    note_->setText("No run is selected.");
    return;
  }
  const auto text = [](double seconds) { return quantity_text(seconds, Quantity::kDuration, {}); };
  time_->setText(text(map_->time()) + " of " + text(topology_->end_s));
  QStringList notes{QString("Run %1").arg(topology_->run)};
  if (topology_->aggregated) notes << "more than 1,024 nodes: a node a tier";
  if (topology_->series.empty()) {
    notes << "nothing is stored of what its links carried";
  } else {
    const std::vector<int> order = by_load(*topology_);
    const QStringList busiest = map_->link_lines(order.front());
    notes << "busiest over the run: " + busiest.front() + " (now " + busiest.mid(2, 2).join(", ") +
                 ")";
    notes << QString("%1 directions are stored").arg(topology_->series.size());
  }
  note_->setText(notes.join(QStringLiteral(" · ")));
}

}  // namespace gradwire::gui
