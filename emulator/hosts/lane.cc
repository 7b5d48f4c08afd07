#include "emulator/hosts/lane.h"

#include <algorithm>
#include <chrono>

#include "emulator/clock.h"

namespace gradwire::emulator {
namespace {

/// For std heaps, which keep the greatest on top: a starts after b.
constexpr auto kStartsAfter = [](const LaneWork& a, const LaneWork& b) {
  if (a.ready != b.ready) return a.ready > b.ready;
  return a.graph != b.graph ? a.graph > b.graph : a.op > b.op;
};

/// The last stretch of an operation is slept and spun precisely (emulator/clock.h), and cannot be
/// interrupted.
constexpr Seconds kPreciseStretch{200e-6};

}  // namespace

LaneThread::LaneThread(OnEnd on_end) : on_end_(std::move(on_end)) {
  thread_ = std::thread([this] { work(); });
}

LaneThread::~LaneThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void LaneThread::add(const LaneWork& work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(work);
  std::push_heap(waiting_.begin(), waiting_.end(), kStartsAfter);
  changed_.notify_all();
}

void LaneThread::cancel(std::uint64_t graph) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const LaneWork& work) { return work.graph == graph; });
  std::make_heap(waiting_.begin(), waiting_.end(), kStartsAfter);
  if (running_ == graph) cancelled_ = true;
  changed_.notify_all();
}

bool LaneThread::occupy(std::unique_lock<std::mutex>& lock, Seconds until) {
  const auto interrupted = [this] { return stop_ || cancelled_; };
  for (;;) {
    const double rest = (until - kPreciseStretch - monotonic_now()).value();
    if (rest <= 0 || interrupted()) return !interrupted();
    changed_.wait_for(lock, std::chrono::duration<double>(std::min(rest, 1000.0)), interrupted);
  }
}

void LaneThread::work() {
  std::unique_lock lock(mutex_);
  Seconds free{0};
  for (;;) {
    running_ = 0;
    cancelled_ = false;
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    std::pop_heap(waiting_.begin(), waiting_.end(), kStartsAfter);
    const LaneWork work = waiting_.back();
    waiting_.pop_back();
    running_ = work.graph;
    // Counted from the moment at which it could start, so that the thread's own wake-up does not
    // lengthen it.
    const Seconds start = std::max(work.ready, free);
    if (!occupy(lock, start + work.duration)) {
      free = monotonic_now();
      continue;
    }
    lock.unlock();
    free = sleep_until(start + work.duration);
    on_end_(work, start, free);
    lock.lock();
  }
}

}  // namespace gradwire::emulator
