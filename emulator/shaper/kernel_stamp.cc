#include "emulator/shaper/kernel_stamp.h"

#include <time.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace gradwire::emulator {
namespace {

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void stamp_arrivals(int socket) {
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
    throw Error(ErrorKind::kCapability, "set", "SO_TIMESTAMPNS", std::strerror(errno),
                "a Linux kernel of 4.20 or later is needed");
}

double realtime_offset() {
  timespec real{}, monotonic{};
  ::clock_gettime(CLOCK_MONOTONIC, &monotonic);
  ::clock_gettime(CLOCK_REALTIME, &real);
  return static_cast<double>(real.tv_sec - monotonic.tv_sec) +
         1e-9 * static_cast<double>(real.tv_nsec - monotonic.tv_nsec);
}

double stamp_of(const msghdr& message) {
  for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(c))) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(c), sizeof time);
    return seconds_of(time);
  }
  return 0;
}

}  // namespace gradwire::emulator
