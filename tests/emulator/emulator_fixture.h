#pragma once
#include <memory>
#include <string>

#include "base/error.h"
#include "emulator/emulator.h"
#include "tests/quantities.h"
#include "tests/skip.h"

namespace gradwire::emulator {

inline EmulatorOptions quick_options() {
  EmulatorOptions options;
  options.rtt_rounds = 5;
  options.wall_limit = Seconds(20);
  if (const char* build = std::getenv("GRADWIRE_BINARY_DIR"))
    options.program = std::string(build) + "/bin/gradwire-emulator-hub";
  return options;
}

inline sim::LinkSpec link_of(double bits_per_second, double loss = 0) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(bits_per_second);
  link.delay = Seconds(0);
  link.loss = loss;
  return link;
}

/// Skips the case, whose tag is [needs-namespaces], where this machine forbids emulation.
inline std::unique_ptr<Emulator> emulator_or_skip(const sim::Cluster& cluster,
                                                  const EmulatorOptions& options) {
  try {
    return make_emulator(cluster, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    gradwire::testing::skip(error.what());
  }
}

/// Submits one graph; `seconds` by operation, missing ones 0.
inline sim::GraphId submit(sim::Executor& executor, const sim::GraphPtr& graph,
                           std::vector<Bytes> bytes, std::vector<Seconds> seconds = {},
                           std::vector<sim::CrossEdge> after = {}) {
  seconds.resize(graph->size());
  sim::Submission submission;
  submission.graph = graph;
  submission.bytes = bytes;
  submission.seconds = seconds;
  submission.after = after;
  return executor.submit(submission);
}

}  // namespace gradwire::emulator
