#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The geometry of plots, without drawing and without Qt: ticks, data <-> pixel, decimation, hit
/// testing. The SVG writer and the desktop program's plots both use it.
namespace gradwire::results {

enum class Scale { kLinear, kLog2, kLog10 };

/// What an axis measures; decides prefixes and units of its tick labels.
enum class Quantity {
  kPlain,  ///< a dimensionless number
  kCount,  ///< whole numbers with SI prefixes (steps, workers)
  kSeconds,
  kBytes,    ///< decimal prefixes (MB = 10^6 B)
  kBitRate,  ///< bits per second
  kShare,    ///< 0..1, shown in percent
};

struct Pixel {
  double x = 0;
  double y = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool contains(Pixel p) const { return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom(); }
};

struct Interval {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool empty() const { return !(low <= high); }
  /// Non-finite values are left out.
  void include(double value);
};

/// Whether a value can be drawn on such an axis: finite, and positive where it is logarithmic.
bool drawable(double value, Scale scale);

/// Maps data to pixels along one axis and back. `first` is the pixel of `low` (for a y axis the
/// larger one). Precondition: low < high, and low > 0 where the scale is logarithmic.
class AxisMap {
 public:
  AxisMap(Scale scale, Interval range, double first_pixel, double last_pixel);
  double pixel(double value) const;  ///< NaN where the value is not drawable
  double value(double pixel) const;
  const Interval& range() const { return range_; }
  Scale scale() const { return scale_; }
  double first_pixel() const { return first_; }
  double last_pixel() const { return last_; }

 private:
  Scale scale_;
  Interval range_;
  double first_, last_;
  double offset_, slope_;  ///< pixel = first + (transform(value) - offset) * slope
};

struct Tick {
  double value = 0;
  std::string label;  ///< empty for minor ticks
};

/// About `target` ticks at 1, 2, 2.5 or 5 times a power of ten (linear), or at powers of the base
/// (logarithmic; at 1, 2, 5 times powers of ten where the range is short). All labels of an axis
/// share one prefix where the axis is linear: see unit_of().
std::vector<Tick> ticks(const Interval& range, Scale scale, int target, Quantity quantity);

/// The prefix and unit that the labels of a linear axis are given in ("ms", "MB", "%"); empty where
/// there is none or where, on a logarithmic axis, each label carries its own.
std::string unit_of(const Interval& range, Scale scale, Quantity quantity);

/// Widened to round numbers, so that no point lies on the frame; one value gets a width. An empty
/// range becomes [0, 1] (logarithmic [1, 10]).
Interval nice_range(Interval range, Scale scale);

/// One value with its unit, three significant digits: "12.3 ms", "4.19 MB", "95.2 %".
std::string format_value(double value, Quantity quantity);

/// The polylines of a curve in pixels, decimated to at most four points (first, lowest, highest,
/// last) for each pixel column, so that no peak is lost and 10^6 points draw as fast as 10^3.
/// x must not decrease for decimation to hold; other curves are returned point by point. Points
/// that are not drawable end a polyline. x and y have equal size.
std::vector<std::vector<Pixel>> decimate(std::span<const double> x, std::span<const double> y,
                                         const AxisMap& x_axis, const AxisMap& y_axis);

/// The index of the drawable point nearest to `at`, if within `reach` pixels.
std::optional<std::size_t> nearest_point(std::span<const double> x, std::span<const double> y,
                                         const AxisMap& x_axis, const AxisMap& y_axis, Pixel at,
                                         double reach);

/// Indices of the points that no other point beats: smaller `cost` and larger `gain` are better.
/// In ascending order of cost. NaN is never on the front.
std::vector<std::size_t> pareto_front(std::span<const double> cost, std::span<const double> gain);

}  // namespace gradwire::results
