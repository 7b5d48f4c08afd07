#include "base/thread_team.h"

#include "base/error.h"

namespace gradwire {

ThreadTeam::ThreadTeam(int threads) {
  GRADWIRE_ASSERT(threads >= 1);
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
}

ThreadTeam::~ThreadTeam() {
  stopping_ = true;
  loop_.fetch_add(1);
  loop_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::run_loop(std::size_t count, Call call, void* body) {
  call_ = call;
  body_ = body;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  failed_at_.store(count, std::memory_order_relaxed);
  busy_.store(size() - 1, std::memory_order_relaxed);
  loop_.fetch_add(1, std::memory_order_release);
  loop_.notify_all();
  work();
  for (int busy = busy_.load(std::memory_order_acquire); busy != 0;
       busy = busy_.load(std::memory_order_acquire))
    busy_.wait(busy, std::memory_order_acquire);
  if (failed_at_.load() < count) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::work() {
  for (;;) {
    const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    // Numbers are handed out in ascending order, so that what is left is above a failure's too.
    if (i >= failed_at_.load(std::memory_order_relaxed)) return;
    try {
      call_(body_, i);
    } catch (...) {
      note_failure(i);
    }
  }
}

void ThreadTeam::note_failure(std::size_t i) {
  const std::lock_guard lock(failure_mutex_);
  if (i >= failed_at_.load(std::memory_order_relaxed)) return;
  failed_at_.store(i, std::memory_order_relaxed);
  failure_ = std::current_exception();
}

void ThreadTeam::help() {
  std::uint32_t seen = 0;
  for (;;) {
    loop_.wait(seen, std::memory_order_acquire);
    const std::uint32_t loop = loop_.load(std::memory_order_acquire);
    if (loop == seen) continue;
    seen = loop;
    if (stopping_) return;
    work();
    if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
  }
}

}  // namespace gradwire
