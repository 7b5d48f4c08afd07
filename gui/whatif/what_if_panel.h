#pragma once
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QTimer>
#include <QWidget>
#include <array>

#include "gui/jobs/latest_job.h"
#include "gui/whatif/what_if.h"

namespace gradwire::gui {

/// Sliders and exact fields over a run's or a scenario's network, workers and method, with the
/// closed form's answer beneath: is it worth to compress? Nothing is run.
class WhatIfPanel : public QWidget {
  Q_OBJECT

 public:
  explicit WhatIfPanel(QWidget* parent = nullptr);

  /// Null: nothing to ask about.
  void set_base(WhatIfBasePtr base);
  const WhatIfBase* base() const { return base_.get(); }
  void reset();
  void copy_to_scenario();
  void focus_first();

  QLineEdit* field(Knob knob) { return rows_[static_cast<std::size_t>(knob)].field; }
  QSlider* slider(Knob knob) { return rows_[static_cast<std::size_t>(knob)].slider; }
  QCheckBox* overlap() { return overlap_; }
  QString verdict() const { return verdict_->text(); }
  QString cost() const { return cost_->text(); }
  QString details() const { return details_->text(); }
  QString command() const { return find_out_->text(); }
  QString problem() const { return problem_->text(); }
  const WhatIfAnswer* answer() const { return answer_.get(); }

 signals:
  /// The text of a scenario with the changes.
  void scenario_wanted(const QString& text, const QString& near_file);
  void answered();

 private:
  struct Row {
    QLabel* label = nullptr;
    QSlider* slider = nullptr;
    QLineEdit* field = nullptr;
  };
  void build();
  void build_row(Knob knob, class QGridLayout* grid);
  void connect_row(Knob knob);
  void show_values();
  /// What stood there would be the answer to another question.
  void forget_answer();
  /// The fields' texts that differ from the base; false where one cannot be read.
  bool read(Changes& changes);
  void ask();
  void take(const std::shared_ptr<const WhatIfAnswer>& answer);

  WhatIfBasePtr base_;
  std::shared_ptr<WhatIf> model_;  ///< used on the job's thread alone
  LatestJob job_;
  std::array<Row, kKnobs> rows_;
  QCheckBox* overlap_;
  QLabel *about_, *badge_, *verdict_, *cost_, *details_, *problem_;
  QLineEdit* find_out_;  ///< the command that trains what is not known
  QPushButton *reset_, *copy_;
  QTimer ask_timer_;
  std::shared_ptr<const WhatIfAnswer> answer_;
  bool showing_ = false;
};

}  // namespace gradwire::gui
