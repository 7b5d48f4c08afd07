#include "gui/timeline/timeline_page.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/timeline/timeline_area.h"

namespace gradwire::gui {

namespace {

QLabel* make_line(const char* name, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setAccessibleName(name);
  label->setContentsMargins(8, 2, 8, 2);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

struct AreaOfRuns {
  QString text;
  DataTable table;
};

/// Of two runs the rows of both, each with its run.
AreaOfRuns area_of_runs(const Tracks& tracks, const std::array<TimelineView::Range, 2>& ranges) {
  AreaOfRuns result;
  QStringList texts;
  for (std::size_t track = 0; track < 2; ++track) {
    if (!tracks[track]) continue;
    const AreaStatistics area =
        area_statistics(*tracks[track], ranges[track].from_s, ranges[track].to_s);
    const DataTable table = area_table(area);
    const QString run = QString::number(tracks[track]->run);
    texts << QString("Run %1, ").arg(run) + table.title;
    result.table.header = QStringList("Run") + table.header;
    for (const QStringList& row : table.rows) result.table.rows.push_back(QStringList(run) + row);
  }
  result.text = result.table.title = texts.join('\n');
  return result;
}

}  // namespace

TimelinePage::TimelinePage(QWidget* parent) : QWidget(parent) {
  timeline_ = new TimelineView(this);
  overlap_ = make_line("Overlap of the step in the middle of the timeline", this);
  chosen_ = make_line("What is chosen in the timeline", this);
  chosen_->setWordWrap(true);
  area_text_ = make_line("Statistics of the marked range of time", this);
  area_ = new DataTableView("Statistics of the marked range, by phase and link", this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(overlap_);
  build_find_row();
  layout->addWidget(timeline_, 3);
  layout->addWidget(chosen_);
  layout->addWidget(area_text_);
  layout->addWidget(area_, 2);
  for (QWidget* widget : std::initializer_list<QWidget*>{chosen_, area_text_, area_}) {
    widget->hide();
  }
  connect(timeline_, &TimelineView::overlap_changed, overlap_, &QLabel::setText);
  connect(timeline_, &TimelineView::area_changed, this, &TimelinePage::compute_area);
  connect(timeline_, &TimelineView::found_changed, this, &TimelinePage::show_found);
  connect(timeline_, &TimelineView::chosen_changed, this, [this](const QString& text) {
    chosen_->setText(text);
    chosen_->setVisible(!text.isEmpty());
  });
}

void TimelinePage::build_find_row() {
  find_ = new QLineEdit(this);
  find_->setPlaceholderText(
      "Find in the timeline: encode b0, wait, worker 3, step 12, worker0 -> switch");
  find_->setClearButtonEnabled(true);
  find_->setAccessibleName("Find in the timeline");
  count_ = new QLabel(this);
  count_->setAccessibleName("How many segments are found");
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 2, 6, 2);
  row->addWidget(find_, 1);
  row->addWidget(count_);
  for (const auto& [text, name, direction] :
       {std::tuple("‹", "Previous one found", -1), std::tuple("›", "Next one found", 1)}) {
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setAccessibleName(name);
    button->setToolTip(QString("%1 (%2N)").arg(name, direction < 0 ? "Shift+" : ""));
    connect(button, &QToolButton::clicked, timeline_,
            [this, direction = direction] { timeline_->choose_found(direction); });
    row->addWidget(button);
  }
  static_cast<QVBoxLayout*>(layout())->addLayout(row);
  connect(find_, &QLineEdit::textChanged, timeline_, &TimelineView::search);
  connect(find_, &QLineEdit::returnPressed, timeline_, [this] {
    timeline_->choose_found(1);
    timeline_->setFocus();
  });
}

void TimelinePage::show_found() {
  const std::size_t found = timeline_->found().size(), links = timeline_->found_links().size();
  QString text = QString("%1 found").arg(found);
  if (found == 0) text = links > 0 ? QString("%1 links found").arg(links) : QString("not found");
  count_->setText(find_->text().trimmed().isEmpty() ? QString() : text);
}

void TimelinePage::compute_area() {
  const auto range = timeline_->area();
  area_text_->setVisible(range.has_value());
  area_->setVisible(range.has_value());
  area_->set_table({});
  job_.cancel();
  if (!range) return;
  area_text_->setText("Counting …");
  const double shift_s = timeline_->shift_s();
  const std::array<TimelineView::Range, 2> ranges = {
      *range, {range->from_s - shift_s, range->to_s - shift_s}};
  job_.start([this, tracks = timeline_->tracks(), ranges](const LatestJob::Current&) {
    return [this, area = area_of_runs(tracks, ranges)] {
      area_text_->setText(area.text);
      area_->set_table(area.table);
    };
  });
}

}  // namespace gradwire::gui
