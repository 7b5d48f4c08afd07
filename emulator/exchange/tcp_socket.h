#pragma once
#include <cstdint>
#include <string>

#include "base/file_descriptor.h"
#include "base/units.h"

/// The few socket calls of the emulator, each with its errors.
namespace gradwire::emulator {

struct SocketSettings {
  std::string congestion_control = "cubic";  ///< the kernel's name; empty: its usual one
  int buffer = 8 * 1024 * 1024;              ///< bytes of SO_SNDBUF and SO_RCVBUF; 0: the kernel's
  int port = 7700;                           ///< 0: a free one
};

/// Of a socket or pipe.
void make_non_blocking(const FileDescriptor& file);

/// Non-blocking, close-on-exec, bound to every address of the namespace.
FileDescriptor listen_on(const SocketSettings& settings);
/// Its own port.
int port_of(const FileDescriptor& socket);
/// Connects (blocking, 30 s at most), then non-blocking. Throws Error naming the address.
FileDescriptor connect_to_address(const std::string& address, const SocketSettings& settings);
/// A connection that waits at the listener.
FileDescriptor accept_from(const FileDescriptor& listener, const SocketSettings& settings);

/// The congestion control the kernel really gave.
std::string congestion_control_of(const FileDescriptor& socket);
/// Wakes poll() only when `bytes` can be read (or at the end): fewer wake-ups for a long message.
void set_low_water(const FileDescriptor& socket, int bytes);

struct TcpCounters {
  std::int64_t payload = 0;          ///< bytes sent, those sent again included
  std::int64_t segments = 0;         ///< data segments sent, those sent again included
  std::int64_t retransmissions = 0;  ///< segments sent again
  Seconds smoothed_rtt{0};
};
TcpCounters counters_of(const FileDescriptor& socket);

}  // namespace gradwire::emulator
