#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engines/settings.h"

namespace gradwire::engines {

/// Texts from one thread to another.
class Mailbox {
 public:
  void put(std::string text);
  std::optional<std::string> try_take();
  /// Waits for one.
  std::string take();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> texts_;
};

/// Runs batches on a thread of its own, so that the main thread can always answer messages.
class Worker {
 public:
  Worker(Settings settings, int neighbours, std::string folder, int rank);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Waits for the batch under way.
  ~Worker();

  /// Lines of a work list.
  void give(std::string lines) { orders_.put(std::move(lines)); }
  /// What it has to say: lines of report_lines.h. After one of type part, or error, it is idle.
  std::optional<std::string> report() { return reports_.try_take(); }

 private:
  void work(const Settings& settings, int neighbours, const std::string& folder, int rank);

  Mailbox orders_, reports_;
  std::thread thread_;
};

}  // namespace gradwire::engines
