#pragma once
#include <cstdint>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// Of the module that has LibTorch. Throws Error(kCapability) where there is none.
void* training_module_symbol(const char* name);

/// `gradwire bench training`: a training loop under simulation against the bare LibTorch loop.
/// Throws Error(kCapability) where there is no training module.
std::vector<BenchRow> bench_training(std::uint64_t seed, const Say& say);

}  // namespace gradwire::bench
