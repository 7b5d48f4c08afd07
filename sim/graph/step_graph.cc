#include "sim/graph/step_graph.h"

#include <algorithm>
#include <utility>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {
namespace {

[[noreturn]] void refuse(OpIndex op, std::string_view label, std::string_view reason) {
  throw SimError(
      "build", "operation " + std::to_string(op) + " (" + std::string(label) + ") of a step graph",
      reason);
}

void check_collective(OpIndex op, std::string_view label, const CollectiveSpec& spec) {
  if (spec.members.empty()) refuse(op, label, "the collective has no members");
  std::vector<std::int32_t> hosts = spec.members;
  if (spec.kind->has_server()) hosts.push_back(spec.server);
  std::sort(hosts.begin(), hosts.end());
  if (hosts.front() < 0) refuse(op, label, "a member, or the server, is not a host");
  if (std::adjacent_find(hosts.begin(), hosts.end()) != hosts.end()) {
    refuse(op, label, "a host takes part twice");
  }
  if (spec.group < 1) refuse(op, label, "a group has no rank");
  if (spec.window < 0) refuse(op, label, "its window is negative");
  const char* const problem = spec.kind->problem ? spec.kind->problem(spec) : nullptr;
  if (problem) refuse(op, label, problem);
  if (spec.elements < 0) refuse(op, label, "it has fewer than no elements");
  if (spec.width_bits.empty()) refuse(op, label, "it has no width");
  for (const std::uint8_t bits : spec.width_bits) {
    if (bits < 1 || bits > 64) refuse(op, label, "a width is not in 1..64 bits");
  }
  if (!(spec.hop_fixed.value() >= 0) || !(spec.hop_per_element.value() >= 0)) {
    refuse(op, label, "its time per hop is negative");
  }
}

}  // namespace

std::string_view name_of(OpKind kind) {
  constexpr std::string_view kNames[] = {"compute",   "encode",   "decode",
                                         "aggregate", "transfer", "collective"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Lane lane) {
  constexpr std::string_view kNames[] = {"none", "compute", "codec", "host"};
  return kNames[static_cast<std::size_t>(lane)];
}

OpIndex GraphBuilder::add_operation(OpKind kind, Lane lane, int worker, std::string_view label,
                                    std::span<const OpIndex> after) {
  const auto op = static_cast<OpIndex>(graph_->size());
  if (kind == OpKind::kTransfer || kind == OpKind::kCollective) {
    refuse(op, label, "transfers and collectives have calls of their own");
  }
  if (worker < 0) refuse(op, label, "its worker is not a host");
  return append(kind, lane, worker, -1, label, 0, after);
}

OpIndex GraphBuilder::add_transfer(int source, int destination, std::string_view label,
                                   const TransferMeaning& meaning, std::span<const OpIndex> after) {
  const auto op = static_cast<OpIndex>(graph_->size());
  if (source < 0 || destination < 0) refuse(op, label, "its source or destination is not a host");
  if (source == destination) refuse(op, label, "it sends to its own host");
  append(OpKind::kTransfer, Lane::kNone, source, destination, label, 1, after);
  graph_->meaning.back() = meaning;
  return op;
}

OpIndex GraphBuilder::add_collective(CollectiveSpec spec, std::string_view label,
                                     std::span<const OpIndex> after) {
  check_collective(static_cast<OpIndex>(graph_->size()), label, spec);
  const auto number = static_cast<int>(graph_->collectives.size());
  for (const std::int32_t host : spec.members) graph_->hosts = std::max(graph_->hosts, host + 1);
  if (spec.kind->has_server()) graph_->hosts = std::max(graph_->hosts, spec.server + 1);
  const std::uint32_t slots = spec.byte_slots();
  graph_->collectives.push_back(std::move(spec));
  return append(OpKind::kCollective, Lane::kNone, -1, number, label, slots, after);
}

OpIndex GraphBuilder::append(OpKind kind, Lane lane, int worker, int peer, std::string_view label,
                             std::uint32_t byte_slots, std::span<const OpIndex> after) {
  GraphTemplate& graph = *graph_;
  const auto op = static_cast<OpIndex>(graph.size());
  for (const OpIndex dependency : after) {
    if (dependency >= op) refuse(op, label, "it depends on an operation that is not before it");
  }
  if (op == 0) {
    graph.dependency_begin.assign(1, 0);
    graph.bytes_begin.assign(1, 0);
  }
  graph.kind.push_back(kind);
  graph.lane.push_back(lane);
  graph.worker.push_back(worker);
  graph.peer.push_back(peer);
  graph.label.push_back(label_number(label));
  graph.meaning.emplace_back();
  graph.dependency.insert(graph.dependency.end(), after.begin(), after.end());
  graph.dependency_begin.push_back(static_cast<std::uint32_t>(graph.dependency.size()));
  graph.bytes_begin.push_back(graph.bytes_begin.back() + byte_slots);
  graph.hosts = std::max(graph.hosts, worker + 1);
  if (kind == OpKind::kTransfer) graph.hosts = std::max(graph.hosts, peer + 1);
  return op;
}

std::uint32_t GraphBuilder::label_number(std::string_view label) {
  const auto found = labels_.find(label);
  if (found != labels_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(graph_->labels.size());
  graph_->labels.emplace_back(label);
  labels_.emplace(label, number);
  return number;
}

GraphPtr GraphBuilder::finish() {
  if (graph_->size() == 0) throw SimError("build", "a step graph", "it has no operations");
  labels_.clear();
  GraphPtr done = std::move(graph_);
  graph_ = std::make_unique<GraphTemplate>();
  return done;
}

}  // namespace gradwire::sim
