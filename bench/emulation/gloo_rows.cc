#include "bench/emulation/gloo_rows.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "base/error.h"
#include "bench/emulation/steps.h"
#include "bench/rows/timing.h"
#include "emulator/emulator.h"
#include "emulator/hosts/gloo.h"
#include "emulator/shaper/link_plan.h"

namespace gradwire::bench {
namespace {

constexpr int kHosts = 4;
constexpr std::int64_t kElements = 25'000'000;  // 100 MB of floats
constexpr double kRate = 500e6;                 // bits/s; two cores hold that among four
constexpr int kTurns = 3;
constexpr Seconds kLimit{300};

std::vector<double> times_of_gloo(emulator::Emulator& emulator) {
  std::vector<std::vector<std::string>> commands;
  for (int rank = 0; rank < kHosts; ++rank)
    commands.push_back(emulator::gloo_rank(rank, kHosts, std::span(&kElements, 1), kTurns,
                                           emulator::host_address(0)));
  return emulator::gloo_times(emulator.run_programs(commands, kLimit), kTurns);
}

EmulationCase ring_case() {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(kRate);
  EmulationCase c;
  c.cluster = sim::Cluster::star(kHosts, link);
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  for (int host = 0; host < kHosts; ++host) spec.members.push_back(host);
  spec.elements = kElements;
  builder.add_collective(spec, "ring");
  c.graph = builder.finish();
  return c;
}

double ring_to_gloo(const Say& say) {
  const std::string version = emulator::gloo_version();
  const EmulationCase c = ring_case();
  emulator::EmulatorOptions options;
  options.transport = emulation_transport();
  options.shaper = "tbf";
  const auto executor = emulator::make_emulator(c.cluster, options);
  std::vector<double> own, gloo;
  run_step(*executor, c);  // opens connections
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < kTurns; ++i) own.push_back(run_step(*executor, c));
    const std::vector<double> times = times_of_gloo(*executor);
    gloo.insert(gloo.end(), times.begin(), times.end());
  }
  char text[200];
  // A ring's every host sends 2 (N - 1) / N of the floats, each at the link's rate.
  std::snprintf(
      text, sizeof text,
      "  100 MB among %d namespaces at %.0f Mbps: our ring %.0f ms (%.0f to %.0f), Gloo of "
      "PyTorch %s %.0f ms (%.0f to %.0f); its bytes alone take %.0f ms",
      kHosts, kRate / 1e6, 1e3 * median(own), 1e3 * *std::ranges::min_element(own),
      1e3 * *std::ranges::max_element(own), version.c_str(), 1e3 * median(gloo),
      1e3 * *std::ranges::min_element(gloo), 1e3 * *std::ranges::max_element(gloo),
      1e3 * 2 * (kHosts - 1) / kHosts * 4 * kElements * 8 / kRate);
  say(text);
  return median(own) / median(gloo);
}

}  // namespace

std::vector<BenchRow> bench_gloo(const Say& say) {
  BenchRow row{.name = "emulation.ring_to_gloo", .unit = "1", .bar = 1.1};
  row.provenance = "emulated";
  say(row.name);
  try {
    row.value = ring_to_gloo(say);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    row.skipped = error.what();
  }
  return {row};
}

}  // namespace gradwire::bench
