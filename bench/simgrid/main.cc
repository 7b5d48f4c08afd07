// SimGrid, as a peer in benchmarks and tests: a program of its own, so that nothing else links it.
//
//     gradwire-bench-simgrid actors|comms WORKERS BYTES_A_HOP     bench/simgrid/ring.cc
//     gradwire-bench-simgrid shares                               bench/simgrid/shares.cc
#include <cstdlib>
#include <simgrid/s4u.hpp>

#include "bench/simgrid/peer.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  int none = 1;
  xbt_log_control_set("root.thresh:error");
  const simgrid::s4u::Engine engine(&none, argv);
  // Bare max-min sharing: no acknowledgements, no window, no correction factors.
  for (const char* setting :
       {"host/model:compound", "network/model:CM02", "cpu/model:Cas01", "network/crosstraffic:0",
        "network/TCP-gamma:0", "network/latency-factor:1", "network/bandwidth-factor:1",
        "network/weight-S:0"}) {
    simgrid::s4u::Engine::set_config(setting);
  }
  if (argc == 2) return run_shares();
  return run_ring(argv[1], std::atoi(argv[2]), std::atof(argv[3]));
}
