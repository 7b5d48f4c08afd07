#pragma once
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstdint>

namespace gradwire::trainers {

/// What LibTorch's allocators gave out and did not get back, on the thread that has it as its
/// profiler (c10::DebugInfoGuard), and on those that work for it in a backward pass.
class LiveBytes final : public c10::MemoryReportingInfoBase {
 public:
  /// The calling thread's; null while nobody counts.
  static LiveBytes* current() {
    return dynamic_cast<LiveBytes*>(
        c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE));
  }

  void reportMemoryUsage(void*, std::int64_t change, std::size_t, std::size_t,
                         c10::Device) override {
    bytes_ += change;
  }
  bool memoryProfilingEnabled() const override { return true; }
  std::int64_t bytes() const { return bytes_; }

  /// Of the segments that a backward pass computed again: what the largest one kept.
  void add_recomputed(std::int64_t bytes) { recomputed_ = std::max(recomputed_, bytes); }
  std::int64_t recomputed() const { return recomputed_; }

 private:
  std::int64_t bytes_ = 0, recomputed_ = 0;
};

}  // namespace gradwire::trainers
