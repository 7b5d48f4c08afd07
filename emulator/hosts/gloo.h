#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// PyTorch's Gloo as a program on each host: the engine that dense training has without us. Python
/// is $GRADWIRE_PYTHON, else python3.
namespace gradwire::emulator {

/// Throws Error(kCapability) where that Python cannot import PyTorch.
std::string gloo_version();

/// What a rank runs: after a short all-reduce that opens connections it sums vectors of so many
/// floats over all ranks, one after the other, `turns` times. `address`: rank 0's.
std::vector<std::string> gloo_rank(int rank, int ranks, std::span<const std::int64_t> elements,
                                   int turns, const std::string& address);

/// s, of each turn: the slowest rank's. `outputs`: what the ranks wrote. Throws Error(kFailure)
/// where that makes no sense.
std::vector<double> gloo_times(std::span<const std::string> outputs, int turns);

}  // namespace gradwire::emulator
