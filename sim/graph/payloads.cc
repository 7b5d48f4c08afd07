#include "sim/graph/payloads.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::sim {

void Payloads::add(OpIndex op, const HopTransfer& hop, std::span<const std::byte> bytes) {
  GRADWIRE_ASSERT(static_cast<std::int64_t>(bytes.size()) == hop.bytes.count());
  if (!messages_.empty() && messages_.back().op != op) stored_.clear();
  // Senders use their buffers again, so that a known place alone says nothing.
  const auto known = stored_.find(bytes.data());
  const bool same = known != stored_.end() && known->second + bytes.size() <= bytes_.size() &&
                    std::ranges::equal(bytes, this->bytes().subspan(known->second, bytes.size()));
  const std::uint64_t offset = same ? known->second : bytes_.size();
  if (!same) bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  stored_[bytes.data()] = offset;
  messages_.push_back({op, hop, offset});
}

void Payloads::add(OpIndex op, std::span<const std::byte> bytes) {
  HopTransfer hop;
  hop.destination_rank = 1;
  hop.bytes = Bytes(static_cast<std::int64_t>(bytes.size()));
  add(op, hop, bytes);
}

}  // namespace gradwire::sim
