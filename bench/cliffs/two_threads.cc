#include "bench/cliffs/two_threads.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace gradwire::bench {

void in_two_threads(std::size_t count, const std::function<bool(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count && !over; i = next++)
        if (!work(i)) over = true;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      over = true;
    }
  };
  std::thread other(run);
  run();
  other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gradwire::bench
