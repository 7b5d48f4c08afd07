#include "gui/charts/tradeoff_view.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

namespace gradwire::gui {

using results::RunId;
using results::RunSummary;

TradeoffView::TradeoffView(RunTable* table, RunSelection* selection, Database* database,
                           QWidget* parent)
    : QWidget(parent), table_(table), selection_(selection), database_(database) {
  build();
  // One redraw per turn of the event loop, however many signals asked for it.
  rebuild_timer_.setSingleShot(true);
  rebuild_timer_.setInterval(0);
  const auto ask = qOverload<>(&QTimer::start);
  connect(&rebuild_timer_, &QTimer::timeout, this, &TradeoffView::rebuild);
  connect(table_, &RunTable::view_changed, &rebuild_timer_, ask);
  connect(cost_, &QComboBox::currentIndexChanged, &rebuild_timer_, ask);
  connect(log_, &QCheckBox::toggled, &rebuild_timer_, ask);
  connect(front_, &QCheckBox::toggled, &rebuild_timer_, ask);
  connect(selection_, &RunSelection::changed, this, &TradeoffView::request_curves);
  connect(database_, &Database::runs_loaded, this, [this] {
    curves_.clear();
    request_curves();
  });
  connect(database_, &Database::curve_loaded, this, &TradeoffView::take_curve);
  connect(chart_, &FigureView::clicked, this, &TradeoffView::click);
  connect(chart_, &FigureView::marked, this, &TradeoffView::mark);
  connect(chart_, &FigureView::background_clicked, selection_, &RunSelection::clear);
  chart_->set_card_text([this](const FigureView::Hit& hit) { return card(hit); });
}

void TradeoffView::build() {
  chart_ = new FigureView(this);
  chart_->setAccessibleName("Trade-off chart");
  chart_->setAccessibleDescription(
      "Final accuracy of each run against its cost; the run table "
      "lists the same runs");
  cost_ = new QComboBox(this);
  cost_->setAccessibleName("Cost on the horizontal axis");
  const std::pair<const char*, Column> costs[] = {{"Simulated time", Column::kSimulated},
                                                  {"Time to target", Column::kTimeToTarget},
                                                  {"Step time", Column::kStepTime},
                                                  {"Bytes on the wire", Column::kWireBytes},
                                                  {"Compression ratio", Column::kCompressionRatio},
                                                  {"Traffic ratio", Column::kTrafficRatio}};
  for (const auto& [name, column] : costs) cost_->addItem(name, static_cast<int>(column));
  log_ = new QCheckBox("Logarithmic", this);
  front_ = new QCheckBox("Pareto front", this);
  front_->setChecked(true);
  note_ = new QLabel(this);
  note_->setAccessibleName("What the chart leaves out");
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 4, 6, 0);
  row->addWidget(new QLabel("Accuracy against", this));
  row->addWidget(cost_);
  row->addWidget(log_);
  row->addWidget(front_);
  row->addStretch(1);
  row->addWidget(note_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(row);
  layout->addWidget(chart_, 1);
}

void TradeoffView::request_curves() {
  std::vector<RunId> missing;
  if (selection_->runs().size() <= kMostCurves) {
    for (RunId id : selection_->runs()) {
      if (!curves_.contains(id)) missing.push_back(id);
    }
  }
  database_->request_curves(std::move(missing));
  rebuild_timer_.start();
}

void TradeoffView::take_curve(const CurvePtr& curve) {
  curves_[curve->run] = curve;
  rebuild_timer_.start();
}

void TradeoffView::rebuild() {
  TradeoffOptions options;
  options.cost = static_cast<Column>(cost_->currentData().toInt());
  options.log_cost = log_->isChecked();
  options.front = front_->isChecked();
  const bool few = selection_->runs().size() <= kMostCurves;
  built_ = tradeoff_figure(table_->view(), *selection_, few ? curves_ : std::map<RunId, CurvePtr>(),
                           options);
  std::vector<bool> unhittable;
  for (const auto& runs : built_.runs) unhittable.push_back(runs.empty());
  chart_->set_figure(built_.figure);
  chart_->set_unhittable(std::move(unhittable));
  QStringList notes;
  if (built_.without > 0) {
    notes << (built_.without == 1
                  ? QString("1 run lacks a figure and is not drawn")
                  : QString("%1 runs lack a figure and are not drawn").arg(built_.without));
  }
  if (!few) notes << QString("curves are drawn for up to %1 runs").arg(kMostCurves);
  note_->setText(notes.join(" · "));
}

RunId TradeoffView::run_of(const FigureView::Hit& hit) const {
  return built_.runs[hit.series][hit.point];
}

std::optional<QPointF> TradeoffView::position_of(RunId run) const {
  for (std::size_t s = 0; s < built_.runs.size(); ++s) {
    if (built_.figure.series[s].kind != results::SeriesKind::kScatter) continue;
    const auto it = std::find(built_.runs[s].begin(), built_.runs[s].end(), run);
    if (it == built_.runs[s].end()) continue;
    return chart_->position_of({s, static_cast<std::size_t>(it - built_.runs[s].begin())});
  }
  return std::nullopt;
}

void TradeoffView::click(const FigureView::Hit& hit, Qt::KeyboardModifiers modifiers) {
  const RunId run = run_of(hit);
  if (modifiers & Qt::ControlModifier) {
    selection_->toggle(run);
  } else {
    selection_->select({run}, run);
  }
}

void TradeoffView::mark(const std::vector<FigureView::Hit>& hits) {
  std::vector<RunId> runs;
  for (const FigureView::Hit& hit : hits) {
    if (built_.figure.series[hit.series].kind == results::SeriesKind::kScatter) {
      runs.push_back(run_of(hit));
    }
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  selection_->select(std::move(runs));
}

QStringList TradeoffView::card(const FigureView::Hit& hit) const {
  const RunSummary* run = table_->view().find(run_of(hit));
  if (!run) return {};
  const NumberStyle style = table_->model()->number_style();
  QStringList lines{QString("Run %1 · %2").arg(run->id).arg(raw_text(*run, Column::kName))};
  lines << raw_text(*run, Column::kMethod) +
               QString(" · %1 workers · seed %2").arg(run->header.workers).arg(run->header.seed);
  for (Column column :
       {Column::kAccuracy, Column::kSimulated, Column::kTimeToTarget, Column::kStepTime,
        Column::kWireBytes, Column::kCompressionRatio, Column::kTrafficRatio}) {
    if (!number(*run, column)) continue;
    lines << QString("%1: %2").arg(info(column).title, shown_text(*run, column, style));
  }
  if (run->status != results::RunStatus::kFinished) {
    lines << QString("status: %1").arg(raw_text(*run, Column::kStatus));
  }
  return lines;
}

}  // namespace gradwire::gui
