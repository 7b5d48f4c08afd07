#pragma once
#include <string>
#include <vector>

#include "bench/fidelity/experiment.h"

/// Experiments run by the kernel's own TCP between network namespaces (emulator/lab/lab.h), in real
/// time.
namespace gradwire::bench {

/// What kernel TCP took. Transfers that the limit cut off are left out.
struct KernelRun {
  Times times;                ///< s, by [chain][repeat]
  std::vector<double> spans;  ///< s, by repeat: from the first start to the last end
  std::vector<double> late;   ///< s, by repeat that has a span: the latest frame's lateness
  double late_99 = 0;         ///< s: how late frames left the links, one in a hundred
  bool exact = true;          ///< frames left in time
  bool missed = false;        ///< a frame was missed: the run is no measurement
  std::string kernel;         ///< its release
};

/// Chains only. Throws Error(kCapability) where this machine forbids it, or the program was built
/// without the emulator.
KernelRun run_kernel(const Experiment& experiment, std::uint64_t seed, double limit_s);

/// What the lab's links hold here: measured, from 50 Mbps upwards, at 0.5 ms a link.
struct KernelReach {
  double rate = 0;     ///< bits/s, of all links that are busy at once
  double late_50 = 0;  ///< s, at that rate
  double late_99 = 0;
  std::string kernel;
  std::string priority;  ///< of the process
};
KernelReach measure_kernel_reach();

}  // namespace gradwire::bench
