#include "bench/simgrid_peer.h"

#include <unistd.h>

#include <cstdio>

#include "base/child_process.h"
#include "base/error.h"

namespace gradwire::bench {
namespace {

std::string program() {
  return executable_folder() + "/gradwire-bench-simgrid";
}

std::string output_of(ChildProcess& child) {
  std::string text;
  char part[256];
  for (;;) {
    const ssize_t got = ::read(child.stdout_pipe().get(), part, sizeof part);
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace

bool has_simgrid_peer() {
  return ::access(program().c_str(), X_OK) == 0;
}

double simgrid_ring(const std::string& way, int workers, long long bytes_a_hop) {
  ChildProcess child({program(), way, std::to_string(workers), std::to_string(bytes_a_hop)},
                     {.pipe_stdout = true});
  const std::string text = output_of(child);
  double transfers = 0, wall = 0, simulated = 0;
  if (child.wait() != 0 ||
      std::sscanf(text.c_str(), "%lf %lf %lf", &transfers, &wall, &simulated) != 3 || wall <= 0) {
    throw Error(ErrorKind::kFailure, "measure", program(), "it failed or said: " + text);
  }
  return transfers / wall;
}

}  // namespace gradwire::bench
