#pragma once
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QTimer>
#include <QWidget>

#include "gui/editor/json_highlighter.h"
#include "gui/editor/scenario_check.h"
#include "gui/editor/scenario_form.h"
#include "gui/jobs/latest_job.h"

namespace gradwire::gui {

/// A scenario as text and as a form of the table of fields; both are one document with one undo.
/// It is read while one types: problems with line, path, what is allowed and the nearest name, or
/// how many runs it makes, how many are stored, and how long the others take.
class ScenarioEditor : public QWidget {
  Q_OBJECT

 public:
  explicit ScenarioEditor(QWidget* parent = nullptr);

  /// Throws Error where the file cannot be read.
  void open(const QString& path);
  /// A text that is no file yet; paths in it are seen from beside `near_file`.
  void open_text(const QString& text, const QString& path);
  /// Throws Error where the file cannot be written.
  void save(const QString& path);
  /// The same text, to be saved elsewhere.
  void move_to(const QString& path) { path_ = path; }
  const QString& path() const { return path_; }
  bool modified() const { return text_->document()->isModified(); }
  /// What counts as stored, and whose times tell how long others take.
  void set_runs(Snapshot runs);

  QPlainTextEdit* text() const { return text_; }
  ScenarioForm* form() const { return form_; }
  QListWidget* problems() const { return problems_; }
  QString state() const { return state_->text(); }
  const ScenarioVerdict& verdict() const { return verdict_; }
  /// The caret to the problem of that row.
  void jump_to(int row);
  void jump_to_next();

 signals:
  void checked();
  void changed();  ///< another file, or modified or not

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void build();
  void check();
  void take(const ScenarioVerdict& verdict);
  void take_field(const QString& pointer, const QString& value);
  void show_state();
  void mark_problems();

  QString path_;
  std::string saved_;
  Snapshot runs_;
  QPlainTextEdit* text_;
  ScenarioForm* form_;
  QListWidget* problems_;
  QLabel *state_, *refused_, *difference_;
  JsonHighlighter* highlighter_;
  QTimer timer_;
  LatestJob job_;
  ScenarioVerdict verdict_;
};

}  // namespace gradwire::gui
