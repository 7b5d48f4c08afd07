#include "sim/graph/collectives/scheduled.h"

#include <algorithm>

namespace gradwire::sim {

std::int64_t ScheduledGenerator::transfers_total() const {
  std::int64_t total = 0;
  for (std::int32_t rank = 0; rank < ranks_; ++rank) total += sends(rank);
  return total;
}

void ScheduledGenerator::on_ready(int rank, std::vector<HopTransfer>& start) {
  if (rank < 0) return;
  state_[static_cast<std::size_t>(rank)].ready = true;
  send_what_may(rank, start);
}

void ScheduledGenerator::on_delivered(const HopTransfer& hop, std::vector<HopTransfer>& start) {
  RankState& state = state_[static_cast<std::size_t>(hop.destination_rank)];
  const std::int32_t index = receive_index(hop);
  if (index >= 0 && index != state.received) {
    early_.push_back({hop.destination_rank, index});
    return;
  }
  do {
    ++state.received;
  } while (take_early(hop.destination_rank, state.received));
  send_what_may(hop.destination_rank, start);
}

void ScheduledGenerator::on_sent(const HopTransfer& hop, std::vector<HopTransfer>& start) {
  ++state_[static_cast<std::size_t>(hop.source_rank)].arrived;
  send_what_may(hop.source_rank, start);
}

bool ScheduledGenerator::expects(const HopTransfer& hop) const {
  const std::int32_t index = receive_index(hop);
  return index < 0 || index == state_[static_cast<std::size_t>(hop.destination_rank)].received;
}

bool ScheduledGenerator::rank_done(int rank) const {
  if (rank < 0) return true;
  const RankState& state = state_[static_cast<std::size_t>(rank)];
  return state.ready && state.received == receives(rank);
}

bool ScheduledGenerator::take_early(std::int32_t rank, std::int32_t index) {
  for (Early& early : early_) {
    if (early.rank != rank || early.index != index) continue;
    early = early_.back();
    early_.pop_back();
    return true;
  }
  return false;
}

void ScheduledGenerator::send_what_may(std::int32_t rank, std::vector<HopTransfer>& start) {
  RankState& state = state_[static_cast<std::size_t>(rank)];
  const std::int32_t last = sends(rank);
  while (state.ready && state.sent < last) {
    if (window() > 0 && state.sent - state.arrived >= window()) return;
    const PlannedSend planned = send(rank, state.sent);
    if (planned.needs > state.received) return;
    ++state.sent;
    start.push_back(hop_of(rank, planned));
  }
}

HopTransfer ScheduledGenerator::hop_of(std::int32_t rank, const PlannedSend& planned) const {
  HopTransfer transfer;
  transfer.source_rank = rank;
  transfer.destination_rank = planned.destination;
  transfer.hop = planned.hop;
  transfer.block = planned.block;
  transfer.contributors = planned.contributors;
  transfer.reduce = planned.reduce;
  transfer.bytes = size_of(rank, planned);
  return transfer;
}

std::vector<HopTransfer>& ScheduledGenerator::all_sends(std::int32_t rank,
                                                        std::vector<HopTransfer>& list) const {
  for (std::int32_t i = 0; i < sends(rank); ++i) list.push_back(hop_of(rank, send(rank, i)));
  return list;
}

Bytes ScheduledGenerator::size_of(std::int32_t, const PlannedSend& planned) const {
  if (!bytes_.empty()) return bytes_[static_cast<std::size_t>(planned.block)];
  HopTransfer hop;
  hop.hop = planned.hop;
  hop.block = planned.block;
  const std::int64_t count = hop_range(spec_, hop).count;
  return packed_bytes(count, width_of(spec_, planned.contributors));
}

Bytes payload_of(const ScheduledGenerator& schedule) {
  Bytes total{0};
  std::vector<HopTransfer> list;
  for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
    list.clear();
    for (const HopTransfer& hop : schedule.all_sends(rank, list)) total += hop.bytes;
  }
  return total;
}

std::vector<std::int32_t> destinations_of(const ScheduledGenerator& schedule, std::int32_t rank) {
  std::vector<std::int32_t> list;
  for (std::int32_t i = 0; i < schedule.sends(rank); ++i)
    list.push_back(schedule.send(rank, i).destination);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace gradwire::sim
