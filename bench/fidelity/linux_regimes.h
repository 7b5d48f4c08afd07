#pragma once
#include <cstdint>
#include <vector>

#include "bench/fidelity/regimes.h"

/// The cases of `bench fidelity --against linux`: the regimes of regimes.h as far as the lab's
/// links hold them (kernel.h: measure_kernel_reach), none of which takes long in real time.
namespace gradwire::bench {

/// `rate`: bits/s that all busy links may have together.
/// One clean flow: 10 Mbps to `rate`, 2 to 5 ms, 50 kB to 2 s worth of bytes, 5 MB at most.
std::vector<FidelityCase> linux_lan_cases(std::uint64_t seed, int count, double rate);
/// One clean flow over 20 to 80 ms: 10 Mbps to a quarter of `rate`, 50 kB to 5 MB.
std::vector<FidelityCase> linux_wan_cases(std::uint64_t seed, int count, double rate);
/// Incasts of 2 to 8, 2 to 5 ms, 50 kB to 1 MB each; one link's rate counts.
std::vector<FidelityCase> linux_sharing_cases(std::uint64_t seed, int count, double rate);
/// Random loss of 0.1 to 2 %, 0.5 to 2 MB; 10 to 100 Mbps, 2 to 80 ms; 112 transfers or more.
std::vector<FidelityCase> linux_lossy_cases(std::uint64_t seed, int count, double rate);
/// The same with 10 to 100 kB, 256 transfers.
std::vector<FidelityCase> linux_short_lossy_cases(std::uint64_t seed, int count, double rate);

}  // namespace gradwire::bench
