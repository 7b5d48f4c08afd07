#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace gradwire::bridge {

/// The hub's end of one rank's connection: lines that it wrote, and who it is.
class RankLink {
 public:
  /// `socket`: connected, non-blocking.
  explicit RankLink(FileDescriptor socket);

  int descriptor() const { return socket_.get(); }
  /// Of the connection's other end, as the kernel tells.
  pid_t process() const { return process_; }
  /// Whole lines that have come, without their ends; reads what is there. Sets closed() at the end.
  /// Throws Error(kFailure) for a line that is too long.
  std::vector<std::string> read_lines();
  bool closed() const { return closed_; }
  /// For a process that is gone while what it has forked still holds the connection.
  void close();

  std::optional<int> rank;                ///< once it has said so
  bool ended = false;                     ///< it has told its end
  std::string failure;                    ///< the exception that ended it
  std::optional<std::size_t> blocked_on;  ///< operation that it waited for when it ended
  std::chrono::steady_clock::time_point ended_at, closed_at;
  /// Which time the hub listened to all connections when it found this one closed. What it finds at
  /// one time has no order: it may have been kept from listening for long.
  std::int64_t closed_in = 0;

 private:
  FileDescriptor socket_;
  pid_t process_ = 0;
  std::string partial_;
  bool closed_ = false;
};

/// A socket in `folder` that ranks connect to, and its path.
FileDescriptor listen_at(const std::string& path);
/// A connection that waits there; empty: none does.
std::optional<FileDescriptor> accept_at(const FileDescriptor& listener);

}  // namespace gradwire::bridge
