#include "cli/emulation/emulator_module.h"

#include "base/program_part.h"

namespace gradwire::cli {

std::unique_ptr<emulator::Emulator> make_emulator(const sim::Cluster& cluster,
                                                  const emulator::EmulatorOptions& options) {
  static void* const module =
      open_part_module(part_path("emulator", "../lib/libgradwire_emulator.so"), "load the emulator",
                       "it is not built");
  const auto factory =
      reinterpret_cast<emulator::EmulatorFactory>(module_symbol(module, emulator::kEmulatorSymbol));
  return std::unique_ptr<emulator::Emulator>(factory(cluster, options));
}

}  // namespace gradwire::cli
