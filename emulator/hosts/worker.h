#pragma once

namespace gradwire::emulator {

enum class Place {
  kNamespace,  ///< a network namespace of its own
  kMachine,    ///< as it is, perhaps on a machine of its own
};

/// The life of a worker process: `gradwire-emulator-hub worker HOST` (or `rank`,
/// emulator/cluster/rank.h), control frames on its standard input and output. Enters its place, is
/// set up by the hub, then plays its host until its input ends. Returns the exit code.
int run_worker(int host, Place place);

}  // namespace gradwire::emulator
