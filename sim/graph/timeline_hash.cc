#include "sim/graph/timeline_hash.h"

#include "base/hash.h"

namespace gradwire::sim {

std::uint64_t timeline_hash(const Timeline& timeline) {
  Hasher hash;
  for (const OpRecord& op : timeline.ops) {
    hash.add(op.start.value());
    hash.add(op.end.value());
    hash.add(static_cast<std::uint64_t>(op.payload.count()));
    hash.add(static_cast<std::uint64_t>(op.wire.count()));
    hash.add(static_cast<std::uint64_t>(op.transfers));
    hash.add(static_cast<std::uint64_t>(op.retransmissions));
  }
  for (const auto& ranks : timeline.rank_done) {
    for (const Seconds done : ranks) hash.add(done.value());
  }
  return hash.value();
}

}  // namespace gradwire::sim
