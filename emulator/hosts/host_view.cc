#include "emulator/hosts/host_view.h"

#include <algorithm>
#include <set>

namespace gradwire::emulator {

using sim::CollectiveKind;
using sim::CollectiveSpec;
using sim::OpKind;

namespace {

std::uint32_t ranks(const CollectiveSpec& spec) {
  return static_cast<std::uint32_t>(spec.members.size());
}

/// Sources 0 .. primitives - 1 of a collective are observed by somebody.
std::uint32_t primitives(const CollectiveSpec& spec) {
  return ranks(spec) + (spec.kind == CollectiveKind::kPush ? 1 : 0);
}

}  // namespace

HostView::HostView(sim::GraphPtr template_graph) : graph(template_graph), index(*graph) {
  source_op.resize(index.source_count());
  for (OpIndex op = 0; op < graph->size(); ++op)
    for (std::uint32_t s = index.source_begin[op]; s < index.source_begin[op + 1]; ++s)
      source_op[s] = op;
}

std::int32_t HostView::gate_owner(std::uint32_t gate) const {
  const OpIndex op = index.gate_op[gate];
  if (!is_collective(op)) return graph->worker[op];
  const std::uint32_t rank = gate - index.gate_begin[op];
  if (rank < ranks(spec(op))) return spec(op).members[rank];
  return sim::has_server(spec(op)) ? spec(op).server
                                   : -1;  // without a server, the last gate is nobody's
}

std::int32_t HostView::observer(std::uint32_t source) const {
  const OpIndex op = source_op[source];
  if (graph->kind[op] == OpKind::kTransfer) return graph->peer[op];
  if (!is_collective(op)) return graph->worker[op];
  const std::uint32_t rank = source - index.source_begin[op];
  if (rank >= primitives(spec(op))) return -1;
  return spec(op).kind == CollectiveKind::kPush ? spec(op).server : spec(op).members[rank];
}

std::vector<std::uint32_t> HostView::parts(std::uint32_t source) const {
  if (observer(source) >= 0) return {source};
  const OpIndex op = source_op[source];
  std::vector<std::uint32_t> list(primitives(spec(op)));
  for (std::uint32_t p = 0; p < list.size(); ++p) list[p] = index.source_begin[op] + p;
  return list;
}

std::vector<std::uint32_t> HostView::composites(OpIndex op) const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t s = index.source_begin[op]; s < index.source_begin[op + 1]; ++s)
    if (observer(s) < 0) list.push_back(s);
  return list;
}

std::vector<std::int32_t> HostView::listeners(std::uint32_t source) const {
  std::set<std::int32_t> hosts;
  const auto add = [&](std::uint32_t s) {
    for (const std::uint32_t gate : index.gates_after(s)) hosts.insert(gate_owner(gate));
  };
  add(source);
  for (const std::uint32_t composite : composites(source_op[source])) add(composite);
  return {hosts.begin(), hosts.end()};
}

Role role_of(const HostView& view, OpIndex op, int host) {
  const GraphTemplate& graph = *view.graph;
  if (graph.kind[op] == OpKind::kTransfer) {
    if (graph.worker[op] == host) return Role::kSender;
    return graph.peer[op] == host ? Role::kReceiver : Role::kNone;
  }
  if (!view.is_collective(op)) return Role::kNone;
  const CollectiveSpec& spec = view.spec(op);
  const int rank = sim::rank_of(spec, host);
  if (rank < 0) return Role::kNone;
  if (!sim::has_server(spec)) return Role::kRing;
  const bool server = rank == static_cast<int>(ranks(spec));
  return server == (spec.kind == CollectiveKind::kPull) ? Role::kSender : Role::kReceiver;
}

std::uint32_t gate_of(const HostView& view, OpIndex op, int host) {
  const std::uint32_t first = view.index.gate_begin[op];
  if (!view.is_collective(op)) return view.graph->worker[op] == host ? first : kNoGate;
  const int rank = sim::rank_of(view.spec(op), host);
  return rank < 0 ? kNoGate : first + static_cast<std::uint32_t>(rank);
}

std::vector<std::int32_t> destinations(const HostView& view, int host) {
  std::set<std::int32_t> hosts;
  for (OpIndex op = 0; op < view.graph->size(); ++op) {
    const Role role = role_of(view, op, host);
    if (role != Role::kSender && role != Role::kRing) continue;
    if (!view.is_collective(op)) {
      hosts.insert(view.graph->peer[op]);
      continue;
    }
    const CollectiveSpec& spec = view.spec(op);
    const int found = sim::rank_of(spec, host);
    const int rank = found == static_cast<int>(ranks(spec)) ? -1 : found;
    for (const int to : sim::destinations_of(spec, rank))
      hosts.insert(to < 0 ? spec.server : spec.members[static_cast<std::size_t>(to)]);
  }
  hosts.erase(host);
  return {hosts.begin(), hosts.end()};
}

}  // namespace gradwire::emulator
