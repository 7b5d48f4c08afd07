#include "sim/graph/interpreter.h"
#include "trainers/routes/movers.h"
#include "trainers/schedules/asynchronous/asynchronous_trainer.h"
#include "trainers/schedules/work_builder.h"

/// The graphs of an asynchronous worker's trip, and what its messages hold.
namespace gradwire::trainers {

using sim::Lane;
using sim::OpIndex;
using sim::OpKind;

namespace {

/// Keeps what the server sends the one member of a pull.
class PullKeeper final : public sim::DataHandler {
 public:
  PullKeeper(std::span<const std::byte> model, sim::Payloads& kept) : model_(model), kept_(kept) {}
  std::span<const std::byte> send(int, OpIndex, const sim::HopTransfer&, sim::ChunkRange) override {
    return model_;
  }
  void receive(int, OpIndex op, const sim::HopTransfer& hop, sim::ChunkRange,
               std::span<const std::byte> payload) override {
    kept_.add(op, hop, payload);
  }

 private:
  std::span<const std::byte> model_;
  sim::Payloads& kept_;
};

}  // namespace

AsynchronousTrainer::Graphs& AsynchronousTrainer::graphs_of(int worker) {
  auto& graphs = graphs_[static_cast<std::size_t>(worker)];
  if (!graphs) graphs = make_graphs(worker);
  return *graphs;
}

AsynchronousTrainer::Graphs AsynchronousTrainer::make_graphs(int worker) const {
  const scenarios::ComputeProfile& profile = learner_.profile();
  const double factor = learner_.scenario().cluster.slowdown[static_cast<std::size_t>(worker)];
  Graphs graphs;
  WorkBuilder compute, send;
  const Bytes model = up_.plain_bytes();
  sim::CollectiveSpec pull =
      collective_spec(sim::CollectiveKind::kPull, 1, learner_.layout().elements(), 0);
  pull.members = {worker};
  pull.server = server();
  OpIndex last = graphs.pull = compute.collective(pull, "pull", {&model, 1});
  const auto pass = [&](const std::string& label, Seconds time) {
    last =
        compute.operation(OpKind::kCompute, Lane::kCompute, worker, label, time * factor, {last});
  };
  pass("forward", profile.forward);
  std::vector<OpIndex> added, before;
  for (std::size_t b = 0; b < profile.buckets.size(); ++b) {
    const scenarios::ComputeProfile::Bucket& bucket = profile.buckets[b];
    const std::string name = " b" + std::to_string(b);
    pass("backward" + name, bucket.backward);
    graphs.backward.push_back(last);
    // Messages leave one after the other.
    if (!up_.plain()) {
      graphs.first.push_back(send.operation(OpKind::kEncode, Lane::kCodec, worker, "encode" + name,
                                            bucket.encode * factor));
      before.push_back(graphs.first.back());
    }
    before = {send.transfer(worker, server(), "push" + name, Bytes(0), before)};
    graphs.push.push_back(before.front());
    if (up_.plain()) graphs.first.push_back(before.front());
    added.push_back(send.operation(OpKind::kAggregate, Lane::kCodec, server(), "aggregate" + name,
                                   bucket.aggregate, before));
  }
  send.operation(OpKind::kCompute, Lane::kCompute, server(), "update", profile.update, added);
  graphs.compute = compute.finish();
  graphs.send = send.finish();
  return graphs;
}

sim::OpIndex AsynchronousTrainer::trigger(int worker) {
  const Graphs& graphs = graphs_of(worker);
  return learner_.scenario().exchange.overlap ? graphs.backward.front() : graphs.backward.back();
}

Seconds AsynchronousTrainer::time_to_trigger(int worker) {
  const scenarios::Work& passes = graphs_of(worker).compute;
  Seconds time{0};
  for (OpIndex op = 0; op <= trigger(worker); ++op) time += passes.seconds[op];
  return time;
}

scenarios::Work AsynchronousTrainer::pull_and_passes(int worker) {
  const Graphs& graphs = graphs_of(worker);
  scenarios::Work work = graphs.compute;
  if (!keeps_payloads_) return work;
  const auto payloads = std::make_shared<sim::Payloads>();
  PullKeeper keeper(std::as_bytes(std::span<const float>(at(worker).values)), *payloads);
  sim::interpret(*work.graph, graphs.pull, work.bytes, keeper);
  work.payloads = payloads;
  return work;
}

scenarios::Work AsynchronousTrainer::messages_and_update(int worker) {
  const Graphs& graphs = graphs_of(worker);
  const Worker& own = at(worker);
  scenarios::Work work = graphs.send;
  const auto payloads = keeps_payloads_ ? std::make_shared<sim::Payloads>() : nullptr;
  std::span<const std::byte> rest = own.message;
  for (std::size_t b = 0; b < graphs.first.size(); ++b) {
    const Bytes size = work.bytes[b] = own.messages[b];
    const bool overlap = learner_.scenario().exchange.overlap;
    const OpIndex ready = overlap ? graphs.backward[b] : graphs.backward.back();
    work.after.push_back({{own.computing, ready}, graphs.first[b]});
    if (!payloads) continue;
    const auto count = static_cast<std::size_t>(size.count());
    payloads->add(graphs.push[b], rest.first(count));
    rest = rest.subspan(count);
  }
  work.payloads = payloads;
  return work;
}

}  // namespace gradwire::trainers
