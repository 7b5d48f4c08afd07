#pragma once
#include <string>

namespace gradwire::emulator {

/// Emulated time is real time: whoever else is busy on this machine should not stand in its way.
/// Asked for before entering a user namespace, where nobody may; threads and children inherit it.
/// Returns what was given: "real-time" (root, or who
/// has RLIMIT_RTPRIO of 2 or more), "raised", "short slices" (Linux 6.12 and later) or "normal".
std::string raise_priority();

/// Of a process that raise_priority() has made real-time: workers wait for it, too.
void rise_above_workers();

/// The calling thread's priority while a clock runs that waits for its decisions: real-time where
/// the system lets us, else short slices. Threads that it starts do not have it.
class Urgency {
 public:
  Urgency() = default;
  Urgency(const Urgency&) = delete;  // of one thread
  Urgency& operator=(const Urgency&) = delete;
  ~Urgency() { lower(); }
  void raise();
  void lower();

 private:
  bool raised_ = false;
};

}  // namespace gradwire::emulator
