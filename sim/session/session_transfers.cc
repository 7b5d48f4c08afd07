// The half of GraphSession that touches the network: transfers, hops, collectives.
#include <algorithm>

#include "sim/session/session_hops.h"

namespace gradwire::sim {
void GraphSession::on_network(const Delivery& delivery) {
  const auto index = static_cast<std::int32_t>(delivery.id & 0xFFFFFFFFu);
  const Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.generation != delivery.id >> 32 || slot.previous == kNotInFlight) return;
  if (delivery.failed) {
    fail_transfer(index);
    return;
  }
  Run& run = get(slot.graph);
  const OpIndex op = slot.op;
  const HopTransfer hop = slot.hop;  // the slot may be taken again at once
  unlink_slot(index);
  free_slot(index);
  OpRecord& record = run.record(op);
  record.wire += delivery.wire;
  if (run.graph->kind[op] == OpKind::kCollective) {
    // What a library sends is not what it occupies its way for.
    if (const auto& pace = collective_of(run, op).pace)
      record.wire += pace->wire_of(hop.bytes, options_.transport) - delivery.wire;
  }
  record.retransmissions += delivery.retransmissions;
  if (!delivery.missing.empty()) {
    run.missing.push_back({op, hop, {delivery.missing.begin(), delivery.missing.end()}});
  }
  hop_arrived(run, op, hop);
}

void GraphSession::expire_transfers() {
  while (oldest_slot_ >= 0 && slots_[static_cast<std::size_t>(oldest_slot_)].deadline <= now_) {
    const std::int32_t index = oldest_slot_;
    network_.cancel(id_of(slots_[static_cast<std::size_t>(index)].generation, index));
    fail_transfer(index);
  }
}

void GraphSession::fail_transfer(std::int32_t index) {
  const Slot slot = slots_[static_cast<std::size_t>(index)];
  unlink_slot(index);
  free_slot(index);
  const Run& run = get(slot.graph);
  const int host = run.graph->kind[slot.op] == OpKind::kCollective
                       ? host_of_rank(run.spec(slot.op), slot.hop.destination_rank)
                       : run.graph->peer[slot.op];
  emit(EventKind::kTransferFailed, slot.graph, slot.op, host);
}

void GraphSession::open_collective(Run& run, OpIndex op, Collective& collective) {
  const CollectiveSpec& spec = run.spec(op);
  collective.ready.assign(spec.members.size() + 1, false);
  if (options_.closed_form == nullptr) {
    collective.generator = make_generator(spec, run.bytes_of(op));
    collective.pace = pace_of(cluster_, options_.transport, spec, run.bytes_of(op));
  }
  collective.tells_senders = collective.generator && collective.generator->wants_sent();
  if (spec.is_reduction()) collective.adding_until.assign(spec.members.size() + 1, 0);
  collective.adds_at_once = spec.hop_fixed.value() == 0 && spec.hop_per_element.value() == 0;
}

void GraphSession::rank_ready(Run& run, OpIndex op, std::uint32_t gate) {
  const CollectiveSpec& spec = run.spec(op);
  Collective& collective = collective_of(run, op);
  const bool server_sends = spec.kind->server == CollectiveDescriptor::Server::kSends;
  const bool counts = server_sends == (gate == spec.members.size());
  if (counts && run.record(op).start.value() < 0) run.record(op).start = Seconds(now_);
  if (options_.closed_form != nullptr) {
    collective.ready[gate] = true;
    ++collective.ready_count;
    closed_form_ready(run, op, collective);
  } else if (collective.pace && gate < spec.members.size()) {
    HopTransfer call;
    call.source_rank = call.destination_rank = static_cast<std::int32_t>(gate);
    delay_hop(run, op, Seconds(collective.pace->start), call, TimerKind::kCalled);
  } else {
    call_rank(run, op, gate);
  }
}

void GraphSession::call_rank(Run& run, OpIndex op, std::uint32_t gate) {
  const CollectiveSpec& spec = run.spec(op);
  Collective& collective = collective_of(run, op);
  collective.ready[gate] = true;
  ++collective.ready_count;
  const int rank = gate < spec.members.size() ? static_cast<int>(gate) : -1;
  start_.clear();
  collective.generator->on_ready(rank, start_);
  start_hops(run, op);
  std::size_t kept = 0;
  for (std::size_t h = 0; h < collective.held.size(); ++h) {
    const HopTransfer hop = collective.held[h];
    if (hop.destination_rank == rank) {
      add_hop(run, op, collective, hop);
    } else {
      collective.held[kept++] = hop;
    }
  }
  collective.held.resize(kept);
  note_rank(run, op, collective, rank);
}

void GraphSession::closed_form_ready(Run& run, OpIndex op, Collective& collective) {
  if (collective.ready_count < collective.ready.size()) return;
  const CollectiveCosts::Cost cost = options_.closed_form->cost(run.spec(op), run.bytes_of(op));
  OpRecord& record = run.record(op);
  record.payload += cost.payload;
  record.wire += cost.wire;
  record.transfers += cost.transfers;
  timers_.push({now_ + cost.duration.value(), 0, run.id, op, TimerKind::kClosedForm});
}

void GraphSession::add_hop(Run& run, OpIndex op, Collective& collective, const HopTransfer& hop) {
  if (collective.adds_at_once) {
    hop_delivered(run, op, collective, hop);
    return;
  }
  const CollectiveSpec& spec = run.spec(op);
  const std::int64_t count = hop_range(spec, hop).count;
  const double cost =
      spec.hop_fixed.value() + static_cast<double>(count) * spec.hop_per_element.value();
  double& until = collective.adding_until[static_cast<std::size_t>(hop.destination_rank)];
  until = std::max(until, now_) + cost;
  if (until <= now_) {
    hop_delivered(run, op, collective, hop);
    return;
  }
  const std::int32_t index = take_slot(run.id, op, hop);
  timers_.push({until, 0, run.id, static_cast<std::uint32_t>(index), TimerKind::kReduced});
}

void GraphSession::delay_hop(Run& run, OpIndex op, Seconds by, const HopTransfer& hop,
                             TimerKind kind) {
  const std::int32_t index = take_slot(run.id, op, hop);
  timers_.push({now_ + by.value(), 0, run.id, static_cast<std::uint32_t>(index), kind});
}

void GraphSession::run_slot(const Timer& timer) {
  const Slot due = slots_[timer.index];
  free_slot(static_cast<std::int32_t>(timer.index));
  Run* run = find(timer.graph);
  if (run == nullptr || run->cancelled) return;
  if (timer.kind == TimerKind::kCalled) {
    call_rank(*run, due.op, static_cast<std::uint32_t>(due.hop.source_rank));
  } else if (timer.kind == TimerKind::kLate) {
    take_hop(*run, due.op, collective_of(*run, due.op), due.hop);
  } else {
    hop_delivered(*run, due.op, collective_of(*run, due.op), due.hop);
  }
}

void GraphSession::tell_sender(Run& run, OpIndex op, Collective& collective,
                               const HopTransfer& hop) {
  start_.clear();
  collective.generator->on_sent(hop, start_);
  start_hops(run, op);
}

void GraphSession::note_rank(Run& run, OpIndex op, Collective& collective, int rank) {
  if (!collective.generator->rank_done(rank)) return;
  const std::size_t ranks = run.spec(op).members.size();
  mark_rank_done(run, op, collective,
                 rank < 0 ? static_cast<std::uint32_t>(ranks) : static_cast<std::uint32_t>(rank));
}

void GraphSession::mark_rank_done(Run& run, OpIndex op, Collective& collective,
                                  std::uint32_t rank) {
  const std::uint32_t source = run.index->source_begin[op] + rank;
  if (run.source_done[source]) return;
  const CollectiveSpec& spec = run.spec(op);
  if (rank < spec.members.size()) {
    run.timeline.rank_done[static_cast<std::size_t>(run.graph->peer[op])][rank] = Seconds(now_);
    emit(EventKind::kRankDone, run.id, op, spec.members[rank]);
  }
  source_ended(run, source);
  if (++collective.done_count == spec.members.size() + 1) end_operation(run, op);
}

}  // namespace gradwire::sim
