#include "sim/session/parallel_connections.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace gradwire::sim {

ParallelConnections::ParallelConnections(std::unique_ptr<Network> network, int connections)
    : network_(std::move(network)), connections_(static_cast<std::size_t>(connections)) {
  GRADWIRE_ASSERT(connections >= 1);
}

void ParallelConnections::start(TransferId id, int source, int destination, Bytes payload) {
  const std::size_t first =
      static_cast<std::size_t>(pairs_.find_or_add(source, destination)) * connections_;
  if (first >= under_way_.size()) under_way_.resize(first + connections_);
  const auto own = under_way_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto least = std::min_element(own, own + static_cast<std::ptrdiff_t>(connections_));
  *least += payload.count();
  sent_[id] = {static_cast<std::size_t>(least - under_way_.begin()), payload.count()};
  if (least == own) {
    network_->start(id, source, destination, payload);
  } else {
    network_->start_beside(id, static_cast<int>(least - own), source, destination, payload);
  }
}

void ParallelConnections::start_beside(TransferId id, int beside, int source, int destination,
                                       Bytes payload) {
  network_->start_beside(id, static_cast<int>(connections_) - 1 + beside, source, destination,
                         payload);
}

void ParallelConnections::end(TransferId id) {
  const auto found = sent_.find(id);
  if (found == sent_.end()) return;  // one beside the pair's
  under_way_[found->second.connection] -= found->second.bytes;
  sent_.erase(found);
}

void ParallelConnections::cancel(TransferId id) {
  end(id);
  network_->cancel(id);
}

void ParallelConnections::advance(Seconds until, std::vector<Delivery>& delivered) {
  const std::size_t before = delivered.size();
  network_->advance(until, delivered);
  for (std::size_t i = before; i < delivered.size(); ++i) end(delivered[i].id);
}

}  // namespace gradwire::sim
