#pragma once

namespace gradwire::emulator {

/// The life of a worker process: `gradwire-emulator-hub worker HOST`, control frames on its
/// standard input and output. Enters a network namespace of its own, is set up by the hub, then
/// plays its host until its input ends. Returns the exit code.
int run_worker(int host);

}  // namespace gradwire::emulator
