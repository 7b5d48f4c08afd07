#pragma once
#include <optional>
#include <string_view>

#include "results/prediction/step_fit.h"

/// Which closed form predicts a step.
namespace gradwire::results {

enum class StepForm {
  kOverlap,         ///< constants at their usual values
  kFitted,          ///< the same form, its constants fitted
  kTerngradTree,    ///< one exchange behind the backward pass, log2 n messages long
  kTerngradPlateau  ///< the same, at most two messages long
};
inline constexpr std::string_view kStepForms[] = {"overlap", "fitted", "terngrad-tree",
                                                  "terngrad-plateau"};
std::string_view name_of(StepForm form);
/// False where the name is none of them.
bool step_form(std::string_view name, StepForm& form);

struct FormPrediction {
  double seconds = 0;
  /// Where time goes, and the band; TernGrad's forms have neither.
  std::optional<StepPrediction> whole;
};

/// `fit`: of kFitted's constants; usual_fit() for kOverlap. TernGrad's forms take its efficiency
/// and latency.
FormPrediction predict_by(StepForm form, const StepFit& fit, const StepSummary& step);
/// Scaling efficiency by the form: throughput on n workers over n times one worker's, that sends
/// nothing. Nothing where a step computes nothing.
std::optional<double> efficiency_by(StepForm form, const StepFit& fit, const StepSummary& step);

}  // namespace gradwire::results
