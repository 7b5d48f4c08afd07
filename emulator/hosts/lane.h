#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/units.h"
#include "sim/graph/step_graph.h"

/// A serial lane of a worker in real time: a thread that stays busy with each operation for the
/// given seconds, in order of readiness, ties by (graph, index).
namespace gradwire::emulator {

struct LaneWork {
  Seconds ready{0};  ///< all instants here are CLOCK_MONOTONIC
  std::uint64_t graph = 0;
  sim::OpIndex op = 0;
  Seconds duration{0};
};

class LaneThread {
 public:
  /// Called on the lane's thread with the operation's measured start and end.
  using OnEnd = std::function<void(const LaneWork& work, Seconds start, Seconds end)>;

  explicit LaneThread(OnEnd on_end);
  LaneThread(const LaneThread&) = delete;  // its thread refers to it
  LaneThread& operator=(const LaneThread&) = delete;
  ~LaneThread();

  void add(const LaneWork& work);
  /// Drops the graph's operations, the running one too (without calling on_end).
  void cancel(std::uint64_t graph);

 private:
  void work();
  /// False if it was cancelled or the lane is to stop.
  bool occupy(std::unique_lock<std::mutex>& lock, Seconds until);

  OnEnd on_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LaneWork> waiting_;  // heap
  std::uint64_t running_ = 0;
  bool cancelled_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace gradwire::emulator
