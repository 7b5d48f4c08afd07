#pragma once
#include <string>
#include <vector>

#include "bench/measured/constants.h"
#include "bench/measured/table.h"

/// For the tests of bench/measured.
namespace gradwire::bench::testing {

inline MeasuredTables read(const std::string& text) {
  MeasuredTables tables;
  read_measured(text, "t.csv", tables);
  return tables;
}

/// Of the constants, before any row is seen.
inline std::vector<double> prior_means() {
  std::vector<double> priors;
  for (const auto& unknown : constant_unknowns()) priors.push_back(unknown.prior_mean);
  return priors;
}

}  // namespace gradwire::bench::testing
