#include "gui/jobs/live_curves.h"

#include <algorithm>
#include <cmath>

namespace gradwire::gui {

void LiveCurves::add(const RunProgress& progress) {
  // Runs that train nothing tell a loss of 0.
  if (!std::isfinite(progress.loss) || progress.loss <= 0) return;
  Curve& curve = curves_[progress.run];
  const auto step = static_cast<double>(progress.step);
  if (!curve.steps.empty() && curve.steps.back() >= step) return;
  curve.name = QString("%1, seed %2").arg(progress.method).arg(progress.seed).toStdString();
  curve.steps.push_back(step);
  curve.losses.push_back(progress.loss);
}

bool LiveCurves::empty() const {
  return std::none_of(curves_.begin(), curves_.end(),
                      [](const auto& each) { return each.second.steps.size() > 1; });
}

results::Figure LiveCurves::figure() const {
  results::Figure figure;
  figure.title = "Training loss";
  figure.x.label = "step";
  figure.x.quantity = results::Quantity::kCount;
  figure.y.label = "training loss";
  figure.legend = results::Legend::kBottom;
  int number = 0;
  const std::size_t skipped = curves_.size() > kMostCurves ? curves_.size() - kMostCurves : 0;
  auto curve = std::next(curves_.begin(), static_cast<std::ptrdiff_t>(skipped));
  for (; curve != curves_.end(); ++curve) {
    results::Series series;
    series.name = curve->second.name;
    series.x = curve->second.steps;
    series.y = curve->second.losses;
    series.style = results::series_style(number++);
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace gradwire::gui
