#pragma once
#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include "gui/jobs/latest_job.h"
#include "gui/timeline/timeline_view.h"
#include "gui/views/data_table_view.h"

namespace gradwire::gui {

/// The timeline with what is said about it: the overlap of the step in the middle, what is chosen
/// and what it waited for, a field to find segments, and the statistics of the marked range.
class TimelinePage : public QWidget {
  Q_OBJECT

 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  TimelineView* timeline() const { return timeline_; }
  QLineEdit* find_field() const { return find_; }
  /// Statistics of the marked range; empty where none is marked or they are not made yet.
  const DataTable& statistics() const { return area_->shown(); }
  QString chosen_text() const { return chosen_->text(); }
  QString found_text() const { return count_->text(); }

 private:
  void build_find_row();
  void compute_area();
  void show_found();

  TimelineView* timeline_;
  QLabel* overlap_;
  QLineEdit* find_;
  QLabel* count_;
  QLabel* chosen_;
  QLabel* area_text_;
  DataTableView* area_;
  LatestJob job_{"timeline area"};
};

}  // namespace gradwire::gui
