#include "sim/graph/pipeline.h"

#include <algorithm>
#include <string>

#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr const char* kForward = "forward";
constexpr const char* kBackward = "backward";

bool is_one_of(const GraphTemplate& graph, OpIndex op, int host, const char* label) {
  return graph.kind[op] == OpKind::kCompute && graph.worker[op] == host &&
         graph.labels[graph.label[op]] == label;
}

/// Adds operations stage by stage as far as their inputs exist.
class PipelineBuilder {
 public:
  PipelineBuilder(GraphBuilder& builder, const PipelinePlan& plan, int first_host,
                  std::vector<Bytes>& bytes, std::vector<Seconds>& seconds)
      : plan_(plan),
        stages_(plan.forward.size()),
        first_host_(first_host),
        builder_(builder),
        bytes_(bytes),
        seconds_(seconds) {
    const std::size_t m = micro_batches();
    arrived_.assign(stages_, std::vector<std::optional<OpIndex>>(2 * m));
    last_.resize(stages_);
    passes_.first.resize(stages_);
    passes_.activations.assign(stages_ - 1, std::vector<PipelineMessage>(m));
    passes_.gradients = passes_.activations;
    for (std::size_t s = 0; s < stages_; ++s)
      orders_.push_back(pipeline_order(plan.schedule, static_cast<int>(stages_),
                                       static_cast<int>(s), plan.micro_batches));
  }

  PipelinePasses build() {
    std::vector<std::size_t> next(stages_, 0);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t s = 0; s < stages_; ++s) {
        while (next[s] < orders_[s].size() && may_start(s, orders_[s][next[s]])) {
          add(s, orders_[s][next[s]++]);
          more = true;
        }
      }
    }
    for (std::size_t s = 0; s < stages_; ++s) {
      GRADWIRE_ASSERT(next[s] == orders_[s].size());
      passes_.last.push_back(*last_[s]);
    }
    return std::move(passes_);
  }

 private:
  std::size_t micro_batches() const { return static_cast<std::size_t>(plan_.micro_batches); }
  std::size_t slot(const PipelineTask& task) const {
    return static_cast<std::size_t>(task.micro_batch) + (task.backward ? micro_batches() : 0);
  }
  int host(std::size_t stage) const { return first_host_ + static_cast<int>(stage); }
  /// Whether a task has its input from another stage: all but the first forward and last backward.
  bool has_input(std::size_t stage, const PipelineTask& task) const {
    return task.backward ? stage + 1 < stages_ : stage > 0;
  }
  bool may_start(std::size_t stage, const PipelineTask& task) const {
    return !has_input(stage, task) || arrived_[stage][slot(task)];
  }

  OpIndex add_operation(OpKind kind, Lane lane, std::size_t stage, const std::string& label,
                        Seconds time, const std::vector<OpIndex>& after) {
    seconds_.push_back(time);
    return builder_.add_operation(kind, lane, host(stage), label, after);
  }

  void add(std::size_t stage, const PipelineTask& task) {
    std::vector<OpIndex> after;
    if (last_[stage]) after.push_back(*last_[stage]);
    if (const auto input = arrived_[stage][slot(task)]) after.push_back(*input);
    const OpIndex op =
        add_operation(OpKind::kCompute, Lane::kCompute, stage, task.backward ? kBackward : kForward,
                      task.backward ? plan_.backward[stage] : plan_.forward[stage], after);
    if (!last_[stage]) passes_.first[stage] = op;
    last_[stage] = op;
    if (task.backward ? stage > 0 : stage + 1 < stages_) send(stage, task, op);
  }

  void send(std::size_t stage, const PipelineTask& task, OpIndex ready) {
    const std::size_t to = task.backward ? stage - 1 : stage + 1, boundary = std::min(stage, to);
    const std::string what = task.backward ? "activation gradients" : "activations";
    const auto& codings = task.backward ? plan_.gradient_coding : plan_.coding;
    const std::optional<PipelineCoding> coding = codings.empty() ? std::nullopt : codings[boundary];
    PipelineMessage message;
    if (coding)
      message.encode = ready = add_operation(OpKind::kEncode, Lane::kCodec, stage, "encode " + what,
                                             coding->encode, {ready});
    TransferMeaning meaning;
    meaning.buffer = task.micro_batch;
    message.transfer = ready =
        builder_.add_transfer(host(stage), host(to), what, meaning, std::vector<OpIndex>{ready});
    seconds_.emplace_back(0);
    const bool own = task.backward && !plan_.gradients.empty();
    bytes_.push_back(own ? plan_.gradients[boundary] : plan_.boundary[boundary]);
    if (coding)
      message.decode = ready = add_operation(OpKind::kDecode, Lane::kCodec, to, "decode " + what,
                                             coding->decode, {ready});
    arrived_[to][slot(task)] = ready;
    auto& messages = task.backward ? passes_.gradients : passes_.activations;
    messages[boundary][static_cast<std::size_t>(task.micro_batch)] = message;
  }

  const PipelinePlan& plan_;
  std::size_t stages_;
  int first_host_;
  GraphBuilder& builder_;
  std::vector<Bytes>& bytes_;
  std::vector<Seconds>& seconds_;
  PipelinePasses passes_;
  std::vector<std::vector<PipelineTask>> orders_;             // by stage
  std::vector<std::vector<std::optional<OpIndex>>> arrived_;  // [stage][slot]
  std::vector<std::optional<OpIndex>> last_;                  // [stage]: last pass
};

void check(const PipelinePlan& plan) {
  const std::size_t stages = plan.forward.size();
  if (stages == 0 || plan.micro_batches < 1)
    throw SimError("build", "a pipeline", "it has no stage or no micro-batch");
  const auto fits = [&](const auto& list, bool may_be_empty) {
    return list.size() + 1 == stages || (may_be_empty && list.empty());
  };
  if (plan.backward.size() != stages || plan.update.size() != stages ||
      !fits(plan.boundary, false) || !fits(plan.gradients, true) || !fits(plan.coding, true) ||
      !fits(plan.gradient_coding, true))
    throw SimError("build", "a pipeline", "its times and sizes are not those of its stages");
}

/// The transfer that a pass waited for, if it did; straight or by way of its decoding.
std::optional<OpIndex> awaited(const GraphTemplate& graph, OpIndex pass) {
  for (const OpIndex op : graph.dependencies(pass)) {
    if (graph.kind[op] == OpKind::kTransfer) return op;
    if (graph.kind[op] == OpKind::kDecode) return awaited(graph, op);
  }
  return std::nullopt;
}

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

PipelinePasses add_pipeline(GraphBuilder& builder, const PipelinePlan& plan, int first_host,
                            std::vector<Bytes>& bytes, std::vector<Seconds>& seconds) {
  check(plan);
  return PipelineBuilder(builder, plan, first_host, bytes, seconds).build();
}

PipelineStep build_pipeline(const PipelinePlan& plan) {
  GraphBuilder builder;
  PipelineStep step;
  static_cast<PipelinePasses&>(step) = add_pipeline(builder, plan, 0, step.bytes, step.seconds);
  for (std::size_t s = 0; s < step.last.size(); ++s) {
    step.update.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute,
                                                static_cast<int>(s), "update", {&step.last[s], 1}));
    step.seconds.push_back(plan.update[s]);
  }
  step.graph = builder.finish();
  return step;
}

int most_kept(const GraphTemplate& graph, const Timeline& timeline, int host) {
  std::vector<std::pair<double, int>> changes;  // (time, +1 or -1)
  for (OpIndex op = 0; op < graph.size(); ++op) {
    if (is_one_of(graph, op, host, kForward))
      changes.emplace_back(timeline.ops[op].start.value(), 1);
    if (is_one_of(graph, op, host, kBackward))
      changes.emplace_back(timeline.ops[op].end.value(), -1);
  }
  std::sort(changes.begin(), changes.end());  // at one instant what ends comes first
  int kept = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, kept += change);
  return most;
}

Seconds exposed_transfer(const GraphTemplate& graph, const Timeline& timeline, int host) {
  Seconds exposed{0}, idle_since{0};
  for (OpIndex op = 0; op < graph.size(); ++op) {  // in the order in which they follow one another
    if (!is_one_of(graph, op, host, kForward) && !is_one_of(graph, op, host, kBackward)) continue;
    if (const auto transfer = awaited(graph, op)) {
      const Seconds from = std::max(idle_since, timeline.ops[*transfer].start);
      const Seconds to = std::min(timeline.ops[op].start, timeline.ops[*transfer].end);
      exposed += std::max(Seconds(0), to - from);
    }
    idle_since = timeline.ops[op].end;
  }
  return exposed;
}

}  // namespace gradwire::sim
