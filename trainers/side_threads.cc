#include "trainers/side_threads.h"

#include <sys/resource.h>

#include <tuple>
#include <utility>

#include "base/error.h"

namespace gradwire::trainers {

SideThreads::SideThreads(int threads) {
  for (int thread = 0; thread < threads; ++thread)
    threads_.emplace_back([this, thread] { serve(thread); });
}

SideThreads::~SideThreads() {
  stop();
}

void SideThreads::begin(Key key, Seconds due, Task task) {
  {
    const std::lock_guard lock(mutex_);
    GRADWIRE_ASSERT(!stop_ && !entries_.contains(key));
    Entry& entry = entries_[key];
    entry.due = due;
    entry.order = orders_++;
    entry.task = std::move(task);
  }
  begun_.notify_one();
}

bool SideThreads::has_ended(Key key) const {
  const std::lock_guard lock(mutex_);
  return entries_.at(key).stage == Stage::kEnded;
}

void SideThreads::take(Key key) {
  std::unique_lock lock(mutex_);
  GRADWIRE_ASSERT(entries_.contains(key));
  ended_.wait(lock, [&] { return entries_.at(key).stage == Stage::kEnded; });
  const std::exception_ptr failure = entries_.at(key).failure;
  entries_.erase(key);
  if (failure) std::rethrow_exception(failure);
}

void SideThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  entries_.clear();
}

SideThreads::Entry* SideThreads::first_waiting() {
  Entry* first = nullptr;
  for (auto& [key, entry] : entries_)
    if (entry.stage == Stage::kWaiting &&
        (!first || std::tie(entry.due, entry.order) < std::tie(first->due, first->order)))
      first = &entry;
  return first;
}

void SideThreads::serve(int thread) {
  ::setpriority(PRIO_PROCESS, 0, 5);  // of this thread alone
  std::unique_lock lock(mutex_);
  for (;;) {
    Entry* entry = nullptr;
    begun_.wait(lock, [&] { return stop_ || (entry = first_waiting()) != nullptr; });
    if (stop_) return;
    entry->stage = Stage::kRunning;  // its place in the map stays
    lock.unlock();
    std::exception_ptr failure;
    try {
      entry->task(thread);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    entry->failure = failure;
    entry->stage = Stage::kEnded;
    ended_.notify_all();
  }
}

}  // namespace gradwire::trainers
