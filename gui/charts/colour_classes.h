#pragma once
#include <string>
#include <vector>

#include "gui/models/run_view.h"
#include "results/figures/method_colors.h"
#include "results/figures/palette.h"

namespace gradwire::gui {

/// Colours that a chart tells apart; a method has one in all charts.
inline constexpr std::size_t kMethodColours = results::kSeriesColors;

/// Runs by one column, for a chart's colours or its panels: a class a value, or, of more numbers
/// than can be told apart, a class a range. Of all runs of the database, so that a class keeps its
/// colour whatever is filtered.
class RunClasses {
 public:
  /// `most`: classes at most; of texts the most frequent, and the others together as the last.
  RunClasses(const RunView& view, Column column, std::size_t most);

  const std::vector<std::string>& names() const { return names_; }
  std::size_t of(const results::RunSummary& run) const;
  /// Number of a class's results::series_style: of methods what reports give them.
  int number_of(std::size_t class_index) const;

 private:
  void by_text(const RunView& view, std::size_t most);
  void by_value(const RunView& view);
  void by_range(const RunView& view, std::size_t most);

  RunColumns columns_;
  Column column_;
  std::vector<std::string> names_;
  std::vector<QString> texts_;     ///< of classes by text, ascending; what is not there is "other"
  std::vector<double> bounds_;     ///< of classes by value or range: their least values, ascending
  bool with_absent_ = false;       ///< the last class is of runs without a value
  results::MethodColors methods_;  ///< of classes of methods
};

}  // namespace gradwire::gui
