#include "trainers/replays/recorded_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"

namespace gradwire::trainers {
namespace {

using bridge::Call;
using bridge::CallKind;
using bridge::Event;
using bridge::Operation;
using sim::OpIndex;

using RecordedOps = std::vector<RecordedOp>;

int member_of(const Operation& operation, int rank) {
  return static_cast<int>(std::ranges::find(operation.members, rank) - operation.members.begin());
}

/// Whether every rank sends each of the others as much.
bool is_even(const Operation& operation) {
  return std::ranges::all_of(operation.calls, [](const auto& call) {
    return std::ranges::all_of(call->parts,
                               [&](std::int64_t part) { return part == call->parts.front(); });
  });
}

}  // namespace

/// One step's graph while it is drawn.
class RecordedGraph::Drawing {
 public:
  explicit Drawing(std::int64_t step) : step_(step) {}

  RecordedOp add_compute(int rank, int lane, Seconds seconds, const RecordedOps& after) {
    const sim::Lane of_rank = lane == Event::kNoLane ? sim::Lane::kNone
                              : lane == 0            ? sim::Lane::kCompute
                                                     : sim::Lane::kHost;
    return added(
        builder_.add_operation(sim::OpKind::kCompute, of_rank, rank, "compute", own(after)),
        seconds, after);
  }

  /// Takes no time: what follows it on `rank` waits for all of `after`.
  RecordedOp add_joint(int rank, std::string_view label, const RecordedOps& after) {
    return added(
        builder_.add_operation(sim::OpKind::kCompute, sim::Lane::kNone, rank, label, own(after)),
        Seconds(0), after);
  }

  RecordedOp add_transfer(int source, int destination, Bytes bytes, std::string_view label,
                          const RecordedOps& after) {
    const OpIndex op = builder_.add_transfer(source, destination, label, {}, own(after));
    step_made_.bytes.push_back(bytes);
    step_made_.payload += bytes;
    return added(op, Seconds(0), after);
  }

  RecordedOp add_collective(sim::CollectiveSpec spec, const std::vector<Bytes>& bytes,
                            std::string_view label, const RecordedOps& after) {
    step_made_.payload += sim::total_payload(spec, bytes);
    step_made_.bytes.insert(step_made_.bytes.end(), bytes.begin(), bytes.end());
    return added(builder_.add_collective(std::move(spec), label, own(after)), Seconds(0), after);
  }

  RecordedStep finish() {
    step_made_.graph = builder_.finish();
    return std::move(step_made_);
  }

 private:
  /// Those of this step, each once.
  std::vector<OpIndex> own(const RecordedOps& after) const {
    std::vector<OpIndex> ops;
    for (const RecordedOp& from : after)
      if (from.step == step_) ops.push_back(from.op);
    std::ranges::sort(ops);
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return ops;
  }

  RecordedOp added(OpIndex op, Seconds seconds, const RecordedOps& after) {
    step_made_.seconds.push_back(seconds);
    for (const RecordedOp& from : after)
      if (from.step != step_) step_made_.after.push_back({from, op});
    return {step_, op};
  }

  std::int64_t step_;
  sim::GraphBuilder builder_;
  RecordedStep step_made_;
};

namespace {

/// What an operation does on the network, by its first call.
struct Drawn {
  std::vector<RecordedOps> done;  ///< by member
};

/// A collective of the generators, if the operation is one.
struct Planned {
  sim::CollectiveSpec spec;
  std::vector<Bytes> bytes;
};

sim::CollectiveKind kind_of(CallKind kind) {
  switch (kind) {
    case CallKind::kAllGather:
      return sim::CollectiveKind::kRingAllGather;
    case CallKind::kReduceScatter:
      return sim::CollectiveKind::kRingReduceScatter;
    case CallKind::kBroadcast:
      return sim::CollectiveKind::kTreeBroadcast;
    case CallKind::kAllToAll:
      return sim::CollectiveKind::kAllToAll;
    case CallKind::kBarrier:
      return sim::CollectiveKind::kTreeAllReduce;
    default:
      return sim::CollectiveKind::kRingAllReduce;
  }
}

Planned plan_collective(const Operation& operation, RecordedGraph::Backend backend) {
  const Call& call = *operation.calls.front();
  Planned planned;
  sim::CollectiveSpec& spec = planned.spec;
  const bool whole =
      backend == RecordedGraph::Backend::kGloo && call.kind == CallKind::kReduceScatter;
  spec.kind = kind_of(whole ? CallKind::kAllReduce : call.kind);
  spec.members.assign(operation.members.begin(), operation.members.end());
  if (call.kind == CallKind::kBroadcast) {  // from its rank 0
    const auto root = std::ranges::find(spec.members, call.peer);
    std::rotate(spec.members.begin(), root, spec.members.end());
  }
  spec.elements = call.kind == CallKind::kBarrier ? 1 : call.elements;
  spec.width_bits = {
      static_cast<std::uint8_t>(call.kind == CallKind::kBarrier ? 8 : 8 * call.width)};
  planned.bytes.assign(spec.byte_slots(), call.bytes());
  return planned;
}

bool is_collective(const Operation& operation) {
  switch (operation.calls.front()->kind) {
    case CallKind::kReduce:
    case CallKind::kGather:
    case CallKind::kScatter:
    case CallKind::kSend:
    case CallKind::kReceive:
      return false;
    case CallKind::kAllToAll:
      return is_even(operation);
    default:
      return true;
  }
}

RecordedOps joined(RecordedOps a, const RecordedOps& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

RecordedGraph::RecordedGraph(const RecordedSteps& steps, Backend backend)
    : steps_(steps),
      backend_(backend),
      ranks_(static_cast<std::size_t>(steps.recording().header.world)) {
  const auto& events = steps.recording().events;
  for (const auto& of_rank : events)
    laned_ = laned_ || std::ranges::any_of(of_rank, [](const Event& e) { return e.lane != 0; });
  for (std::size_t rank = 0; laned_ && rank < ranks_.size(); ++rank)
    ranks_[rank].ended.resize(events[rank].size());
}

RecordedStep RecordedGraph::next() {
  Drawing drawing(step_);
  bool moved = true;
  while (moved) {
    moved = false;
    for (int rank = 0; rank < steps_.recording().header.world; ++rank)
      while (advance(rank, drawing)) moved = true;
  }
  for (int rank = 0; rank < steps_.recording().header.world; ++rank)
    if (ranks_[static_cast<std::size_t>(rank)].event < steps_.end(step_, rank))
      throw Error(ErrorKind::kScenario, "replay", "a recording",
                  "its ranks wait for each other in a circle in step " + std::to_string(step_ + 1));
  ++step_;
  return drawing.finish();
}

namespace {

/// What an event that cannot come yet holds back: those behind it on its lane, and calls of its
/// group.
class Held {
 public:
  void add(const Event& event) {
    if (event.lane != Event::kNoLane) lanes_.insert(event.lane);
    if (event.kind == Event::Kind::kCall) groups_.insert(event.call.group);
  }
  bool holds(const Event& event) const {
    return lanes_.contains(event.lane) ||
           (event.kind == Event::Kind::kCall && groups_.contains(event.call.group));
  }

 private:
  std::set<int> lanes_;
  std::set<std::string> groups_;
};

}  // namespace

/// Takes the rank's events that are left in this step, as far as what they wait for is drawn; says
/// whether there was one.
bool RecordedGraph::advance(int rank, Drawing& drawing) {
  Rank& at = ranks_[static_cast<std::size_t>(rank)];
  const std::size_t end = steps_.end(step_, rank);
  const auto& events = steps_.recording().events[static_cast<std::size_t>(rank)];
  Held held;
  bool moved = false;
  for (std::size_t i = at.event; i < end; ++i) {
    if (at.has_come(i)) continue;
    if (!held.holds(events[i]) && can_come(rank, i)) {
      take(rank, i, drawing);
      moved = true;
    } else if (laned_) {
      held.add(events[i]);
    } else {
      break;
    }
    while (at.event < end && at.has_come(at.event)) ++at.event;
  }
  return moved;
}

bool RecordedGraph::can_come(int rank, std::size_t i) {
  const Event& event = steps_.recording().events[static_cast<std::size_t>(rank)][i];
  const Rank& at = ranks_[static_cast<std::size_t>(rank)];
  return std::ranges::all_of(event.waited,
                             [&](std::int64_t call) {
                               return started_[steps_.order().operation_of(rank, call)].drawn;
                             }) &&
         std::ranges::all_of(event.after, [&](std::size_t e) { return at.has_come(e); });
}

/// What an event waits for comes behind what it computes, unless it computes nothing, on no lane.
void RecordedGraph::take(int rank, std::size_t i, Drawing& drawing) {
  const Event& event = steps_.recording().events[static_cast<std::size_t>(rank)][i];
  Rank& at = ranks_[static_cast<std::size_t>(rank)];
  RecordedOps waits;
  for (const std::int64_t call : event.waited) {
    const std::size_t operation = steps_.order().operation_of(rank, call);
    const int member = member_of(steps_.order().operations()[operation], rank);
    waits = joined(std::move(waits), started_[operation].done[static_cast<std::size_t>(member)]);
  }
  for (const std::size_t before : event.after) waits = joined(std::move(waits), at.ended[before]);
  const bool free = event.lane == Event::kNoLane;
  RecordedOps& frontier = at.frontier[event.lane];
  const RecordedOp op =
      drawing.add_compute(rank, event.lane, event.compute, free ? waits : frontier);
  RecordedOps ended = free ? RecordedOps{op} : joined({op}, waits);
  if (!free) frontier = ended;
  if (laned_)
    at.ended[i] = std::move(ended);
  else
    ++at.event;
  if (event.kind == Event::Kind::kCall) call(rank, event, op.op, drawing);
}

void RecordedGraph::call(int rank, const Event& event, OpIndex op, Drawing& drawing) {
  const std::size_t index = steps_.order().operation_of(rank, event.call.number);
  const Operation& operation = steps_.order().operations()[index];
  Started& started = started_[index];
  started.ready.resize(operation.members.size(), {-1, 0});
  started.ready[static_cast<std::size_t>(member_of(operation, rank))] = {step_, op};
  const bool all = std::ranges::all_of(started.ready, [](const auto& r) { return r.step >= 0; });
  if (all) draw(index, drawing);
}

namespace {

/// Messages between pairs of members: each member is done when its own are.
struct Message {
  int source = 0, destination = 0;  ///< members
  Bytes bytes{0};
  bool passes_on = false;  ///< the source waits for what comes to it first
};

/// Along a binomial tree whose root is `root`: member m of it sends to m less its lowest bit, when
/// its own children have sent.
void add_reduce(int n, int root, Bytes bytes, std::vector<Message>& messages) {
  for (int bit = 1; bit < n; bit *= 2)
    for (int m = bit; m < n; m += 2 * bit)
      messages.push_back({(m + root) % n, (m - bit + root) % n, bytes, true});
}

std::vector<Message> messages_of(const Operation& operation) {
  const Call& call = *operation.calls.front();
  const int n = static_cast<int>(operation.members.size());
  std::vector<Message> messages;
  if (bridge::is_point_to_point(call.kind)) {
    messages.push_back({0, 1, call.bytes()});
    return messages;
  }
  if (call.kind == CallKind::kAllToAll) {
    for (int round = 1; round < n; ++round)
      for (int m = 0; m < n; ++m) {
        const Call& own = *operation.calls[static_cast<std::size_t>(m)];
        const int to = (m + round) % n;
        const std::int64_t part = own.parts[static_cast<std::size_t>(to)];
        messages.push_back({m, to, Bytes(part * own.width)});
      }
    return messages;
  }
  const int root = member_of(operation, call.peer);
  if (call.kind == CallKind::kReduce) add_reduce(n, root, call.bytes(), messages);
  for (int m = 0; m < n && call.kind != CallKind::kReduce; ++m) {
    if (m == root) continue;
    const bool gathers = call.kind == CallKind::kGather;
    messages.push_back({gathers ? m : root, gathers ? root : m, call.bytes()});
  }
  return messages;
}

}  // namespace

void RecordedGraph::draw(std::size_t index, Drawing& drawing) {
  const Operation& operation = steps_.order().operations()[index];
  const Call& call = *operation.calls.front();
  const std::string_view label = bridge::is_point_to_point(call.kind) ? "send" : name_of(call.kind);
  const std::size_t n = operation.members.size();
  Started& started = started_[index];
  started.drawn = true;
  auto& last = last_of_group_[call.group];
  const bool in_order = !bridge::is_point_to_point(call.kind);
  if (in_order) last.resize(n);
  // By member: what it has to have done before its part begins.
  std::vector<RecordedOps> before(n);
  for (std::size_t m = 0; m < n; ++m)
    before[m] = in_order ? joined({started.ready[m]}, last[m]) : RecordedOps{started.ready[m]};
  started.done.resize(n);
  if (n == 1) {
    started.done = before;
  } else if (is_collective(operation)) {
    Planned planned = plan_collective(operation, backend_);
    RecordedOps all;
    for (const RecordedOps& each : before) all = joined(std::move(all), each);
    const RecordedOp op =
        drawing.add_collective(std::move(planned.spec), planned.bytes, label, all);
    for (RecordedOps& done : started.done) done = {op};
  } else {
    std::vector<RecordedOps> own(n), come(n);
    for (const Message& message : messages_of(operation)) {
      const auto source = static_cast<std::size_t>(message.source);
      const auto destination = static_cast<std::size_t>(message.destination);
      RecordedOps after = before[source];
      if (message.passes_on) after = joined(std::move(after), come[source]);
      const RecordedOp op = drawing.add_transfer(
          operation.members[source], operation.members[destination], message.bytes, label, after);
      own[source].push_back(op);
      own[destination].push_back(op);
      come[destination].push_back(op);
    }
    for (std::size_t m = 0; m < n; ++m)
      started.done[m] = {
          drawing.add_joint(operation.members[m], label, joined(std::move(own[m]), before[m]))};
  }
  if (in_order) last = started.done;
}

}  // namespace gradwire::trainers
