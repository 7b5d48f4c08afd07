#pragma once
#include <optional>
#include <vector>

#include "gui/models/run_view.h"
#include "results/figures/figure.h"

namespace gradwire::gui {

/// An axis, and where a run stands on it: at its number, or at its text's place among all texts.
class RunAxis {
 public:
  RunAxis(const RunView& view, Column column, bool logarithmic);

  const results::Axis& axis() const { return axis_; }
  /// None where the run has no value that this scale can show.
  std::optional<double> of(const results::RunSummary& run) const;

 private:
  RunColumns columns_;
  Column column_;
  results::Axis axis_;
  std::vector<QString> texts_;  ///< ascending
};

}  // namespace gradwire::gui
