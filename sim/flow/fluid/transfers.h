#pragma once
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "sim/session/network.h"

namespace gradwire::sim {

/// A transfer of a fluid.
struct FluidTransfer {
  TransferId id = 0;
  Bytes payload{0};
  Bytes wire{0};
  std::int64_t retransmissions = 0;
  double segments = 0;
  bool is_used = false;
  bool is_cancelled = false;
  bool is_sent = false;  ///< all of it
  bool streams = false;  ///< to its end, once it is a stream's
  std::int32_t connection = 0;
  std::int32_t next = -1;  ///< behind it on the connection, or free
};

/// Those that have not been delivered, by small numbers that are used again.
class FluidTransfers {
 public:
  FluidTransfer& operator[](std::int32_t number) { return all_[static_cast<std::size_t>(number)]; }
  const FluidTransfer& operator[](std::int32_t number) const {
    return all_[static_cast<std::size_t>(number)];
  }

  std::int32_t add(const FluidTransfer& transfer) {
    std::int32_t number = free_;
    if (number < 0) {
      number = static_cast<std::int32_t>(all_.size());
      all_.push_back(transfer);
    } else {
      free_ = (*this)[number].next;
      (*this)[number] = transfer;
    }
    (*this)[number].is_used = true;
    if (is_indexed_) numbers_[transfer.id] = number;
    return number;
  }
  void free(std::int32_t number) {
    FluidTransfer& transfer = (*this)[number];
    transfer.is_used = false;
    if (is_indexed_) numbers_.erase(transfer.id);
    transfer.next = std::exchange(free_, number);
  }
  /// -1: there is none. Where nothing is ever cancelled nobody pays for finding them by their ids.
  std::int32_t find(TransferId id) {
    if (!std::exchange(is_indexed_, true))
      for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].is_used) numbers_[all_[i].id] = static_cast<std::int32_t>(i);
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  std::vector<FluidTransfer> all_;
  std::int32_t free_ = -1;  ///< the first of those that are free, linked by `next`
  std::unordered_map<TransferId, std::int32_t> numbers_;
  bool is_indexed_ = false;
};

}  // namespace gradwire::sim
