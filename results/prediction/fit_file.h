#pragma once
#include <string>
#include <string_view>

#include "results/prediction/step_fit.h"

/// Fits as JSON files, so that a prediction can name the fit it rests on.
namespace gradwire::results {

/// {"schema_version", "kind": "fit", "constants": [{"name","value","low","high","identified"},
/// ...], "draws", "scatter", "least_workers", "most_workers", "points", "provenances",
/// "ranges": [{"quantity","low","high"}, ...], "warnings"}.
std::string fit_as_json(const StepFit& fit);
/// Throws Error naming `file` and what is wrong: no JSON, another kind, a constant that is missing,
/// unknown or not finite.
StepFit fit_from_json(std::string_view text, const std::string& file);

}  // namespace gradwire::results
