#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/child_process.h"
#include "emulator/hub/frame.h"

/// The hub's pipes: one pair to the executor, one to each worker, one to the link process. It never
/// blocks on a slow reader (two pipes that are full towards each other would be a deadlock) and
/// keeps the order of frames.
namespace gradwire::emulator {

class Relay {
 public:
  Relay(FileDescriptor from_executor, FileDescriptor to_executor);

  /// Number of the new worker.
  int add_worker(std::unique_ptr<ChildProcess> process);
  /// One on a machine of its own.
  int add_worker(FileDescriptor connection);
  /// The process that makes the links, where the kernel does not.
  void set_links(std::unique_ptr<ChildProcess> process);
  int pid(int worker) const { return workers_[static_cast<std::size_t>(worker)].process->pid(); }
  int workers() const { return static_cast<int>(workers_.size()); }

  void to_executor(const nlohmann::json& message);
  void to_worker(int worker, const nlohmann::json& message);
  void to_links(const nlohmann::json& message);

  /// Waits for the next frame that is for the hub itself or, while `handing_on` is false, any
  /// frame; others are handed on. Empty when the executor has closed its end. Throws Error when a
  /// worker has ended.
  std::optional<Frame> next(bool handing_on);
  /// Writes what is left to the executor.
  void flush();

 private:
  struct End {
    FileDescriptor in, out;
    FrameBuffer frames;
    std::vector<std::byte> unwritten;
    std::unique_ptr<ChildProcess> process;  ///< null: the executor, or a machine's
    bool closed = false;
  };

  static End end_of(std::unique_ptr<ChildProcess> process);
  static void send(End& end, const std::vector<std::byte>& bytes);
  static void check_alive(End& end, const std::string& name);
  void poll_once();
  void read_from(End& end);
  static void write_to(End& end);
  std::optional<Frame> take(End& end, bool handing_on, bool from_executor);
  void hand_on(Frame frame, bool from_executor);

  End executor_;
  std::vector<End> workers_;
  std::optional<End> links_;
};

}  // namespace gradwire::emulator
