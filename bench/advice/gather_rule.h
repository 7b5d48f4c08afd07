#pragma once
#include <string>
#include <vector>

#include "bench/advice/advice_cases.h"
#include "bench/rows/row.h"
#include "scenarios/scenario.h"

namespace gradwire::bench {

/// The case's scenario, its device profile at `device_file`.
scenarios::Scenario advice_scenario(const AdviceCase& given, const std::string& device_file);

/// By flow's times and by the model's, a row each: the ratio at which gathered top-k breaks even
/// with the fp32 ring, over half the workers (bar: 25 % around 1, by flow).
void add_gather_rule_rows(int workers, std::vector<BenchRow>& rows);

}  // namespace gradwire::bench
