#pragma once
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTimer>
#include <QWidget>

#include "gui/models/run_filter.h"
#include "gui/models/run_selection.h"
#include "gui/models/run_table_model.h"
#include "gui/models/view_state.h"
#include "gui/views/command_palette.h"

namespace gradwire::gui {

/// The run table with its filter field. Selecting rows changes the window's RunSelection and the
/// other way round; a refresh keeps filter, sort, selection, current row and scroll position.
class RunTable : public QWidget {
  Q_OBJECT

 public:
  RunTable(RunSelection* selection, QWidget* parent = nullptr);

  void set_runs(Snapshot runs);
  const RunView& view() const { return model_->view(); }
  RunTableModel* model() const { return model_; }
  QTableView* table() const { return table_; }
  QLineEdit* filter_field() const { return filter_; }
  /// The filter's error as shown, or empty.
  QString filter_error() const { return error_->text(); }
  /// Where a filter leaves nothing: why, with values that would match; else empty.
  QString filter_hint() const { return hint_->text(); }

  void apply_filter();
  void set_only_differing(bool on);
  bool only_differing() const { return differing_->isChecked(); }
  /// Also the fields that have one value where runs have them, and that some runs lack.
  void set_with_lacking(bool on);
  void set_number_style(NumberStyle style);
  /// The current run becomes the baseline, or no longer is one.
  void toggle_baseline();
  /// Pins or unpins the selected runs; emits message() when there is no room.
  void toggle_pins();
  void clear_pins();
  /// Each column with what goes to it: shows it where it was hidden, and scrolls there.
  std::vector<PaletteEntry> column_entries();
  void go_to_column(Column column);
  void store_view(ViewState& view) const;
  void show_view(const ViewState& view);
  /// Selected rows and shown columns as tab-separated text in full precision, with a header.
  QString copied_text() const;

 signals:
  void message(const QString& text);
  /// A database's runs came, or came again: columns may be others.
  void runs_replaced();
  /// Which runs are shown, or their marks, changed.
  void view_changed();
  void only_differing_changed(bool on);

 private:
  void build_filter_row();
  void build_table();
  void remember_place();
  void restore_place();
  void take_selection();             ///< from the table into the model
  void show_selection(bool scroll);  ///< from the model into the table
  void filter_view(const RunFilter& filter, RunView& view);
  void show_hint(const RunFilter& filter);
  /// Swept fields stand behind the workers, before what came of them.
  void place_swept();
  void update_columns();
  void update_count();

  RunSelection* selection_;
  RunTableModel* model_;
  QTableView* table_;
  QLineEdit* filter_;
  QLabel* error_;
  QLabel* hint_;
  QLabel* count_;
  QCheckBox* differing_;
  QTimer filter_timer_;
  QString applied_;  ///< the last filter that could be read
  int swept_ = 0;    ///< columns that place_swept() has placed
  bool syncing_ = false;
  int saved_scroll_ = 0;
  bool sized_ = false;
  bool with_lacking_ = false;
};

}  // namespace gradwire::gui
