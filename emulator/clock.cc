#include "emulator/clock.h"

#include <sys/prctl.h>
#include <time.h>

#include <cmath>

namespace gradwire::emulator {
namespace {

constexpr Seconds kSpin{40e-6};

}  // namespace

Seconds monotonic_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

Seconds sleep_until(Seconds instant) {
  Seconds now = monotonic_now();
  if (instant - now > kSpin) {
    const double target = (instant - kSpin).value();
    timespec time{};
    time.tv_sec = static_cast<time_t>(std::floor(target));
    time.tv_nsec = static_cast<long>((target - std::floor(target)) * 1e9);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
    }
    now = monotonic_now();
  }
  while (now < instant) now = monotonic_now();
  return now;
}

void sharpen_timers() {
  ::prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
}

}  // namespace gradwire::emulator
