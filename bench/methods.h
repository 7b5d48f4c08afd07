#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

struct MethodsOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> methods = {};  ///< only these; empty: all
};

/// `gradwire bench methods`: each method's own work beside a model's passes, and beside the same
/// method in LibTorch operations; `xnor`: the product of matrices of +-1 beside LibTorch's of fp32.
/// Throws Error(kCapability) where there is no training module, Error(kUsage) for a method that
/// there is not.
std::vector<BenchRow> bench_methods(const MethodsOptions& options, const Say& say);

}  // namespace gradwire::bench
