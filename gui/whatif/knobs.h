#pragma once
#include <QString>
#include <array>
#include <optional>

/// What the what-if panel turns: fields of a scenario, each with a slider and an exact field.
namespace gradwire::gui {

enum class Knob { kBandwidth, kDelay, kLoss, kWorkers, kRatio, kOverlap, kGpuHour };
inline constexpr int kKnobs = 7;

struct KnobInfo {
  const char* pointer;  ///< of the scenario
  const char* label;
  const char* help;
  /// Where the slider goes; the exact field may hold what lies beyond. low = high: no slider.
  double low, high;
};
const KnobInfo& info(Knob knob);
inline Knob knob_at(int index) {
  return static_cast<Knob>(index);
}

inline constexpr int kSliderSteps = 400;

/// The value, in base units, of a slider's position 0..kSliderSteps: logarithmic, rounded to what
/// people write. The first position of the loss and of the price is none at all.
double value_at(Knob knob, int position);
/// The nearest position; values beyond the slider get its end.
int position_of(Knob knob, double value);
bool beyond_slider(Knob knob, double value);

/// As a scenario writes it: "1Gbps", "50us", "0.01", "16".
QString text_of(Knob knob, double value);
/// Base units; none where the scenario's table of fields refuses the text, and `problem` says why.
std::optional<double> value_of(Knob knob, const QString& text, QString& problem);

}  // namespace gradwire::gui
