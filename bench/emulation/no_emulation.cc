#include "base/error.h"
#include "bench/emulation/emulation.h"

/// Where the emulator is not built.
namespace gradwire::bench {

std::vector<BenchRow> bench_emulation(const EmulationOptions&, const Say&) {
  throw Error(ErrorKind::kCapability, "hold flow against", "the emulator",
              "this program was built without it",
              "build it on Linux with -DGRADWIRE_WITH_EMULATOR=ON");
}

}  // namespace gradwire::bench
