#include "sim/flow/losses/burst_chain.h"

namespace gradwire::sim {

bool BurstChain::next() {
  const std::uint64_t word = 2 * packets_++;
  const bool lost = uniform(draws_, word) < (bad_ ? burst_.loss : good_loss_);
  bad_ = bad_ != (uniform(draws_, word + 1) < (bad_ ? burst_.leave : burst_.enter));
  return lost;
}

}  // namespace gradwire::sim
