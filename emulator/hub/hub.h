#pragma once

namespace gradwire::emulator {

/// The life of the hub process: `gradwire-emulator-hub`, control frames of the executor on its
/// standard input and output. Enters its own user and network namespace, starts a worker process
/// for each host, builds the star, then hands frames on until its input or a worker ends.
/// Everything it has made in the kernel goes when it and its workers end. Returns the exit code.
int run_hub();

}  // namespace gradwire::emulator
