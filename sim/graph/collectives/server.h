#pragma once
#include <memory>
#include <span>

#include "sim/graph/collective.h"

namespace gradwire::sim {

/// A parameter server's push and pull: `bytes` are the ranks' messages.
std::unique_ptr<CollectiveGenerator> make_server(const CollectiveSpec& spec,
                                                 std::span<const Bytes> bytes);

}  // namespace gradwire::sim
