#include "emulator/cluster/rank.h"

#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "emulator/cluster/rendezvous.h"
#include "emulator/hosts/worker.h"

namespace gradwire::emulator {

int run_rank(int rank, const std::string& rendezvous) {
  try {
    const FileDescriptor hub = come_to(parse_rendezvous(rendezvous), rank);
    // A worker's hub is at its standard streams.
    if (::dup2(hub.get(), STDIN_FILENO) < 0 || ::dup2(hub.get(), STDOUT_FILENO) < 0)
      throw system_error("use", "the connection to the hub", errno);
  } catch (const Error& error) {
    std::fprintf(stderr, "gradwire: rank %d: %s\n", rank, error.what());
    return 1;
  }
  return run_worker(rank, Place::kMachine);
}

}  // namespace gradwire::emulator
