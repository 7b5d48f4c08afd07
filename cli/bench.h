#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"

namespace gradwire::cli {

/// One row of the form that all benchmarks print.
struct BenchRow {
  std::string name;  ///< dotted: flow.ring.n256.transfers_per_second
  double value = 0;
  std::string unit;
  std::optional<double> bar;
  bool at_most = true;  ///< the bar is an upper bound (else a lower one)
};

std::vector<BenchRow> bench_training(std::uint64_t seed, const Context& context);
std::vector<BenchRow> bench_flow(std::uint64_t seed, const Context& context);

}  // namespace gradwire::cli
