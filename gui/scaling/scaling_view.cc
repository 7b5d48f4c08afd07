#include "gui/scaling/scaling_view.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/charts/colour_classes.h"

namespace gradwire::gui {

namespace {
/// Filters are typed: a fit a key would be wasted.
constexpr int kDelayMs = 200;
constexpr qsizetype kMostRemarks = 3;
}  // namespace

ScalingView::ScalingView(RunTable* table, RunSelection* selection, Database* database,
                         QWidget* parent)
    : QWidget(parent),
      table_(table),
      selection_(selection),
      database_(database),
      job_("scaling", this) {
  build();
  timer_.setSingleShot(true);
  timer_.setInterval(kDelayMs);
  connect(&timer_, &QTimer::timeout, this, &ScalingView::ask);
  connect(table_, &RunTable::view_changed, this, [this] {
    stale_ = true;
    if (isVisible()) timer_.start();
  });
  connect(workload_, &QComboBox::activated, &timer_, qOverload<>(&QTimer::start));
  connect(up_to_, &QSpinBox::valueChanged, &timer_, qOverload<>(&QTimer::start));
  connect(kind_, &QComboBox::currentIndexChanged, this, &ScalingView::show_figures);
  for (FigureView* view : {chart_, residuals_}) {
    view->set_card_text([this, view](const FigureView::Hit& hit) { return card(view, hit); });
    connect(view, &FigureView::clicked, this,
            [this, view](const FigureView::Hit& hit, Qt::KeyboardModifiers modifiers) {
              click(view, hit, modifiers);
            });
  }
}

void ScalingView::build() {
  workload_ = new QComboBox(this);
  workload_->setAccessibleName("Workload whose runs are shown");
  workload_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  workload_->setMinimumContentsLength(18);
  kind_ = new QComboBox(this);
  kind_->setAccessibleName("What is on the vertical axis");
  for (const auto& [kind, name] : kScalingKinds) kind_->addItem(name, static_cast<int>(kind));
  up_to_ = new QSpinBox(this);
  up_to_->setRange(0, 1 << 20);
  up_to_->setSpecialValueText("8 × the runs");
  up_to_->setSuffix(" workers");
  up_to_->setKeyboardTracking(false);
  up_to_->setAccessibleName("Workers up to which the model is drawn");
  note_ = new QLabel(this);
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);
  note_->setContentsMargins(8, 0, 8, 0);
  note_->setAccessibleName("What the curves rest on");
  chart_ = new FigureView(this);
  chart_->setAccessibleName("Scaling curves");
  chart_->set_with_title(true);
  residuals_ = new FigureView(this);
  residuals_->setAccessibleName("The model's error at the runs");
  residuals_->set_with_title(true);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 4, 6, 0);
  row->addWidget(kind_);
  row->addWidget(new QLabel("of", this));
  row->addWidget(workload_);
  row->addWidget(new QLabel("predicted up to", this));
  row->addWidget(up_to_);
  row->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(row);
  layout->addWidget(note_);
  layout->addWidget(chart_, 3);
  layout->addWidget(residuals_, 1);
}

void ScalingView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) timer_.start(0);
}

void ScalingView::fill_workloads() {
  const QString before = workload_->currentText();
  workloads_ = shown_workloads(table_->view());
  workload_->clear();
  for (const WorkloadRuns& each : workloads_) {
    workload_->addItem(QString::fromStdString(each.workload));
  }
  const int at = workload_->findText(before);
  if (at >= 0) workload_->setCurrentIndex(at);
}

void ScalingView::ask() {
  timer_.setInterval(kDelayMs);
  if (stale_) fill_workloads();
  stale_ = false;
  const int chosen = workload_->currentIndex();
  if (chosen < 0) {
    job_.cancel();
    auto none = std::make_shared<ScalingAnswer>();
    none->problem = "No runs are shown.";
    return take(none);
  }
  note_->setText("Fitting the model…");
  note_->show();
  const ScalingQuestion question{workloads_[static_cast<std::size_t>(chosen)].runs,
                                 up_to_->value()};
  job_.start([this, question, opener = database_->opener(),
              path = database_->path().toStdString()](const LatestJob::Current&) {
    auto answer = std::make_shared<ScalingAnswer>();
    try {
      *answer = scaling_of(*opener(path), question);
    } catch (const Error& error) {
      answer->problem = QString::fromUtf8(error.what());
    }
    return [this, answer] { take(answer); };
  });
}

void ScalingView::take(const std::shared_ptr<const ScalingAnswer>& answer) {
  answer_ = answer;
  QStringList notes = answer->problem.isEmpty() ? answer->remarks.mid(0, kMostRemarks)
                                                : QStringList{answer->problem};
  if (answer->problem.isEmpty() && answer->remarks.size() > kMostRemarks) {
    notes << QString("and %1 more remarks").arg(answer->remarks.size() - kMostRemarks);
  }
  if (workloads_.size() > 1) {
    notes.prepend(QString("%1 workloads are shown; this is one of them").arg(workloads_.size()));
  }
  note_->setText(notes.join("\n"));
  note_->setToolTip(answer->remarks.join("\n"));
  note_->setVisible(!notes.isEmpty());
  show_figures();
  emit answered();
}

void ScalingView::show_figures() {
  const bool there = answer_ && answer_->all;
  results::Figure figure;
  auto strip = there ? residual_strip(*answer_) : std::nullopt;
  if (there) {
    figure = scaling_figure(*answer_, static_cast<ScalingKind>(kind_->currentData().toInt()));
    const RunView& view = table_->view();
    const RunClasses methods(view, Column::kMethod, kMethodColours);
    const auto colour = [&](const results::ScaleSeries& series) {
      const auto* run = view.find(series.points.front().runs.front());
      return run ? methods.number_of(methods.of(*run)) : 0;
    };
    colour_by_method(*answer_, colour, figure);
    if (strip) colour_by_method(*answer_, colour, *strip);
  }
  chart_->set_figure(figure);
  residuals_->setVisible(strip.has_value());
  if (strip) residuals_->set_figure(*strip);
  for (FigureView* view : {chart_, residuals_}) {
    std::vector<bool> unhittable;
    for (const results::Series& series : view->figure().series) {
      unhittable.push_back(series.x.empty() || series.name.empty());
    }
    view->set_unhittable(std::move(unhittable));
  }
}

void ScalingView::click(const FigureView* view, const FigureView::Hit& hit,
                        Qt::KeyboardModifiers modifiers) {
  const auto place = place_of(*answer_, view->figure(), hit.series, hit.point);
  if (!place) return;
  std::vector<results::RunId> runs = runs_at(*answer_, *place);
  if (modifiers & Qt::ControlModifier) {
    runs.insert(runs.begin(), selection_->runs().begin(), selection_->runs().end());
  }
  selection_->select(std::move(runs));
}

QStringList ScalingView::card(const FigureView* view, const FigureView::Hit& hit) const {
  const auto place = place_of(*answer_, view->figure(), hit.series, hit.point);
  return place ? scaling_card(*answer_, *place) : QStringList();
}

}  // namespace gradwire::gui
