#pragma once
#include <vector>

#include "bench/fidelity/fidelity.h"

namespace gradwire::bench {

/// Names of the regimes of bench_linux_fidelity().
std::vector<std::string> linux_fidelity_regimes();

/// `gradwire bench fidelity --against linux`: the flow executor against the kernel's own TCP
/// between network namespaces, in real time: one case after the other, on links that this machine
/// was seen to hold, until `total_limit_s`. A run whose links were late is made again, and left out
/// after three tries; rows say how many cases that, or the limit, left out. Throws
/// Error(kCapability) where namespaces are forbidden.
std::vector<BenchRow> bench_linux_fidelity(const FidelityOptions& options, const Say& say);

}  // namespace gradwire::bench
