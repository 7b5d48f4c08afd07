#pragma once
#include "base/error.h"

namespace gradwire::runner {

/// Turns SIGINT and SIGTERM into requests: the first asks the run loop to stop after the current
/// step and save what it has, the second ends the process at once (exit code 130 or 143). One
/// instance at a time; destruction restores the former handlers.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Asks for a stop as that signal would.
void interrupt(int number);
/// The signal that asked for a stop, or 0.
int interrupted_by();
/// What a command that was asked to stop fails with: kTerminated by SIGTERM, else kInterrupted.
ErrorKind interruption();

}  // namespace gradwire::runner
