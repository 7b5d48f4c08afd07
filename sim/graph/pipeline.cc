#include "sim/graph/pipeline.h"

#include <algorithm>

#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr const char* kForward = "forward";
constexpr const char* kBackward = "backward";

/// Adds operations stage by stage as far as their inputs exist.
class PipelineBuilder {
 public:
  explicit PipelineBuilder(const PipelinePlan& plan)
      : plan_(plan), stages_(static_cast<int>(plan.forward.size())) {
    const auto p = static_cast<std::size_t>(stages_), m = micro_batches();
    arrived_.assign(p, std::vector<std::int64_t>(2 * m, -1));
    last_.assign(p, -1);
    step_.first.resize(p);
    for (int s = 0; s < stages_; ++s)
      orders_.push_back(pipeline_order(plan.schedule, stages_, s, plan.micro_batches));
  }

  PipelineStep build() {
    std::vector<std::size_t> next(orders_.size(), 0);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t s = 0; s < orders_.size(); ++s) {
        while (next[s] < orders_[s].size() && may_start(s, orders_[s][next[s]])) {
          add(s, orders_[s][next[s]++]);
          more = true;
        }
      }
    }
    for (std::size_t s = 0; s < orders_.size(); ++s) {
      GRADWIRE_ASSERT(next[s] == orders_[s].size());
      step_.update.push_back(add_compute(s, "update", plan_.update[s], -1));
    }
    step_.graph = builder_.finish();
    return std::move(step_);
  }

 private:
  std::size_t micro_batches() const { return static_cast<std::size_t>(plan_.micro_batches); }
  std::size_t slot(const PipelineTask& task) const {
    return static_cast<std::size_t>(task.micro_batch) + (task.backward ? micro_batches() : 0);
  }
  /// Whether a task has its input from another stage: all but the first forward and last backward.
  bool has_input(std::size_t stage, const PipelineTask& task) const {
    return task.backward ? stage + 1 < orders_.size() : stage > 0;
  }
  bool may_start(std::size_t stage, const PipelineTask& task) const {
    return !has_input(stage, task) || arrived_[stage][slot(task)] >= 0;
  }

  OpIndex add_compute(std::size_t stage, const char* label, Seconds time, std::int64_t input) {
    std::vector<OpIndex> after;
    if (last_[stage] >= 0) after.push_back(static_cast<OpIndex>(last_[stage]));
    if (input >= 0) after.push_back(static_cast<OpIndex>(input));
    const OpIndex op = builder_.add_operation(OpKind::kCompute, Lane::kCompute,
                                              static_cast<int>(stage), label, after);
    step_.seconds.push_back(time);
    if (last_[stage] < 0) step_.first[stage] = op;
    last_[stage] = op;
    return op;
  }

  void add(std::size_t stage, const PipelineTask& task) {
    const OpIndex op = add_compute(stage, task.backward ? kBackward : kForward,
                                   task.backward ? plan_.backward[stage] : plan_.forward[stage],
                                   arrived_[stage][slot(task)]);
    const bool sends = task.backward ? stage > 0 : stage + 1 < orders_.size();
    if (!sends) return;
    const std::size_t to = task.backward ? stage - 1 : stage + 1;
    TransferMeaning meaning;
    meaning.buffer = task.micro_batch;
    arrived_[to][slot(task)] = builder_.add_transfer(
        static_cast<int>(stage), static_cast<int>(to),
        task.backward ? "activation gradients" : "activations", meaning, std::vector<OpIndex>{op});
    step_.seconds.emplace_back(0);
    step_.bytes.push_back(plan_.boundary[std::min(stage, to)]);
  }

  const PipelinePlan& plan_;
  int stages_;
  GraphBuilder builder_;
  PipelineStep step_;
  std::vector<std::vector<PipelineTask>> orders_;   // by stage
  std::vector<std::vector<std::int64_t>> arrived_;  // [stage][slot]: transfer, -1 none yet
  std::vector<std::int64_t> last_;                  // [stage]: last operation, -1 none yet
};

}  // namespace

std::vector<PipelineTask> pipeline_order(PipelineSchedule schedule, int stages, int stage,
                                         int micro_batches) {
  const int ahead = schedule == PipelineSchedule::kGpipe
                        ? micro_batches
                        : std::min(stages - 1 - stage, micro_batches);
  std::vector<PipelineTask> order;
  for (int i = 0; i < ahead; ++i) order.push_back({i, false});
  for (int i = ahead; i < micro_batches; ++i) {
    order.push_back({i, false});
    order.push_back({i - ahead, true});
  }
  if (schedule == PipelineSchedule::kGpipe) {
    for (int i = micro_batches; i-- > 0;) order.push_back({i, true});
  } else {
    for (int i = micro_batches - ahead; i < micro_batches; ++i) order.push_back({i, true});
  }
  return order;
}

PipelineStep build_pipeline(const PipelinePlan& plan) {
  const std::size_t stages = plan.forward.size();
  if (stages == 0 || plan.micro_batches < 1)
    throw SimError("build", "a pipeline", "it has no stage or no micro-batch");
  if (plan.backward.size() != stages || plan.update.size() != stages ||
      plan.boundary.size() + 1 != stages)
    throw SimError("build", "a pipeline", "its times and sizes are not those of its stages");
  return PipelineBuilder(plan).build();
}

int most_kept(const PipelineStep& step, const Timeline& timeline, int stage) {
  const GraphTemplate& graph = *step.graph;
  std::vector<std::pair<double, int>> changes;  // (time, +1 or -1)
  for (OpIndex op = 0; op < graph.size(); ++op) {
    if (graph.kind[op] != OpKind::kCompute || graph.worker[op] != stage) continue;
    const std::string& label = graph.labels[graph.label[op]];
    if (label == kForward) changes.emplace_back(timeline.ops[op].start.value(), 1);
    if (label == kBackward) changes.emplace_back(timeline.ops[op].end.value(), -1);
  }
  std::sort(changes.begin(), changes.end());  // at one instant what ends comes first
  int kept = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, kept += change);
  return most;
}

}  // namespace gradwire::sim
