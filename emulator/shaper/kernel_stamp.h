#pragma once
#include <sys/socket.h>

/// When the kernel had what a socket with SO_TIMESTAMPNS received: it does not count how late the
/// reader wakes.
namespace gradwire::emulator {

/// Asks for stamps. Throws Error(kCapability) where the kernel has none.
void stamp_arrivals(int socket);
/// s: CLOCK_REALTIME, which stamps are of, minus CLOCK_MONOTONIC.
double realtime_offset();
/// s of CLOCK_REALTIME; 0: the message has no stamp.
double stamp_of(const msghdr& message);

}  // namespace gradwire::emulator
