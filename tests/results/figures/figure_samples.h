#pragma once
#include <cmath>

#include "results/figures/figure.h"

inline gradwire::results::Figure sample_figure(int points, int series_count = 3) {
  using namespace gradwire::results;
  Figure figure;
  figure.title = "Accuracy & loss <over> time";
  figure.subtitle = "8 workers, 100 Mbps; higher and further left is better";
  figure.x = {"simulated time", Quantity::kSeconds};
  figure.y = {"held-out accuracy", Quantity::kShare};
  figure.provenance = "learning measured, time simulated (flow)";
  figure.scenario_hashes = {"0123456789abcdef"};
  for (int s = 0; s < series_count; ++s) {
    Series series;
    series.name = "method " + std::to_string(s);
    series.style = series_style(s, true);
    for (int i = 0; i < points; ++i) {
      const double x = 100.0 * i / points;
      series.x.push_back(x);
      series.y.push_back(0.95 - 0.85 * std::exp(-x / (10.0 + 10 * s)) +
                         0.01 * std::sin(i * 12.9898 + s));
    }
    figure.series.push_back(std::move(series));
  }
  figure.annotations.push_back({Annotation::Kind::kHorizontal, 0, 0.9, "target 90 %"});
  return figure;
}
