#include "results/prediction/fit_ground.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "results/prediction/step_fit.h"

namespace gradwire::results {
namespace {

/// Nearer than that a value counts as one of the points': rates and delays are read to a few
/// digits.
constexpr double kNear = 1.1;

struct ComparedQuantity {
  const char* name;
  double (*of)(const StepSummary&);
};
constexpr std::array<ComparedQuantity, 5> kQuantities = {{
    {"workers", [](const StepSummary& step) { return static_cast<double>(step.workers); }},
    {"bandwidth", [](const StepSummary& step) { return step.bandwidth; }},
    {"delay", [](const StepSummary& step) { return step.delay_s; }},
    {"message", [](const StepSummary& step) { return step.message_bytes(); }},
    {"loss", [](const StepSummary& step) { return step.loss; }},
}};

/// What a point of the provenance is, as something to hold a model against.
std::string in_words(const std::string& provenance) {
  if (provenance == "simulated") return "Gradwire's own simulator";
  if (provenance == "measured") return "measured steps";
  if (provenance == "emulated") return "emulated steps";
  return provenance + " figures";
}

void join(std::string& list, const std::string& part) {
  list += (list.empty() ? "" : ", ") + part;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string beyond(const FitGround::Range& range, double value) {
  const bool above = value > range.high * kNear, below = value < range.low / kNear;
  if (!above && !below) return "";
  if (above && range.high <= 0) return range.quantity + " above all of them (0)";
  if (below && value <= 0) return range.quantity + " 0, below all of them";
  return range.quantity + " " +
         (above ? number(value / range.high) + " times the most"
                : "1/" + number(range.low / value) + " of the least");
}

}  // namespace

FitGround ground_of(std::span<const StepPoint> points) {
  FitGround ground;
  for (const StepPoint& point : points) ++ground.points[std::string(name_of(point.provenance))];
  for (const ComparedQuantity& quantity : kQuantities) {
    if (points.empty()) break;
    const auto less = [&](const StepPoint& a, const StepPoint& b) {
      return quantity.of(a.step) < quantity.of(b.step);
    };
    const auto [least, most] = std::minmax_element(points.begin(), points.end(), less);
    ground.ranges.push_back({quantity.name, quantity.of(least->step), quantity.of(most->step)});
  }
  return ground;
}

std::string data_of(const FitGround& ground) {
  if (ground.empty()) return "no points: constants at their usual values";
  std::string list;
  int all = 0;
  for (const auto& [provenance, count] : ground.points) {
    join(list, std::to_string(count) + " " + provenance);
    all += count;
  }
  list += all == 1 ? " point" : " points";
  for (const FitGround::Range& range : ground.ranges) {
    if (range.quantity != "workers") continue;
    const int least = static_cast<int>(range.low), most = static_cast<int>(range.high);
    list += " of " + (least == most ? "" : std::to_string(least) + " to ") + std::to_string(most) +
            " workers";
  }
  return list;
}

std::string against(const FitGround& ground) {
  std::string list;
  for (const auto& [provenance, count] : ground.points) join(list, in_words(provenance));
  return list;
}

std::string error_words(const FitGround& ground) {
  return ground.empty() ? "" : "errors are against " + against(ground);
}

std::string beyond_data(const FitGround& ground, const StepSummary& step) {
  std::string list;
  for (const FitGround::Range& range : ground.ranges)
    for (const ComparedQuantity& quantity : kQuantities) {
      if (quantity.name != range.quantity) continue;
      const std::string part = beyond(range, quantity.of(step));
      if (!part.empty()) join(list, part);
    }
  return list;
}

}  // namespace gradwire::results
