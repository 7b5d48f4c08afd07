#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "emulator/cluster/rank.h"
#include "emulator/hosts/worker.h"
#include "emulator/hub/hub.h"
#include "emulator/lab/lab.h"
#include "emulator/shaper/link_server.h"

/// gradwire-emulator-hub: the emulator's own program. It stands apart from `gradwire` since a
/// process must have a single thread to enter a user namespace. Without an argument it is the hub,
/// with `worker HOST` one of the hosts, with `rank R HOST:PORT` one on a machine of its own, with
/// `links` the links between them, with `lab` a measurement of kernel TCP; none of them is
/// meant to be started by hand.
int main(int argc, char** argv) {
  // They end with their parent, and leave Ctrl-C to it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  if (argc == 1) return gradwire::emulator::run_hub();
  if (argc == 3 && std::strcmp(argv[1], "worker") == 0)
    return gradwire::emulator::run_worker(std::atoi(argv[2]),
                                          gradwire::emulator::Place::kNamespace);
  if (argc == 4 && std::strcmp(argv[1], "rank") == 0)
    return gradwire::emulator::run_rank(std::atoi(argv[2]), argv[3]);
  if (argc == 2 && std::strcmp(argv[1], "links") == 0) return gradwire::emulator::run_link_server();
  if (argc == 2 && std::strcmp(argv[1], "lab") == 0) return gradwire::emulator::run_lab_process();
  std::fputs("gradwire-emulator-hub is started by gradwire (--executor emulator)\n", stderr);
  return 2;
}
