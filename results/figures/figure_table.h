#pragma once
#include <string>
#include <vector>

#include "results/figures/figure.h"

namespace gradwire::results {

/// What a figure shows as a table for people.
struct FigureTable {
  std::vector<std::vector<std::string>> rows;  ///< a header first
  bool thinned = false;                        ///< a curve had more points than were asked for
};

/// The category that stands at `value` of the axis; null: none does.
const std::string* category_at(const Axis& axis, double value);

/// Bars: a row a category, a column a series. Curves and marks: a row a point with its series, x, y
/// and, where the figure has them, the band or whiskers about it; at most `most` of each curve,
/// evenly apart, its ends among them.
FigureTable figure_table(const Figure& figure, std::size_t most);

}  // namespace gradwire::results
