#include "trainers/schedules/pipeline/pipeline_graph.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/graph/payloads.h"

namespace gradwire::trainers {
namespace {

using sim::OpIndex;

/// Of each bucket, which never has tensors of two stages.
std::vector<std::size_t> stages_of_buckets(const StageCut& cut, const Layout& layout) {
  std::vector<std::size_t> stages;
  for (const BucketSlot& bucket : layout.buckets())
    stages.push_back(
        cut.stage_of[static_cast<std::size_t>(layout.tensors()[bucket.first_tensor].parameter)]);
  return stages;
}

std::vector<double> shares(const std::vector<std::size_t>& stage_of_bucket, std::size_t stages,
                           const Layout& layout) {
  std::vector<double> shares(stages, 0.0);
  for (std::size_t b = 0; b < stage_of_bucket.size(); ++b)
    shares[stage_of_bucket[b]] +=
        static_cast<double>(layout.buckets()[b].count) / static_cast<double>(layout.elements());
  return shares;
}

sim::CollectiveSpec among_stage(sim::CollectiveSpec spec, const StageCut& cut, int stage) {
  for (std::int32_t& member : spec.members) member = cut.host(member, stage);
  if (spec.server >= 0) spec.server = cut.host(spec.server, stage);
  return spec;
}

void sort_without_repeats(std::vector<OpIndex>& ops) {
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
}

}  // namespace

StageTimes stage_times(const scenarios::ComputeProfile& profile, const StageCut& cut,
                       const Layout& layout) {
  const std::vector<std::size_t> stage_of = stages_of_buckets(cut, layout);
  const std::vector<double> elements = shares(stage_of, cut.ends.size(), layout);
  StageTimes times;
  times.backward.assign(cut.ends.size(), Seconds(0));
  double all = 0;
  for (std::size_t b = 0; b < stage_of.size(); ++b) {
    times.backward[stage_of[b]] += profile.buckets[b].backward;
    all += profile.buckets[b].backward.value();
  }
  for (std::size_t s = 0; s < cut.ends.size(); ++s)
    times.forward.push_back(profile.forward *
                            (all > 0 ? times.backward[s].value() / all : elements[s]));
  return times;
}

PipelineGraph::PipelineGraph(const scenarios::Scenario& scenario, const StageCut& cut,
                             const Layout& layout, const Exchange& exchange,
                             const StepTemplate& among_replicas,
                             const scenarios::ComputeProfile& profile, const BoundaryTimes& times)
    : cut_(cut),
      layout_(layout),
      among_replicas_(among_replicas),
      slowdown_(scenario.cluster.slowdown),
      stage_of_bucket_(stages_of_buckets(cut, layout)) {
  share_ = shares(stage_of_bucket_, cut.ends.size(), layout);
  slowdown_.resize(static_cast<std::size_t>(cut.workers()), 1.0);
  sim::GraphBuilder builder;
  for (int r = 0; r < cut.replicas; ++r) {
    passes_.push_back(sim::add_pipeline(builder, plan_of(scenario, r, profile, times),
                                        cut.host(r, 0), bytes_, seconds_));
    for (const OpIndex last : passes_.back().last) ready_.push_back({last});
  }
  const std::vector<double> alike(static_cast<std::size_t>(cut.replicas), 1.0);
  if (cut.replicas > 1) add_exchange(builder, exchange, among_replicas.seconds(profile, alike));
  add_updates(builder, profile);
  graph_ = builder.finish();
}

sim::PipelinePlan PipelineGraph::plan_of(const scenarios::Scenario& scenario, int replica,
                                         const scenarios::ComputeProfile& profile,
                                         const BoundaryTimes& times) const {
  sim::PipelinePlan plan;
  plan.schedule = scenario.schedule.order == "1f1b" ? sim::PipelineSchedule::kOneForwardOneBackward
                                                    : sim::PipelineSchedule::kGpipe;
  plan.micro_batches = scenario.workload.micro_batches;
  const auto factor = [&](std::size_t stage) {
    return slowdown_[static_cast<std::size_t>(cut_.host(replica, static_cast<int>(stage)))];
  };
  const StageTimes own = stage_times(profile, cut_, layout_);
  for (std::size_t s = 0; s < cut_.ends.size(); ++s) {
    plan.forward.push_back(own.forward[s] * factor(s));
    plan.backward.push_back(own.backward[s] * factor(s));
    plan.update.emplace_back(0);  // its own operation comes after the exchange
  }
  plan.boundary.assign(cut_.ends.size() - 1, Bytes(0));
  const auto coding = [&](bool back) {
    auto codings = times[back ? 1 : 0];
    for (std::size_t b = 0; b < codings.size(); ++b)
      if (codings[b])
        codings[b] = sim::PipelineCoding{codings[b]->encode * factor(back ? b + 1 : b),
                                         codings[b]->decode * factor(back ? b : b + 1)};
    return codings;
  };
  plan.coding = coding(false);
  plan.gradient_coding = coding(true);
  return plan;
}

/// The buckets' stages one after the other, as StepTemplate has them; the collectives of a stage of
/// the pipeline follow one another, and nobody else's.
void PipelineGraph::add_exchange(sim::GraphBuilder& builder, const Exchange& exchange,
                                 std::span<const Seconds> seconds) {
  std::vector<std::vector<OpIndex>> communicated(cut_.ends.size());  // by stage, its last one
  const std::vector<std::vector<OpIndex>> passed = std::exchange(
      ready_, std::vector<std::vector<OpIndex>>(static_cast<std::size_t>(cut_.workers())));
  for (std::size_t b = 0; b < stage_of_bucket_.size(); ++b) {
    const auto stage = static_cast<int>(stage_of_bucket_[b]);
    Ends previous;
    for (int r = 0; r < cut_.replicas; ++r)
      previous.push_back(passed[static_cast<std::size_t>(cut_.host(r, stage))]);
    std::vector<OpIndex>& last = communicated[stage_of_bucket_[b]];
    const std::vector<Stage> stages = exchange.stages(b, Seconds(0));
    for (std::size_t k = 0; k < stages.size(); ++k) {
      const std::string label = stages[k].label + " b" + std::to_string(b);
      const OpIndex from = among_replicas_.collective(b, k);
      if (stages[k].kind == StageKind::kWorker)
        add_coding(builder, stages[k].op, label, stage, from, seconds, previous);
      else
        add_collectives(builder, stages[k].kind, label, stage, from, seconds, previous, last);
    }
    for (int r = 0; r < cut_.replicas; ++r) {
      const std::vector<OpIndex>& own = previous[static_cast<std::size_t>(r)];
      std::vector<OpIndex>& ready = ready_[static_cast<std::size_t>(cut_.host(r, stage))];
      ready.insert(ready.end(), own.begin(), own.end());
    }
  }
}

void PipelineGraph::add_coding(sim::GraphBuilder& builder, sim::OpKind kind,
                               const std::string& label, int stage, OpIndex from,
                               std::span<const Seconds> seconds, Ends& previous) {
  for (int r = 0; r < cut_.replicas; ++r) {
    std::vector<OpIndex>& own = previous[static_cast<std::size_t>(r)];
    const int host = cut_.host(r, stage);
    own = {builder.add_operation(kind, sim::Lane::kCodec, host, label, own)};
    seconds_.push_back(seconds[from + static_cast<OpIndex>(r)] *
                       slowdown_[static_cast<std::size_t>(host)]);
  }
}

/// One among all, or a push to each replica from all others.
void PipelineGraph::add_collectives(sim::GraphBuilder& builder, StageKind kind,
                                    const std::string& label, int stage, OpIndex from,
                                    std::span<const Seconds> seconds, Ends& previous,
                                    std::vector<OpIndex>& last) {
  GRADWIRE_ASSERT(kind == StageKind::kCollective || kind == StageKind::kScatter);
  std::vector<OpIndex> after = last;
  for (const std::vector<OpIndex>& own : previous)
    after.insert(after.end(), own.begin(), own.end());
  sort_without_repeats(after);
  last.clear();
  const bool scatters = kind == StageKind::kScatter;
  const sim::GraphTemplate& given = *among_replicas_.graph();
  for (int owner = 0; owner < (scatters ? cut_.replicas : 1); ++owner) {
    const OpIndex one = from + static_cast<OpIndex>(owner);
    // The template's own, which says how hops are paced.
    const auto& spec = given.collectives[static_cast<std::size_t>(given.peer[one])];
    const OpIndex op = builder.add_collective(among_stage(spec, cut_, stage), label, after);
    seconds_.push_back(seconds[one]);
    bytes_.resize(bytes_.size() + spec.byte_slots(), Bytes(0));
    copied_.push_back({one, op});
    last.push_back(op);
    if (scatters) previous[static_cast<std::size_t>(owner)].push_back(op);
  }
  if (!scatters) std::ranges::fill(previous, last);
}

void PipelineGraph::add_updates(sim::GraphBuilder& builder,
                                const scenarios::ComputeProfile& profile) {
  for (int w = 0; w < cut_.workers(); ++w) {
    const auto worker = static_cast<std::size_t>(w);
    std::vector<OpIndex>& after = ready_[worker];
    sort_without_repeats(after);
    update_.push_back(
        builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, w, "update", after));
    seconds_.push_back(profile.update * share_[worker % cut_.ends.size()] * slowdown_[worker]);
  }
}

const sim::PipelineMessage& PipelineGraph::place_of(const BoundaryMessage& message) const {
  const sim::PipelinePasses& passes = passes_[message.replica];
  const auto& all = message.back ? passes.gradients : passes.activations;
  return all[message.boundary][message.micro_batch];
}

void PipelineGraph::fill(std::span<const BoundaryMessage> messages,
                         std::span<const Bytes> exchanged, const sim::Payloads* kept,
                         scenarios::Work& work) const {
  work.graph = graph_;
  work.bytes = bytes_;
  work.seconds = seconds_;
  for (const BoundaryMessage& message : messages) {
    const sim::PipelineMessage& own = place_of(message);
    work.bytes[graph_->bytes_begin[own.transfer]] = message.bytes;
    for (const auto op : {own.encode, own.decode})
      if (op) work.seconds[*op] = seconds_[*op] * message.encoded;
  }
  const sim::GraphTemplate& from = *among_replicas_.graph();
  for (const Copied& op : copied_)
    std::copy(exchanged.begin() + from.bytes_begin[op.from],
              exchanged.begin() + from.bytes_begin[op.from + 1],
              work.bytes.begin() + graph_->bytes_begin[op.to]);
  if (kept) work.payloads = payloads(messages, *kept);
}

std::shared_ptr<const sim::Payloads> PipelineGraph::payloads(
    std::span<const BoundaryMessage> messages, const sim::Payloads& exchanged) const {
  const auto payloads = std::make_shared<sim::Payloads>();
  for (const BoundaryMessage& message : messages)
    payloads->add(place_of(message).transfer, message.content);
  std::map<OpIndex, OpIndex> copies;
  for (const Copied& op : copied_) copies[op.from] = op.to;
  for (const sim::Payloads::Message& message : exchanged.messages()) {
    const auto size = static_cast<std::size_t>(message.hop.bytes.count());
    payloads->add(copies.at(message.op), message.hop,
                  exchanged.bytes().subspan(message.offset, size));
  }
  return payloads;
}

std::vector<sim::CrossEdge> PipelineGraph::edges_from(std::optional<sim::GraphId> last) const {
  std::vector<sim::CrossEdge> edges;
  for (int w = 0; last && w < cut_.workers(); ++w) {
    const auto worker = static_cast<std::size_t>(w);
    const std::size_t stages = cut_.ends.size();
    edges.push_back({{*last, update_[worker]}, passes_[worker / stages].first[worker % stages]});
  }
  return edges;
}

}  // namespace gradwire::trainers
