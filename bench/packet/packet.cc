#include "bench/packet/packet.h"

#include <algorithm>
#include <cmath>

#include "bench/flow/flow_cases.h"
#include "bench/packet/ns3_peer.h"
#include "bench/packet/packet_cases.h"
#include "bench/rows/timing.h"
#include "sim/packet/packet_estimate.h"

namespace gradwire::bench {
namespace {

constexpr int kWorkers = 16;
constexpr std::int64_t kElements = 1'000'000;  // 4 MB
constexpr int kRounds = 3;
constexpr int kSteps = 2;  // of a forecast: one on fresh connections, one on warm ones
constexpr int kFlowRuns = 300;
constexpr int kPerPacketRuns = 10;

double off_by(double value, double reference) {
  return 100 * std::abs(value / reference - 1);
}

/// 1 = exact; as bad when too high as when too low.
double factor(double value, double reference) {
  return std::max(value / reference, reference / value);
}

/// The quickest of a few runs of ours and of the plain program, in turns.
PacketRun measure_ring(const Say& say, std::vector<BenchRow>& rows) {
  const std::string name = "packet.ring.n16.";
  say(name + "wall_s ...");
  PacketRun ours;
  Ns3Ring bare;
  for (int round = 0; round < kRounds; ++round) {
    const PacketRun run = run_packet_ring(kWorkers, kElements);
    if (round == 0 || run.wall_s < ours.wall_s) ours = run;
    if (!has_ns3_peer()) continue;
    const Ns3Ring peer = ns3_ring(kWorkers, 4 * kElements / kWorkers);
    if (round == 0 || peer.wall_s < bare.wall_s) bare = peer;
  }
  rows.push_back({.name = name + "wall_s", .value = ours.wall_s, .unit = "s"});
  rows.push_back(
      {.name = name + "events_per_second", .value = ours.events / ours.wall_s, .unit = "1/s"});
  if (!has_ns3_peer()) {
    say(name + "ratio_to_plain_ns3: left out, gradwire-bench-ns3 was not built");
    return ours;
  }
  rows.push_back({.name = name + "plain_ns3.wall_s", .value = bare.wall_s, .unit = "s"});
  rows.push_back({.name = name + "ratio_to_plain_ns3",
                  .value = ours.wall_s / bare.wall_s,
                  .unit = "",
                  .bar = 1.3});
  rows.push_back({.name = name + "simulated_off_plain_ns3",
                  .value = off_by(ours.simulated_s, bare.simulated_s),
                  .unit = "%",
                  .bar = 1,
                  .provenance = "simulated"});
  return ours;
}

void add_flow(const PacketRun& packet, const Say& say, std::vector<BenchRow>& rows) {
  const std::string name = "packet.ring.n16.flow_";
  say(name + "speed_up ...");
  FlowRun flow = run_ring(kWorkers, kElements);
  for (int i = 1; i < kFlowRuns; ++i) {
    const FlowRun again = run_ring(kWorkers, kElements);
    if (again.wall_s < flow.wall_s) flow = again;
  }
  rows.push_back({.name = name + "wall_s", .value = flow.wall_s, .unit = "s"});
  rows.push_back({.name = name + "speed_up",
                  .value = packet.wall_s / flow.wall_s,
                  .unit = "",
                  .bar = 10'000,
                  .at_most = false});
  rows.push_back({.name = name + "error",
                  .value = off_by(flow.simulated_s, packet.simulated_s),
                  .unit = "%",
                  .bar = 1,
                  .provenance = "simulated"});
  const double warm = warm_ring_s("flow", kWorkers, kElements);
  rows.push_back({.name = name + "error_warm",
                  .value = off_by(warm, warm_ring_s("packet", kWorkers, kElements)),
                  .unit = "%",
                  .bar = 1,
                  .provenance = "simulated"});
}

/// The same packets and queues by flow's own engine.
void add_per_packet(const PacketRun& packet, const Say& say, std::vector<BenchRow>& rows) {
  const std::string name = "packet.ring.n16.per_packet_";
  say(name + "speed_up ...");
  FlowRun best;
  for (int round = 0; round < kPerPacketRuns; ++round) {
    const FlowRun run = run_ring(kWorkers, kElements, Fold::kOff, sim::Detail::kPerPacket);
    if (round == 0 || run.wall_s < best.wall_s) best = run;
  }
  rows.push_back({.name = name + "wall_s", .value = best.wall_s, .unit = "s"});
  rows.push_back({.name = name + "speed_up",
                  .value = packet.wall_s / best.wall_s,
                  .unit = "",
                  .bar = 35,
                  .at_most = false});
  rows.push_back({.name = name + "error",
                  .value = off_by(best.simulated_s, packet.simulated_s),
                  .unit = "%",
                  .bar = 0.001,
                  .provenance = "simulated"});
}

void add_forecasts(const Say& say, std::vector<BenchRow>& rows) {
  for (const PacketCase& c : forecast_cases()) {
    const std::string name = "packet.forecast." + c.name;
    say(name + " ...");
    const sim::PacketWork work = work_of(c);
    const double speed = sim::measure_packet_speed({});
    const PacketRun run = run_packet(c, kSteps);
    rows.push_back({.name = name + ".events_off_by_factor",
                    .value = factor(kSteps * work.events, run.events),
                    .unit = "",
                    .bar = 2,
                    .provenance = "predicted"});
    rows.push_back({.name = name + ".wall_off_by_factor",
                    .value = factor(kSteps * work.effort / speed, run.wall_s),
                    .unit = "",
                    .bar = 2,
                    .provenance = "predicted"});
  }
}

}  // namespace

std::vector<BenchRow> bench_packet(const Say& say) {
  std::vector<BenchRow> rows;
  const PacketRun ring = measure_ring(say, rows);
  add_flow(ring, say, rows);
  add_per_packet(ring, say, rows);
  add_forecasts(say, rows);
  return labelled(std::move(rows), "measured");
}

}  // namespace gradwire::bench
