#pragma once
#include "bench/benchmarks.h"

namespace gradwire::cli {

/// The benchmarks, from their module, which is loaded (and, where ./gradwire started us, built) at
/// the first call. Throws Error(kCapability) where there is none.
const bench::Benchmarks& benchmarks();

}  // namespace gradwire::cli
