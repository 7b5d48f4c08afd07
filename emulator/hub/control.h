#pragma once
#include <condition_variable>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <thread>
#include <vector>

#include "base/error.h"
#include "emulator/hub/frame.h"

/// What hub and workers say to the executor about failures, and a worker's way of saying it.
namespace gradwire::emulator {

/// {"kind": "error", "error_kind": ..., "message": ...}
nlohmann::json error_message(const std::exception& error);
/// Throws the Error that such a message carries.
[[noreturn]] void throw_error(const nlohmann::json& message);

/// Of a standard stream: close-on-exec, and none of 0 to 2.
FileDescriptor duplicate(int descriptor);

/// Frames on their way to the hub, written by a thread of its own: whoever has something to say
/// never waits for the hub.
class Outbox {
 public:
  explicit Outbox(FileDescriptor pipe);
  Outbox(const Outbox&) = delete;  // its thread refers to it
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox();

  void send(std::int32_t address, const nlohmann::json& message);
  /// Returns when everything is written.
  void flush();

 private:
  void work();

  FileDescriptor pipe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> waiting_;
  bool writing_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace gradwire::emulator
