#include "gui/charts/tradeoff_view.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/charts/run_card.h"

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
  for (QComboBox* box : {x_, y_, colour_, facet_}) {
    connect(box, &QComboBox::currentIndexChanged, &rebuild_timer_, ask);
    connect(box, &QComboBox::activated, this, [this] { axes_chosen_ = true; });
    connect(box, &QComboBox::currentIndexChanged, this, &TradeoffView::view_changed);
  }
  for (QCheckBox* box : {log_x_, log_y_, front_}) {
    connect(box, &QCheckBox::toggled, &rebuild_timer_, ask);
    connect(box, &QCheckBox::toggled, this, &TradeoffView::view_changed);
  }
  connect(selection_, &RunSelection::changed, this, &TradeoffView::request_curves);
  connect(table_, &RunTable::runs_replaced, this, &TradeoffView::take_runs);
  connect(database_, &Database::curve_loaded, this, &TradeoffView::take_curve);
}

void TradeoffView::build() {
  row_ = new QHBoxLayout;
  row_->setContentsMargins(6, 4, 6, 0);
  y_ = add_choice("Show", "Column on the vertical axis");
  log_y_ = new QCheckBox("Log", this);
  log_y_->setAccessibleName("Logarithmic vertical axis");
  row_->addWidget(log_y_);
  x_ = add_choice("against", "Column on the horizontal axis");
  log_x_ = new QCheckBox("Logarithmic", this);
  log_x_->setAccessibleName("Logarithmic horizontal axis");
  row_->addWidget(log_x_);
  colour_ = add_choice("Colour", "Column that colours the points");
  facet_ = add_choice("Panels", "Column that splits the chart into panels");
  front_ = new QCheckBox("Front", this);
  front_->setToolTip("The runs that no other shown run of their workload beats (Pareto front)");
  front_->setChecked(true);
  row_->addWidget(front_);
  row_->addStretch(1);
  note_ = new QLabel(this);
  note_->setAccessibleName("What the chart leaves out");
  note_->setWordWrap(true);
  note_->setContentsMargins(8, 0, 8, 0);
  grid_ = new QGridLayout;
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(0);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(row_);
  layout->addWidget(note_);
  layout->addLayout(grid_, 1);
  charts_.push_back(make_chart());
  grid_->addWidget(charts_.front(), 0, 0);
  fill_choices();
}

FigureView* TradeoffView::make_chart() {
  auto* chart = new FigureView(this);
  const std::size_t panel = charts_.size();
  chart->setAccessibleName(panel == 0 ? QString("Trade-off chart")
                                      : QString("Trade-off chart, panel %1").arg(panel + 1));
  chart->setAccessibleDescription(
      "One column of the runs against another; the run table lists the same runs");
  chart->set_card_text([this, panel](const FigureView::Hit& hit) {
    return card_of(built_[panel].runs[hit.series][hit.point]);
  });
  connect(chart, &FigureView::clicked, this,
          [this, panel](const FigureView::Hit& hit, Qt::KeyboardModifiers modifiers) {
            click(panel, hit, modifiers);
          });
  connect(chart, &FigureView::marked, this,
          [this, panel](const std::vector<FigureView::Hit>& hits) { mark(panel, hits); });
  connect(chart, &FigureView::view_changed, this, &TradeoffView::view_changed);
  connect(chart, &FigureView::background_clicked, selection_, &RunSelection::clear);
  return chart;
}

FigureView* TradeoffView::chart() const {
  for (FigureView* chart : charts_) {
    if (chart->hasFocus() && chart->isVisible()) return chart;
  }
  return charts_.front();
}

void TradeoffView::take_runs() {
  curves_.clear();
  fill_choices();
  request_curves();
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

TradeoffOptions TradeoffView::options() const {
  TradeoffOptions options;
  options.x = chosen(x_);
  options.y = chosen(y_);
  options.colour = chosen(colour_);
  const RunColumns& columns = table_->view().columns();
  options.log_x = log_x_->isChecked() && columns.is_number(options.x);
  options.log_y = log_y_->isChecked() && columns.is_number(options.y);
  options.front = front_->isChecked();
  return options;
}

void TradeoffView::rebuild() {
  const TradeoffOptions asked = options();
  front_->setEnabled(has_front(asked.x, asked.y));
  build_panels(asked);
  share_axes();
  show_panels();
  if (const auto asked = std::exchange(asked_, std::nullopt)) {
    charts_.front()->set_view(asked->x_view, asked->y_view);
  }
  write_note(selection_->runs().size() <= kMostCurves);
}

void TradeoffView::build_panels(const TradeoffOptions& asked) {
  const bool few = selection_->runs().size() <= kMostCurves;
  const std::map<RunId, CurvePtr> none;
  const auto make = [&](const TradeoffOptions& options) {
    built_.push_back(tradeoff_figure(table_->view(), *selection_, few ? curves_ : none, options));
  };
  built_.clear();
  hidden_panels_ = 0;
  if (facet_->currentData().toInt() < 0) return make(asked);
  const RunClasses panels(table_->view(), chosen(facet_), kMostPanels);
  std::vector<bool> used(panels.names().size());
  for (int row = 0; row < table_->view().rows(); ++row) {
    used[panels.of(table_->view().at(row))] = true;
  }
  TradeoffOptions options = asked;
  options.panels = &panels;
  for (options.panel = 0; options.panel < used.size(); ++options.panel) {
    if (!used[options.panel]) continue;
    if (built_.size() < kMostPanels) {
      make(options);
    } else {
      ++hidden_panels_;
    }
  }
  if (built_.empty()) make(asked);
}

void TradeoffView::share_axes() {
  if (built_.size() < 2) return;
  results::Interval x, y;
  for (const TradeoffFigure& panel : built_) {
    const results::Extent extent = results::extent(panel.figure);
    for (const auto& [all, one] : {std::pair(&x, extent.x), std::pair(&y, extent.y)}) {
      if (one.empty()) continue;
      all->include(one.low);
      all->include(one.high);
    }
  }
  for (TradeoffFigure& panel : built_) {
    for (const auto& [axis, all] : {std::pair(&panel.figure.x, x), std::pair(&panel.figure.y, y)}) {
      if (all.empty() || !axis->categories.empty()) continue;
      const results::Interval wide = results::nice_range(all, axis->scale);
      axis->low = wide.low;
      axis->high = wide.high;
    }
    panel.figure.legend = results::Legend::kBottom;
  }
}

void TradeoffView::show_panels() {
  const int wide = built_.size() < 2 ? 1 : built_.size() < 5 ? 2 : 3;
  while (charts_.size() < built_.size()) charts_.push_back(make_chart());
  for (std::size_t i = 0; i < charts_.size(); ++i) {
    charts_[i]->setVisible(i < built_.size());
    if (i >= built_.size()) continue;
    grid_->addWidget(charts_[i], static_cast<int>(i) / wide, static_cast<int>(i) % wide);
    charts_[i]->set_with_title(built_.size() > 1);
    charts_[i]->set_figure(built_[i].figure);
    std::vector<bool> unhittable;
    for (const auto& runs : built_[i].runs) unhittable.push_back(runs.empty());
    charts_[i]->set_unhittable(std::move(unhittable));
  }
}

void TradeoffView::write_note(bool few) {
  std::size_t without = 0, workloads = 0;
  for (const TradeoffFigure& panel : built_) {
    without += panel.without;
    workloads = std::max(workloads, panel.workloads);
  }
  QStringList notes;
  if (workloads > 1 && front_->isEnabled() && front_->isChecked()) {
    notes << QString(
                 "%1 workloads are shown: each has a front of its own, for their runs are no "
                 "alternatives")
                 .arg(workloads);
  } else if (workloads > 1) {
    notes << QString("%1 workloads are shown").arg(workloads);
  }
  if (without > 0) {
    notes << (without == 1 ? QString("1 run lacks a figure and is not drawn")
                           : QString("%1 runs lack a figure and are not drawn").arg(without));
  }
  if (hidden_panels_ > 0) notes << QString("%1 more panels are not drawn").arg(hidden_panels_);
  if (!few) notes << QString("curves are drawn for up to %1 runs").arg(kMostCurves);
  note_->setText(notes.join(" · "));
  note_->setVisible(!notes.isEmpty());
}

std::optional<QPointF> TradeoffView::position_of(RunId run) const {
  for (std::size_t panel = 0; panel < built_.size(); ++panel) {
    const TradeoffFigure& built = built_[panel];
    for (std::size_t s = 0; s < built.runs.size(); ++s) {
      if (built.figure.series[s].kind != results::SeriesKind::kScatter) continue;
      const auto it = std::find(built.runs[s].begin(), built.runs[s].end(), run);
      if (it == built.runs[s].end()) continue;
      return charts_[panel]->position_of({s, static_cast<std::size_t>(it - built.runs[s].begin())});
    }
  }
  return std::nullopt;
}

void TradeoffView::click(std::size_t panel, const FigureView::Hit& hit,
                         Qt::KeyboardModifiers modifiers) {
  const RunId run = built_[panel].runs[hit.series][hit.point];
  if (modifiers & Qt::ControlModifier) {
    selection_->toggle(run);
  } else {
    selection_->select({run}, run);
  }
}

void TradeoffView::mark(std::size_t panel, const std::vector<FigureView::Hit>& hits) {
  const TradeoffFigure& built = built_[panel];
  std::vector<RunId> runs;
  for (const FigureView::Hit& hit : hits) {
    if (built.figure.series[hit.series].kind == results::SeriesKind::kScatter) {
      runs.push_back(built.runs[hit.series][hit.point]);
    }
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  selection_->select(std::move(runs));
}

QStringList TradeoffView::card_of(RunId id) const {
  const RunView& view = table_->view();
  const RunSummary* run = view.find(id);
  if (!run) return {};
  const TradeoffOptions shown = options();
  return run_card(view, *run, {shown.y, shown.x, shown.colour}, table_->model()->number_style());
}

}  // namespace gradwire::gui
