#include "runner/interrupt.h"

#include <signal.h>
#include <unistd.h>

namespace gradwire::runner {
namespace {

volatile sig_atomic_t requested = 0;
struct sigaction former_int, former_term;

void handle(int number) {
  if (requested != 0) ::_exit(128 + number);
  requested = number;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  requested = 0;
  struct sigaction action {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &former_int);
  ::sigaction(SIGTERM, &action, &former_term);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &former_int, nullptr);
  ::sigaction(SIGTERM, &former_term, nullptr);
}

void interrupt(int number) {
  requested = number;
}

int interrupted_by() {
  return requested;
}

ErrorKind interruption() {
  return requested == SIGTERM ? ErrorKind::kTerminated : ErrorKind::kInterrupted;
}

}  // namespace gradwire::runner
