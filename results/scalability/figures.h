#pragma once
#include <string>
#include <vector>

#include "results/pages/html_page.h"
#include "results/scalability/scalability.h"

/// The scalability report's figures. Marks are runs, with 90 % intervals; solid lines the model
/// fitted to them, with its 90 % band; dashed lines and paler bands what lies beyond the runs.
namespace gradwire::results {

/// Two stand side by side on a screen and on A4, where 12 pixels become 6.7 points.
inline constexpr double kFigureWidth = 440;

struct NamedFigure {
  std::string name;  ///< of its files: "throughput"
  DrawnFigure drawn;
};

/// Throughput (of lone exchanges: exchanges a second) over workers, both logarithmic.
NamedFigure throughput_figure(const Scalability& all);
/// The model's error at each run, under the throughput: same axis of workers.
NamedFigure residual_figure(const Scalability& all);
/// Scaling efficiency over workers, with the target.
NamedFigure efficiency_figure(const Scalability& all);
/// Time of a step over workers.
NamedFigure step_time_figure(const Scalability& all);
/// A series' step by parts, at powers of two workers; its runs' whole steps as marks.
NamedFigure split_figure(const Scalability& all, std::size_t series);
/// What moves the answer most.
NamedFigure sensitivity_figure(const Scalability& all);
/// Held-back points: their error, with the 90 % band around the prediction.
NamedFigure validation_figure(const Scalability& all);

/// Workers at which tables and split figures stand: powers of two of the curve, the runs' own, and
/// what the answer is about. The series has an answer on each.
std::vector<int> shown_workers(const Scalability& all, std::size_t series);
/// The series' colour, mark and dash by its number.
SeriesStyle scale_style(const Scalability& all, std::size_t series);
/// Number of its colour: its method's (method_colors.h); series of one method differ in it.
int scale_color(const Scalability& all, std::size_t series);
/// Where the figure's values come from, of all its series: "runs simulated (flow); lines
/// predicted".
void set_source(const Scalability& all, Figure& figure);

}  // namespace gradwire::results
