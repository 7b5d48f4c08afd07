#pragma once
#include <vector>

#include "results/prediction/published_errors.h"
#include "scenarios/scenario.h"

/// What is known of predictions' errors, for scenarios.
namespace gradwire::runner {

/// The scenario's layer table and device; no device where its compute is measured here, or its
/// profile has the device's own times of the model.
results::PredictionQuestion prediction_question(const scenarios::Scenario& scenario);

/// The nearest of scenarios/published/prediction-errors.csv, which is not read for a question
/// without a device. Throws Error where it cannot be read.
std::vector<results::PublishedErrors> published_errors(const results::PredictionQuestion& question);

}  // namespace gradwire::runner
