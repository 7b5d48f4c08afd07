#include "emulator/hub/control.h"

#include <fcntl.h>

#include "emulator/hub/answers.h"

namespace gradwire::emulator {

nlohmann::json error_message(const std::exception& error) {
  const auto* own = dynamic_cast<const Error*>(&error);
  const ErrorKind kind = own != nullptr ? own->kind() : ErrorKind::kFailure;
  return {{"kind", "error"}, {"error_kind", static_cast<int>(kind)}, {"message", error.what()}};
}

void throw_error(const nlohmann::json& message) {
  throw understood("an error of the emulator's processes", [&] {
    const int kind = message.at("error_kind").get<int>();
    if (kind < 0 || kind > static_cast<int>(ErrorKind::kTerminated))
      throw std::out_of_range("an error of kind " + std::to_string(kind));
    return Error(static_cast<ErrorKind>(kind), message.at("message").get<std::string>());
  });
}

FileDescriptor duplicate(int descriptor) {
  return FileDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
}

Outbox::Outbox(FileDescriptor pipe) : pipe_(std::move(pipe)) {
  thread_ = std::thread([this] { work(); });
}

Outbox::~Outbox() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Outbox::send(std::int32_t address, const nlohmann::json& message) {
  const std::vector<std::byte> frame = encode_frame(address, message);
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.end(), frame.begin(), frame.end());
  changed_.notify_all();
}

void Outbox::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_ || (waiting_.empty() && !writing_); });
}

void Outbox::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::vector<std::byte> frames = std::move(waiting_);
    waiting_.clear();
    writing_ = true;
    lock.unlock();
    try {
      pipe_.write_all(frames, "the emulator's hub");
    } catch (const Error&) {
      // The hub is gone, and with it whoever would want to know; our own pipe's end tells us.
    }
    lock.lock();
    writing_ = false;
    changed_.notify_all();
  }
}

}  // namespace gradwire::emulator
