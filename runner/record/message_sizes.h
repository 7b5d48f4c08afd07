#pragma once
#include "scenarios/trainer.h"

namespace gradwire::runner {

/// Bytes that workers put into a step's exchanges of their own: a message of each all-gather,
/// all-to-all, gossip or push, the first, unsummed terms of each reduction, a scatter's messages
/// and the owners' sums (which are together one message a worker). A server's answer and what is
/// only passed on are nobody's own. Over the bytes of the same values in fp32 it is the compression
/// ratio, whatever the collective and the number of workers.
Bytes own_payload(const scenarios::Work& work);

}  // namespace gradwire::runner
