#pragma once
#include <memory>

#include "emulator/emulator.h"

namespace gradwire::cli {

/// emulator::make_emulator() from its module, which is loaded (and, where ./gradwire started us,
/// built) at the first call. Throws Error(kCapability) where there is none.
std::unique_ptr<emulator::Emulator> make_emulator(const sim::Cluster& cluster,
                                                  const emulator::EmulatorOptions& options);

}  // namespace gradwire::cli
