#include "emulator/emulator.h"

extern "C" __attribute__((visibility("default"))) gradwire::emulator::Emulator*
gradwire_make_emulator(const gradwire::sim::Cluster& cluster,
                       const gradwire::emulator::EmulatorOptions& options) {
  return gradwire::emulator::make_emulator(cluster, options).release();
}
