#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

/// Threads for tasks that block: there is always one for each task that has been given, and an idle
/// one is used again. Tasks must not throw, and must end before the pool does.
namespace gradwire::emulator {

class TaskPool {
 public:
  TaskPool() = default;
  TaskPool(const TaskPool&) = delete;  // its threads refer to it
  TaskPool& operator=(const TaskPool&) = delete;
  ~TaskPool();

  void start(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stop_ = false;
};

}  // namespace gradwire::emulator
