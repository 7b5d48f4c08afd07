#pragma once
#include <utility>

#include "sim/session/session_run.h"

/// What every hop goes through, from its arrival to the start of those that it lets go: a large
/// ring has millions. Included by the session's sources alone.
namespace gradwire::sim {

inline TransferId id_of(std::uint32_t generation, std::int32_t slot) {
  return static_cast<TransferId>(generation) << 32 | static_cast<TransferId>(slot);
}

inline std::int32_t GraphSession::take_slot(GraphId graph, OpIndex op, const HopTransfer& hop) {
  std::int32_t index = free_slot_;
  if (index < 0) {
    index = static_cast<std::int32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    free_slot_ = slots_[static_cast<std::size_t>(index)].next;
  }
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  slot.graph = graph;
  slot.op = op;
  slot.hop = hop;
  return index;
}

inline void GraphSession::free_slot(std::int32_t index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  ++slot.generation;
  slot.next = std::exchange(free_slot_, index);
}

inline void GraphSession::unlink_slot(std::int32_t index) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (slot.previous >= 0) {
    slots_[static_cast<std::size_t>(slot.previous)].next = slot.next;
  } else {
    oldest_slot_ = slot.next;
  }
  if (slot.next >= 0) {
    slots_[static_cast<std::size_t>(slot.next)].previous = slot.previous;
  } else {
    newest_slot_ = slot.previous;
  }
  slot.previous = kNotInFlight;
}

inline int GraphSession::host_of_rank(const CollectiveSpec& spec, int rank) const {
  return rank < 0 ? spec.server : spec.members[static_cast<std::size_t>(rank)];
}

inline void GraphSession::link_slot(std::int32_t slot) {
  Slot& state = slots_[static_cast<std::size_t>(slot)];
  state.previous = newest_slot_;
  state.next = -1;
  if (newest_slot_ >= 0) {
    slots_[static_cast<std::size_t>(newest_slot_)].next = slot;
  } else {
    oldest_slot_ = slot;
  }
  newest_slot_ = slot;
}

inline void GraphSession::start_transfer(Run& run, OpIndex op, const HopTransfer& hop, int source,
                                         int destination, Bytes occupied) {
  OpRecord& record = run.record(op);
  record.payload += hop.bytes;
  ++record.transfers;
  if (hop.bytes.count() == 0) {
    arrivals_.push_back({run.id, op, hop});
    return;
  }
  const std::int32_t index = take_slot(run.id, op, hop);
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  slot.deadline = now_ + options_.transfer_limit.value();
  link_slot(index);
  network_.start(id_of(slot.generation, index), source, destination, occupied);
}

inline void GraphSession::start_hops(Run& run, OpIndex op) {
  const CollectiveSpec& spec = run.spec(op);
  const auto& pace = collective_of(run, op).pace;
  for (const HopTransfer& hop : start_) {
    start_transfer(run, op, hop, host_of_rank(spec, hop.source_rank),
                   host_of_rank(spec, hop.destination_rank),
                   pace ? pace->occupied(hop.source_rank, hop.bytes) : hop.bytes);
  }
}

inline void GraphSession::hop_delivered(Run& run, OpIndex op, Collective& collective,
                                        const HopTransfer& hop) {
  start_.clear();
  collective.generator->on_delivered(hop, start_);
  start_hops(run, op);
  note_rank(run, op, collective, hop.destination_rank);
  if (collective.tells_senders) tell_sender(run, op, collective, hop);
  // Only a server's partner learns of its own message's arrival.
  if (hop.source_rank < 0 || hop.destination_rank < 0) {
    note_rank(run, op, collective, hop.source_rank);
  }
}

inline void GraphSession::hop_arrived(Run& run, OpIndex op, const HopTransfer& hop) {
  if (run.cancelled) return;
  if (run.graph->kind[op] != OpKind::kCollective) {
    end_operation(run, op);
    return;
  }
  Collective& collective = collective_of(run, op);
  if (collective.pace && collective.pace->hop > 0) {
    delay_hop(run, op, Seconds(collective.pace->hop), hop, TimerKind::kLate);
  } else {
    take_hop(run, op, collective, hop);
  }
}

inline void GraphSession::take_hop(Run& run, OpIndex op, Collective& collective,
                                   const HopTransfer& hop) {
  const bool waits =
      hop.reduce && !collective.ready[static_cast<std::size_t>(hop.destination_rank)];
  if (waits) {
    collective.held.push_back(hop);
  } else if (hop.reduce && !collective.adds_at_once) {
    add_hop(run, op, collective, hop);
  } else {
    hop_delivered(run, op, collective, hop);
  }
}

}  // namespace gradwire::sim
