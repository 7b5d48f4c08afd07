#include "results/points/residual_figure.h"

#include <string>

#include "base/error.h"
#include "results/statistics/percent.h"

namespace gradwire::results {

Figure residual_figure(const StepFit& fit, std::span<const StepPoint> points) {
  GRADWIRE_ASSERT(fit.residuals.size() == points.size());
  Figure figure;
  figure.title = "The fitted model's error at its points";
  figure.subtitle = std::to_string(points.size()) + " points; dashed: their scatter, " +
                    percent_by("%.2g", fit.scatter);
  figure.x = {.label = "known time", .quantity = Quantity::kSeconds, .scale = Scale::kLog10};
  figure.y = {.label = "predicted over known, less 1", .quantity = Quantity::kShare};
  for (const Provenance provenance :
       {Provenance::kMeasured, Provenance::kSimulated, Provenance::kEmulated,
        Provenance::kPartlyEmulated, Provenance::kPublished, Provenance::kPredicted,
        Provenance::kAssumed}) {
    const int index = static_cast<int>(figure.series.size());
    Series series;
    series.kind = SeriesKind::kScatter;
    series.name = std::string(name_of(provenance));
    series.style = series_style(index, true);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].provenance != provenance) continue;
      series.x.push_back(points[i].seconds);
      series.y.push_back(fit.residuals[i]);
    }
    if (!series.x.empty()) figure.series.push_back(std::move(series));
  }
  for (const double level : {0.0, fit.scatter, -fit.scatter})
    figure.annotations.push_back({Annotation::Kind::kHorizontal, 0, level, ""});
  return figure;
}

}  // namespace gradwire::results
