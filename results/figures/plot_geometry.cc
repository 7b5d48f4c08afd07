#include "results/figures/plot_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace gradwire::results {
namespace {

double transform(double value, Scale scale) {
  if (scale == Scale::kLog2) return std::log2(value);
  if (scale == Scale::kLog10) return std::log10(value);
  return value;
}

/// The first, lowest, highest and last point of one pixel column, in the order of the data.
class Column {
 public:
  void add(Pixel p) {
    if (count_ == 0) first_ = lowest_ = highest_ = p;
    if (p.y < lowest_.y) lowest_ = p, low_at_ = count_;
    if (p.y > highest_.y) highest_ = p, high_at_ = count_;
    last_ = p;
    ++count_;
  }
  void flush(std::vector<Pixel>& out) {
    if (count_ == 0) return;
    out.push_back(first_);
    const bool low_first = low_at_ <= high_at_;
    const std::size_t early = std::min(low_at_, high_at_), late = std::max(low_at_, high_at_);
    if (early > 0 && early + 1 < count_) out.push_back(low_first ? lowest_ : highest_);
    if (late > early && late > 0 && late + 1 < count_)
      out.push_back(low_first ? highest_ : lowest_);
    if (count_ > 1) out.push_back(last_);
    *this = Column();
  }

 private:
  Pixel first_, lowest_, highest_, last_;
  std::size_t count_ = 0, low_at_ = 0, high_at_ = 0;
};

}  // namespace

void Interval::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

bool drawable(double value, Scale scale) {
  return std::isfinite(value) && (scale == Scale::kLinear || value > 0);
}

AxisMap::AxisMap(Scale scale, Interval range, double first_pixel, double last_pixel)
    : scale_(scale), range_(range), first_(first_pixel), last_(last_pixel) {
  GRADWIRE_ASSERT(range.low < range.high && drawable(range.low, scale));
  offset_ = transform(range.low, scale);
  slope_ = (last_ - first_) / (transform(range.high, scale) - offset_);
}

double AxisMap::pixel(double value) const {
  if (!drawable(value, scale_)) return std::numeric_limits<double>::quiet_NaN();
  return first_ + (transform(value, scale_) - offset_) * slope_;
}

double AxisMap::value(double pixel) const {
  const double transformed = offset_ + (pixel - first_) / slope_;
  if (scale_ == Scale::kLog2) return std::exp2(transformed);
  if (scale_ == Scale::kLog10) return std::pow(10.0, transformed);
  return transformed;
}

std::vector<std::vector<Pixel>> decimate(std::span<const double> x, std::span<const double> y,
                                         const AxisMap& x_axis, const AxisMap& y_axis) {
  GRADWIRE_ASSERT(x.size() == y.size());
  const bool ordered = std::is_sorted(x.begin(), x.end());
  std::vector<std::vector<Pixel>> paths;
  std::vector<Pixel> path;
  Column column;
  double at = 0;
  const auto end_path = [&] {
    column.flush(path);
    if (!path.empty()) paths.push_back(std::move(path));
    path.clear();
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Pixel p{x_axis.pixel(x[i]), y_axis.pixel(y[i])};
    if (std::isnan(p.x) || std::isnan(p.y)) {
      end_path();
      continue;
    }
    if (!ordered || std::floor(p.x) != at) column.flush(path);
    at = std::floor(p.x);
    column.add(p);
  }
  end_path();
  return paths;
}

std::optional<std::size_t> nearest_point(std::span<const double> x, std::span<const double> y,
                                         const AxisMap& x_axis, const AxisMap& y_axis, Pixel at,
                                         double reach) {
  std::optional<std::size_t> best;
  double least = reach * reach;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    const double dx = x_axis.pixel(x[i]) - at.x, dy = y_axis.pixel(y[i]) - at.y;
    const double distance = dx * dx + dy * dy;
    if (!(distance <= least)) continue;
    if (best && distance == least) continue;
    least = distance;
    best = i;
  }
  return best;
}

std::vector<std::size_t> pareto_front(std::span<const double> cost, std::span<const double> gain) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < std::min(cost.size(), gain.size()); ++i)
    if (!std::isnan(cost[i]) && !std::isnan(gain[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (cost[a] != cost[b]) return cost[a] < cost[b];
    if (gain[a] != gain[b]) return gain[a] > gain[b];
    return a < b;
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order)
    if (front.empty() || gain[i] > gain[front.back()] ||
        (gain[i] == gain[front.back()] && cost[i] == cost[front.back()]))
      front.push_back(i);
  return front;
}

}  // namespace gradwire::results
