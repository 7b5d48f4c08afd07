#include "bench/emulation/steps.h"

#include <algorithm>

#include "sim/transport/calibration.h"

namespace gradwire::bench {

sim::TransportSettings emulation_transport() {
  sim::TransportSettings transport;
  transport.constants = sim::shipped_calibration("linux").constants;
  return transport;
}

double run_step(sim::Executor& executor, const EmulationCase& c) {
  const std::vector<Seconds> seconds(c.graph->size());
  sim::Submission submission;
  submission.graph = c.graph;
  submission.bytes = c.bytes;
  submission.seconds = seconds;
  const sim::GraphId id = executor.submit(submission);
  const sim::Timeline& timeline = sim::run_to_end(executor, id);
  Seconds start = timeline.end;
  for (const sim::OpRecord& op : timeline.ops) start = std::min(start, op.start);
  const double time = (timeline.end - start).value();
  executor.forget(id);
  return time;
}

}  // namespace gradwire::bench
