// udp-lossy: segments that are lost for good.
#include <algorithm>
#include <utility>

#include "sim/flow/flow_network.h"

namespace gradwire::sim {

/// A connection that is not TCP's: a fluid from the first byte on. route_ is its way.
void FlowNetwork::open_plain(Connection& link) {
  const double loss = std::exchange(link.path.loss, 0);
  link.path.ack_loss = 0;
  link.is_open = true;
  if (transport_.protocol == TransportSettings::Protocol::kIdeal) {
    link.path.forwarding = 0;
  } else if (loss > 0) {
    link.datagrams = std::make_unique<LossSequence>(losses(route_, loss, link.key, false));
  }
}

/// All of the transfer is sent: which of its segments are lost, as ranges of its payload.
void FlowNetwork::lose_datagrams(Connection& link, Transfer& t) {
  const std::int64_t segment = transport_.segment.count();
  for (std::int64_t first = 0; first < t.payload.count(); first += segment) {
    if (!link.datagrams->next()) continue;
    if (t.missing < 0) t.missing = take_missing();
    std::vector<ByteRange>& ranges = missing_[static_cast<std::size_t>(t.missing)];
    const std::int64_t count = std::min(segment, t.payload.count() - first);
    if (!ranges.empty() && ranges.back().first + ranges.back().count == first) {
      ranges.back().count += count;
    } else {
      ranges.push_back({first, count});
    }
  }
}

std::int32_t FlowNetwork::take_missing() {
  if (free_missing_.empty()) {
    missing_.emplace_back();
    return static_cast<std::int32_t>(missing_.size()) - 1;
  }
  const std::int32_t number = free_missing_.back();
  free_missing_.pop_back();
  missing_[static_cast<std::size_t>(number)].clear();
  return number;
}

void FlowNetwork::free_missing(Transfer& t) {
  free_missing_.push_back(t.missing);
  t.missing = -1;
}

}  // namespace gradwire::sim
