#pragma once
#include <memory>
#include <string>

#include "bench/codecs/torch_twins.h"

namespace gradwire::bench {

/// Null where the module has no twin of that label, or where there is no module.
std::unique_ptr<TorchTwin> make_torch_twin(const TorchTwinSpec& spec);

/// Why there is no module; empty where there is one. It is looked for at
/// GRADWIRE_BENCH_TORCH_MODULE, or in ../lib/ beside the program.
const std::string& why_no_torch_twins();

}  // namespace gradwire::bench
