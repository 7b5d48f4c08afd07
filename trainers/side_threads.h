#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/units.h"

namespace gradwire::trainers {

/// Host threads that work while whoever asked them waits for something else, as a schedule does
/// that is driven by a real clock. They give way to other processes (nice 5), and begin what is due
/// first. Not copyable or movable: threads hold its address.
class SideThreads {
 public:
  using Key = std::uint64_t;
  using Task = std::function<void(int thread)>;  ///< thread in 0..threads - 1

  explicit SideThreads(int threads);
  SideThreads(const SideThreads&) = delete;
  SideThreads& operator=(const SideThreads&) = delete;
  /// As stop().
  ~SideThreads();

  /// Precondition: no task of that key is known. Of equally due ones the first comes first.
  void begin(Key key, Seconds due, Task task);
  bool has_ended(Key key) const;
  /// Waits for that task, and forgets it. Rethrows what it threw.
  void take(Key key);
  /// Leaves out what has not begun, waits for what has, and forgets all. No more may be begun.
  void stop();

 private:
  enum class Stage : std::uint8_t { kWaiting, kRunning, kEnded };
  struct Entry {
    Stage stage = Stage::kWaiting;
    Seconds due{0};
    std::uint64_t order = 0;
    Task task;
    std::exception_ptr failure;
  };
  void serve(int thread);
  Entry* first_waiting();

  mutable std::mutex mutex_;
  std::condition_variable begun_, ended_;
  std::map<Key, Entry> entries_;
  std::uint64_t orders_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gradwire::trainers
