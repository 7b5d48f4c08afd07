#pragma once
#include <string>

namespace gradwire::emulator {

/// The life of a worker process on a machine of a cluster: `gradwire-emulator-hub rank R
/// HOST:PORT`. Comes to the hub at that rendezvous, then plays host R until the connection ends.
/// Returns the exit code.
int run_rank(int rank, const std::string& rendezvous);

}  // namespace gradwire::emulator
