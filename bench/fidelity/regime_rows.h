#pragma once
#include <string>
#include <vector>

#include "bench/fidelity/comparison.h"
#include "bench/rows/row.h"

/// What each regime of `bench fidelity` reports of its cases, and the bars.
namespace gradwire::bench {

using Comparisons = std::vector<Comparison>;
/// Appends rows whose names begin with `name`. Precondition: there is a case.
using RegimeRows = void(const std::string& name, const Comparisons& results,
                        std::vector<BenchRow>& rows);

RegimeRows clean_lan_rows;
/// Clean flows that share: of the worst a round trip comes off.
RegimeRows sharing_rows;
/// BBR's flows share as well in the middle, but not always: the worst is told without a bar.
RegimeRows bbr_sharing_rows;
RegimeRows clean_wan_rows;
RegimeRows lossy_rows;
RegimeRows short_lossy_rows;
RegimeRows mixed_rows;
RegimeRows mobile_rows;
RegimeRows cell_rows;
/// Where chance decides and means alone are compared.
RegimeRows mean_rows;
RegimeRows changing_rows;
RegimeRows burst_rows;
/// Run by run, with the reference's losses.
RegimeRows exact_rows;
/// ... of clean cases and of those with losses.
RegimeRows large_rows;

}  // namespace gradwire::bench
