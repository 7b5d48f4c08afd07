#include "bench/fidelity/kernel.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "emulator/lab/lab.h"

namespace gradwire::bench {
namespace {

constexpr double kLinkDelay = 0.5e-3;
constexpr double kProbeTime = 0.4;    // s a transfer
constexpr double kExact = 0.01;       // of the time that the bytes take
constexpr double kLeastProbe = 50e6;  // bits/s
constexpr double kMostProbe = 1.6e9;
constexpr int kTries = 2;

emulator::LabPlan plan_of(const Experiment& experiment, std::uint64_t seed, double limit_s) {
  if (experiment.collective)
    throw Error(ErrorKind::kCapability, "measure with kernel TCP", experiment.name,
                "it is a collective", "use --against packet");
  std::vector<emulator::LabChain> chains;
  for (const Chain& chain : experiment.chains)
    chains.push_back({chain.source, chain.destination, chain.bytes});
  emulator::LabPlan plan =
      emulator::plan_lab(experiment.cluster, chains, experiment.options.transport);
  plan.repeats = experiment.repeats;
  plan.gap = experiment.gap;
  plan.together = experiment.together;
  plan.seed = seed;
  plan.limit = Seconds(limit_s);
  return plan;
}

std::vector<double> spans_of(const emulator::LabResult& result, int repeats) {
  std::vector<double> spans;
  for (std::size_t repeat = 0; repeat < static_cast<std::size_t>(repeats); ++repeat) {
    double begin = std::numeric_limits<double>::infinity(), end = 0;
    for (const auto& chain : result.transfers) {
      if (chain.size() <= repeat || chain[repeat].end < 0) return spans;
      begin = std::min(begin, chain[repeat].start);
      end = std::max(end, chain[repeat].end);
    }
    spans.push_back(end - begin);
  }
  return spans;
}

/// One flow that fills a link: whether it took the time that its bytes take.
bool holds(double rate, KernelReach& reach) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(rate);
  link.delay = Seconds(kLinkDelay);
  Experiment probe{.name = "probe", .cluster = sim::Cluster::star(2, link)};
  probe.chains.push_back({0, 1, Bytes(std::llround(rate / 8 * kProbeTime))});
  probe.gap = Seconds(0.01);
  const emulator::LabResult result = emulator::run_lab(plan_of(probe, 1, 10 * kProbeTime));
  const double wire =
      static_cast<double>(sim::wire_bytes(probe.chains[0].bytes, probe.options.transport).count());
  const double expected = 8 * wire / rate + 2 * kLinkDelay;
  const std::vector<double> spans = spans_of(result, probe.repeats);
  if (!result.is_exact() || spans.size() < 2) return false;
  // The best warm one: a transfer that the machine disturbed says nothing about the links.
  const double best = *std::min_element(spans.begin() + 1, spans.end());
  if (best > expected * (1 + kExact)) return false;
  reach = {rate, result.late_50, result.late_99, result.kernel, result.priority};
  return true;
}

}  // namespace

KernelRun run_kernel(const Experiment& experiment, std::uint64_t seed, double limit_s) {
  const emulator::LabResult result = emulator::run_lab(plan_of(experiment, seed, limit_s));
  KernelRun run;
  for (const auto& chain : result.transfers) {
    auto& times = run.times.emplace_back();
    for (const auto& transfer : chain)
      if (transfer.end >= 0) times.push_back(transfer.end - transfer.start);
  }
  run.spans = spans_of(result, experiment.repeats);
  run.late = result.late_in;
  run.late.resize(run.spans.size(), result.late_most);
  run.late_99 = result.late_99;
  run.exact = result.is_exact();
  run.missed = result.missed > 0;
  run.kernel = result.kernel;
  return run;
}

KernelReach measure_kernel_reach() {
  KernelReach reach;
  for (double rate = kLeastProbe; rate <= kMostProbe; rate *= 2) {
    bool held = false;
    for (int i = 0; i < kTries && !held; ++i) held = holds(rate, reach);
    if (!held) break;
  }
  if (reach.rate == 0)
    throw Error(ErrorKind::kCapability, "measure with", "kernel TCP",
                "this machine does not hold 50 Mbps: frames leave the links too late",
                "try again when it is less busy, or use --against packet");
  return reach;
}

}  // namespace gradwire::bench
