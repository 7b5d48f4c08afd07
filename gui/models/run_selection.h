#pragma once
#include <QObject>
#include <vector>

#include "results/store/store.h"

namespace gradwire::gui {

/// The one selection of the window. Table, charts and timeline all show it and all change it.
class RunSelection : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  const std::vector<results::RunId>& runs() const { return runs_; }
  bool contains(results::RunId id) const;
  /// The run whose timeline and details are shown: the last one clicked; 0 = none.
  results::RunId current() const { return current_; }

  /// Replaces the selection. `current` must be among `runs` or 0 (then the last of `runs` is).
  void select(std::vector<results::RunId> runs, results::RunId current = 0);
  /// Adds the run, or takes it away (Ctrl+click).
  void toggle(results::RunId id);
  void clear() { select({}); }

 signals:
  void changed();

 private:
  std::vector<results::RunId> runs_;    ///< in the order given
  std::vector<results::RunId> sorted_;  ///< for contains()
  results::RunId current_ = 0;
};

}  // namespace gradwire::gui
