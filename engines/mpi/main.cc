#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "engines/mpi/rank.h"
#include "runner/interrupt.h"

/// gradwire-mpi FOLDER: a rank of a sweep that `gradwire run --engine mpi` shares out. It alone
/// links MPI, and is not meant to be started by hand.
int main(int argc, char** argv) {
  using namespace gradwire;
  std::signal(SIGPIPE, SIG_IGN);
  if (argc != 2) {
    std::fputs("gradwire-mpi is started by gradwire run --engine mpi\n", stderr);
    return exit_code(ErrorKind::kUsage);
  }
  engines::Communicator communicator(&argc, &argv);
  const runner::InterruptGuard guard;
  try {
    if (communicator.rank() == 0)
      engines::lead(communicator, argv[1]);
    else
      engines::follow(communicator, argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gradwire-mpi: rank %d: %s\n", communicator.rank(), error.what());
    engines::Communicator::abort();
  }
  return 0;
}
