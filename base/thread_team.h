#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

/// A few threads that share one loop at a time.
namespace gradwire {

/// The caller's thread and `threads - 1` helpers, which wait between loops without using a core.
/// One loop at a time: run() must not be called by two threads at once, nor from inside a loop.
/// run() allocates nothing.
class ThreadTeam {
 public:
  /// `threads` >= 1, the caller's among them.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls body(i) once for every i in [0, count), by any of the threads, and returns when all are
  /// done. If bodies throw, the exception of the lowest i comes out here, whatever the threads'
  /// order: all bodies below that i are called, those above may be skipped.
  template <class Body>
  void run(std::size_t count, Body&& body) {
    run_loop(
        count, [](void* f, std::size_t i) { (*static_cast<Body*>(f))(i); }, &body);
  }

 private:
  using Call = void (*)(void* body, std::size_t i);
  void run_loop(std::size_t count, Call call, void* body);
  void work();
  void note_failure(std::size_t i);
  void help();

  std::vector<std::thread> helpers_;
  Call call_ = nullptr;
  void* body_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint32_t> loop_{0};  ///< counts loops
  std::atomic<int> busy_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> failed_at_{0};  ///< the lowest i whose body threw; else count_
  std::mutex failure_mutex_;               ///< guards failure_ and the changes of failed_at_
  std::exception_ptr failure_;             ///< of body failed_at_
};

/// Cuts [0, n) into ranges of at least `smallest` elements, each a multiple of `multiple` but for
/// the last, and calls body(begin, end) for each, on the team's threads; on the caller's alone if
/// `team` is null or n is too small to share. The cut depends on n and the team's size only. What
/// bodies store past the caches in large loops is ordered before the return.
template <class Body>
void for_ranges(ThreadTeam* team, std::size_t n, std::size_t multiple, std::size_t smallest,
                Body&& body) {
  constexpr std::size_t kRangesPerThread = 4;  // evens out threads that are slowed by others
  const std::size_t threads = team == nullptr ? 1 : static_cast<std::size_t>(team->size());
  if (threads == 1 || n < 2 * smallest) {
    body(std::size_t{0}, n);
    if (n > smallest) std::atomic_thread_fence(std::memory_order_seq_cst);
    return;
  }
  std::size_t length = n / (threads * kRangesPerThread);
  length = ((length < smallest ? smallest : length) + multiple - 1) / multiple * multiple;
  team->run((n + length - 1) / length, [&](std::size_t i) {
    const std::size_t begin = i * length;
    body(begin, n - begin < length ? n : begin + length);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

}  // namespace gradwire
