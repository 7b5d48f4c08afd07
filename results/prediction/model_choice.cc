#include "results/prediction/model_choice.h"

#include <algorithm>

#include "results/prediction/solve.h"

namespace gradwire::results {

std::string_view name_of(StepForm form) {
  return kStepForms[static_cast<std::size_t>(form)];
}

bool step_form(std::string_view name, StepForm& form) {
  const auto found = std::find(std::begin(kStepForms), std::end(kStepForms), name);
  if (found == std::end(kStepForms)) return false;
  form = static_cast<StepForm>(found - std::begin(kStepForms));
  return true;
}

FormPrediction predict_by(StepForm form, const StepFit& fit, const StepSummary& step) {
  if (form == StepForm::kTerngradTree) return {terngrad_tree_time(step, fit.constants), {}};
  if (form == StepForm::kTerngradPlateau) return {terngrad_plateau_time(step, fit.constants), {}};
  const StepPrediction whole = predict_step(fit, step);
  return {whole.time.total_s, whole};
}

std::optional<double> efficiency_by(StepForm form, const StepFit& fit, const StepSummary& step) {
  const double total = step_time(step, fit.constants).total_s;
  const double alone = efficiency(fit, step) * total;  // one worker's step, without an exchange
  const double seconds = predict_by(form, fit, step).seconds;
  if (!(alone > 0)) return std::nullopt;
  return alone / seconds;
}

}  // namespace gradwire::results
