#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gradwire::trainers {

/// Host threads that run workers side by side. With one thread everything runs in the caller.
/// Not copyable or movable: threads hold its address.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  int threads() const { return static_cast<int>(threads_.size()) + 1; }
  /// Calls task(item, thread) once for each item in 0..items-1, thread in 0..threads()-1, and
  /// waits. Rethrows the exception of the lowest failed item.
  void run(int items, const std::function<void(int item, int thread)>& task);

 private:
  void serve(int thread);
  void take_items(int thread);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable started_, finished_;
  const std::function<void(int, int)>* task_ = nullptr;
  int items_ = 0, next_ = 0, busy_ = 0;
  unsigned long round_ = 0;
  bool stop_ = false;
  std::exception_ptr failure_;
  int failed_item_ = 0;
};

}  // namespace gradwire::trainers
