#include "bench/packet/packet.h"
#include "bench/rows/alone.h"

/// `gradwire bench packet` as a program of its own, which needs base/ and sim/ only.
int main() {
  return gradwire::bench::run_alone("gradwire-bench-packet", gradwire::bench::bench_packet);
}
