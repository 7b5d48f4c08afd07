#pragma once
#include <string>

namespace gradwire::bench {

/// scenarios/published/prediction-errors.csv: how far the shipped tables' sources lie from
/// predictions with constants of the other sources (results/prediction/published_errors.h).
std::string stranger_errors_csv();

}  // namespace gradwire::bench
