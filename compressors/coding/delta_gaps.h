#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "compressors/coding/bit_stream.h"
#include "compressors/coding/index_coder.h"

namespace gradwire::compressors {

/// Ascending indices as kDelta's blocks, as they come: runs of neighbours cost little.
///
///   DeltaGapWriter gaps(stream);
///   gaps.add(index); gaps.add_run(first, count);
///   gaps.finish();
class DeltaGapWriter {
 public:
  explicit DeltaGapWriter(BitWriter& out) : out_(out) {}

  void add(std::uint32_t index) { push(next_gap(index)); }

  /// first ... first + count - 1; count > 0.
  void add_run(std::uint32_t first, std::size_t count) {
    push(next_gap(first));
    next_ += count - 1;
    for (std::size_t left = count - 1; left > 0;) {
      const std::size_t some = std::min(left, kDeltaBlock - waiting_);
      std::fill_n(gaps_ + waiting_, some, 0u);
      waiting_ += some;
      left -= some;
      if (waiting_ == kDeltaBlock) write_block();
    }
  }

  /// Writes what waits for a block to be full.
  void finish() {
    if (waiting_ > 0) write_block();
  }

 private:
  std::uint32_t next_gap(std::uint32_t index) {
    const auto gap = static_cast<std::uint32_t>(index - next_);
    next_ = std::uint64_t{index} + 1;
    return gap;
  }
  void push(std::uint32_t gap) {
    gaps_[waiting_++] = gap;
    all_ |= gap;
    if (waiting_ == kDeltaBlock) write_block();
  }
  void write_block() {
    const int width = std::bit_width(all_);
    GRADWIRE_ASSERT(width < 1 << kDeltaWidthBits);
    out_.put(static_cast<std::uint64_t>(width), kDeltaWidthBits);
    if (width > 0)
      for (std::size_t i = 0; i < waiting_; ++i) out_.put(gaps_[i], width);
    waiting_ = 0;
    all_ = 0;
  }

  BitWriter& out_;
  std::uint32_t gaps_[kDeltaBlock];
  std::size_t waiting_ = 0;
  std::uint32_t all_ = 0;   ///< of the waiting gaps, or'ed: as many bits as the largest
  std::uint64_t next_ = 0;  ///< the index after the last one
};

}  // namespace gradwire::compressors
