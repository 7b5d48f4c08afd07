#include "gui/whatif/knobs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/runs/scenario_view.h"
#include "scenarios/document/values.h"

namespace gradwire::gui {
namespace {

constexpr std::array<KnobInfo, kKnobs> kInfos = {{
    {"/network/link/bandwidth", "Bandwidth", "of each worker's link, each way", 1e7, 4e11},
    {"/network/link/delay", "Delay",
     "of each link, one way; between two workers of a star it "
     "counts twice",
     1e-6, 0.5},
    {"/network/link/loss", "Loss", "share of packets that a link loses", 1e-6, 0.1},
    {"/cluster/workers", "Workers", "number of workers", 2, 1024},
    {"/method/ratio", "Ratio", "share of the gradient's elements that is sent", 1e-4, 1},
    {"/exchange/overlap", "Overlap", "send a bucket while later ones are computed", 0, 0},
    {"/prices/gpu_hour", "GPU hour", "price of a worker's GPU an hour, in the scenario's currency",
     0.01, 100},
}};

/// Two significant digits: what a slider can promise.
double rounded(double value) {
  if (value <= 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

/// Its slider begins with nothing at all.
bool may_be_none(Knob knob) {
  return knob == Knob::kLoss || knob == Knob::kGpuHour;
}

const scenarios::Field* field_of(Knob knob) {
  const auto* node = scenarios::scenario_table().find(info(knob).pointer);
  return node ? &node->field() : nullptr;
}

}  // namespace

const KnobInfo& info(Knob knob) {
  return kInfos[static_cast<std::size_t>(knob)];
}

double value_at(Knob knob, int position) {
  const KnobInfo& range = info(knob);
  if (may_be_none(knob) && position <= 0) return 0;
  const double share = static_cast<double>(position) / kSliderSteps;
  const double value = range.low * std::pow(range.high / range.low, share);
  return knob == Knob::kWorkers ? std::round(value) : rounded(value);
}

int position_of(Knob knob, double value) {
  const KnobInfo& range = info(knob);
  if (!(value > range.low)) return 0;
  const double share = std::log(value / range.low) / std::log(range.high / range.low);
  return std::clamp(static_cast<int>(std::lround(share * kSliderSteps)), 0, kSliderSteps);
}

bool beyond_slider(Knob knob, double value) {
  const KnobInfo& range = info(knob);
  if (may_be_none(knob) && value == 0) return false;
  return range.high > range.low && (value < range.low * 0.995 || value > range.high * 1.005);
}

QString text_of(Knob knob, double value) {
  switch (knob) {
    case Knob::kBandwidth:
      return QString::fromStdString(scenarios::canonical_rate(value));
    case Knob::kDelay:
      return QString::fromStdString(scenarios::canonical_duration(value));
    case Knob::kOverlap:
      return value != 0 ? "true" : "false";
    case Knob::kWorkers:
      return QString::number(static_cast<qlonglong>(value));
    default:
      return QString::number(value, 'g', 12);
  }
}

std::optional<double> value_of(Knob knob, const QString& text, QString& problem) {
  const std::string given = text.trimmed().remove(' ').replace("µ", "u").toStdString();
  const scenarios::Field* field = field_of(knob);
  if (!field) return std::nullopt;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(given, nullptr, false);
  if (json.is_discarded()) json = given;
  const scenarios::CheckedValue checked = scenarios::check_value(*field, json);
  if (!checked.problem.empty() || checked.value.is_null()) {
    problem = QString::fromStdString(checked.problem);
    const std::string allowed = scenarios::allowed_of(*field);
    if (!allowed.empty()) problem += "; allowed: " + QString::fromStdString(allowed);
    return std::nullopt;
  }
  if (knob == Knob::kOverlap) return checked.value.get<bool>() ? 1 : 0;
  return checked.base;
}

}  // namespace gradwire::gui
