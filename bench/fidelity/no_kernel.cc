#include "base/error.h"
#include "bench/fidelity/kernel.h"

/// Where the emulator is not built.
namespace gradwire::bench {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::kCapability, "measure with", "kernel TCP",
              "this program was built without the emulator",
              "build it on Linux with -DGRADWIRE_WITH_EMULATOR=ON, or use --against packet");
}

}  // namespace

KernelRun run_kernel(const Experiment&, std::uint64_t, double) {
  refuse();
}

KernelReach measure_kernel_reach() {
  refuse();
}

}  // namespace gradwire::bench
