#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_team.h"

/// Work on tensors in ranges of elements, shared by a team's threads.
namespace gradwire::compressors {

inline constexpr std::size_t kRangeElements = std::size_t{64} << 10;  ///< worth a thread's while
inline constexpr std::size_t kRangeMultiple = 4096;  ///< whole bytes and lines at any width

/// The largest of what several threads see; 0 if they see nothing.
class SharedMaximum {
 public:
  void raise(std::uint32_t value) {
    std::uint32_t seen = largest_.load(std::memory_order_relaxed);
    while (seen < value &&
           !largest_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  std::uint32_t get() const { return largest_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> largest_{0};
};

/// max of body(begin, end) over ranges of [0, n) shared by the team; 0 for n = 0.
template <class Body>
std::uint32_t largest_over_ranges(ThreadTeam* team, std::size_t n, std::size_t multiple,
                                  Body&& body) {
  SharedMaximum largest;
  for_ranges(team, n, multiple, kRangeElements,
             [&](std::size_t begin, std::size_t end) { largest.raise(body(begin, end)); });
  return largest.get();
}

/// The largest magnitude bits among `values`, by the team's threads; 0 for none.
std::uint32_t shared_magnitude(ThreadTeam* team, std::span<const float> values);

}  // namespace gradwire::compressors
