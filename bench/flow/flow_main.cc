#include "bench/flow/flow.h"
#include "bench/rows/alone.h"

/// `gradwire bench flow` as a program of its own, which needs base/ and sim/ only.
int main() {
  return gradwire::bench::run_alone("gradwire-bench-flow", gradwire::bench::bench_flow);
}
