#include "trainers/replays/pipeline_figures.h"

#include <algorithm>

#include "sim/graph/pipeline.h"

namespace gradwire::trainers {

std::vector<scenarios::Figure> pipeline_figures(const sim::GraphTemplate& graph,
                                                const sim::Timeline& timeline, int stages) {
  double busy = 0;
  Seconds begin = timeline.end;
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    begin = std::min(begin, timeline.ops[op].start);
    if (graph.kind[op] == sim::OpKind::kCompute)
      busy += (timeline.ops[op].end - timeline.ops[op].start).value();
  }
  int kept = 0;
  double exposed = 0;
  for (int s = 0; s < stages; ++s) {
    kept = std::max(kept, sim::most_kept(graph, timeline, s));
    exposed += sim::exposed_transfer(graph, timeline, s).value() / stages;
  }
  const double all = stages * (timeline.end - begin).value();
  return {{"pipeline_bubble", all > 0 ? 1 - busy / all : 0},
          {"exposed_transfer_s", exposed, "s"},
          {"kept_activations", static_cast<double>(kept), "micro-batches"}};
}

}  // namespace gradwire::trainers
