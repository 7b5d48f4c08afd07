#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

namespace gradwire::bench {

/// A transfer, a computation, or one rank's part of a collective, in virtual time. A transfer
/// begins when it could start, a rank's part when that rank was ready.
struct Operation {
  std::int64_t step = 0;
  std::string name;
  bool transfers = false;  ///< a transfer or a collective
  double start = 0, end = 0;
};

/// Asked now and then; true: give up.
using Stop = std::function<bool()>;

/// A scenario without training on an executor, as `gradwire run` has it run: what ended, in order
/// of steps and of operations. Throws what the executor throws, and Error where it was stopped.
std::vector<Operation> run_operations(const scenarios::Scenario& scenario,
                                      std::string_view executor, std::uint64_t seed,
                                      const Stop& stop = {});

/// What running it costs ns-3 (sim::PacketWork::effort), all steps.
double packet_effort(const scenarios::Scenario& scenario);

}  // namespace gradwire::bench
