#include "trainers/worker_pool.h"

namespace gradwire::trainers {

WorkerPool::WorkerPool(int threads) {
  for (int thread = 1; thread < threads; ++thread) {
    threads_.emplace_back([this, thread] { serve(thread); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(int items, const std::function<void(int, int)>& task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = &task;
    items_ = items;
    next_ = 0;
    failure_ = nullptr;
    busy_ = static_cast<int>(threads_.size());
    ++round_;
  }
  started_.notify_all();
  take_items(0);
  std::unique_lock<std::mutex> lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void WorkerPool::serve(int thread) {
  for (unsigned long seen = 0;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      started_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_items(thread);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--busy_ == 0) finished_.notify_one();
  }
}

void WorkerPool::take_items(int thread) {
  for (;;) {
    int item;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (next_ == items_) return;
      item = next_++;
    }
    try {
      (*task_)(item, thread);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_ || item < failed_item_) {
        failure_ = std::current_exception();
        failed_item_ = item;
      }
    }
  }
}

}  // namespace gradwire::trainers
