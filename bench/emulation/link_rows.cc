#include "bench/emulation/link_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "bench/emulation/steps.h"
#include "bench/rows/timing.h"
#include "emulator/emulator.h"

namespace gradwire::bench {
namespace {

using emulator::LinkReport;

constexpr int kWarm = 4;       // transfers before those that count
constexpr int kTransfers = 7;  // that count
constexpr int kReplays = 4;    // of a trace

/// Transfers of one size from host 0 to host 1.
EmulationCase transfer_of(const sim::LinkSpec& link, Bytes bytes) {
  sim::GraphBuilder builder;
  builder.add_transfer(0, 1, "move", {});
  EmulationCase c;
  c.cluster = sim::Cluster::star(2, link);
  c.graph = builder.finish();
  c.bytes = {bytes};
  return c;
}

std::unique_ptr<emulator::Emulator> emulate(const EmulationCase& c, std::uint64_t seed) {
  emulator::EmulatorOptions options;
  options.transport = emulation_transport();
  options.shaper = "link";
  options.seed = seed;
  return emulator::make_emulator(c.cluster, options);
}

/// Appends what `measure` gives, or the rows' names with why not.
template <class Measure>
void add(std::vector<BenchRow>& rows, const Say& say, BenchRow row, Measure measure) {
  row.provenance = "emulated";
  say(row.name);
  try {
    row.value = measure();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    row.skipped = error.what();
  }
  rows.push_back(std::move(row));
}

/// How far 10 MB over a star of these links, on a connection that is warm, are from
///     wire bytes / rate + 2 delays + a full frame's time on the second link
double error_of_10_mb(double rate, double one_way, std::uint64_t seed, const Say& say) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(rate);
  link.delay = Seconds(one_way / 2);
  link.queue = Bytes(16'000'000);  // nothing is dropped: the window grows to its buffer
  const EmulationCase c = transfer_of(link, Bytes(10'000'000));
  const auto executor = emulate(c, seed);
  const sim::TransportSettings transport = emulation_transport();
  constexpr Bytes kHeader(56);  // of the emulator's message
  const Bytes wire = sim::wire_bytes(c.bytes[0] + kHeader, transport);
  const double expected = transmission_time(wire, link.rate).value() + one_way +
                          transmission_time(transport.wire_segment, link.rate).value();
  std::vector<double> times;
  for (int i = 0; i < kWarm + kTransfers; ++i) times.push_back(run_step(*executor, c));
  times.erase(times.begin(), times.begin() + kWarm);
  const double time = median(times);
  const LinkReport seen = executor->links();
  char text[200];
  std::snprintf(text, sizeof text,
                "  %.2f ms, and its bytes take %.2f ms; best %.2f, worst %.2f; late by %.0f us in "
                "the median, %.0f us one in a hundred; missed %lld",
                1e3 * time, 1e3 * expected, 1e3 * *std::min_element(times.begin(), times.end()),
                1e3 * *std::max_element(times.begin(), times.end()), 1e6 * seen.late_50,
                1e6 * seen.late_99, static_cast<long long>(seen.missed));
  say(text);
  return std::abs(time / expected - 1);
}

/// Standard errors that the share of frames lost is from the link's loss.
double loss_deviation(std::uint64_t seed, const Say& say) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(100e6);
  link.delay = Seconds(0.5e-3);
  link.loss = 0.01;
  const EmulationCase c = transfer_of(link, Bytes(5'000'000));
  const auto executor = emulate(c, seed);
  for (int i = 0; i < 8; ++i) run_step(*executor, c);
  std::int64_t frames = 0, lost = 0;
  for (const auto& channel : executor->links().channels) {
    frames += channel.frames;
    lost += channel.lost;
  }
  const auto n = static_cast<double>(frames);
  const double deviation = std::sqrt(n * link.loss * (1 - link.loss));
  say("  lost " + std::to_string(lost) + " of " + std::to_string(frames) + " frames");
  return std::abs(static_cast<double>(lost) - n * link.loss) / deviation;
}

/// A trace of 48 Mbps in bursts: 8 opportunities every other millisecond, and a pause of 50 ms.
sim::RateSchedulePtr bursty_trace() {
  std::vector<std::uint32_t> instants;
  for (std::uint32_t ms = 1; ms <= 200; ms += 2)
    for (int i = 0; i < 8; ++i) instants.push_back(ms);
  instants.push_back(250);
  return sim::RateSchedule::from_opportunities("bursts", std::move(instants));
}

/// Frames of a replay that left more than a millisecond late.
double missed_in_replay(std::uint64_t seed, const Say& say) {
  sim::LinkSpec link;
  link.delay = Seconds(2e-3);
  link.schedule = link.schedule_back = bursty_trace();
  const EmulationCase c = transfer_of(link, Bytes(4'000'000));
  const auto executor = emulate(c, seed);
  for (int i = 0; i < 3; ++i) run_step(*executor, c);
  const LinkReport seen = executor->links();
  say("  " + std::to_string(seen.counts.left) + " frames, late by " +
      std::to_string(std::lround(1e6 * seen.late_99)) + " us one in a hundred, " +
      std::to_string(std::lround(1e6 * seen.late_most)) + " at most");
  return static_cast<double>(seen.missed_opportunities);
}

/// Of the best replay of kReplays at most: where the whole machine stands still for a millisecond,
/// as virtual ones do, every program on it is late.
double missed_opportunities(std::uint64_t seed, const Say& say) {
  double missed = missed_in_replay(seed, say);
  for (int i = 1; i < kReplays && missed > 0; ++i) {
    say("  missed " + std::to_string(std::lround(missed)) + "; once more");
    missed = std::min(missed, missed_in_replay(seed, say));
  }
  return missed;
}

}  // namespace

std::vector<BenchRow> bench_link_process(std::uint64_t seed, const Say& say) {
  std::vector<BenchRow> rows;
  const std::string name = "emulation.link.";
  add(rows, say, {.name = name + "100mbps_20ms.error", .unit = "1", .bar = 0.005},
      [&] { return error_of_10_mb(100e6, 20e-3, seed, say); });
  add(rows, say, {.name = name + "1gbps_1ms.error", .unit = "1", .bar = 0.03},
      [&] { return error_of_10_mb(1e9, 1e-3, seed, say); });
  add(rows, say, {.name = name + "loss_deviation", .unit = "standard errors", .bar = 2},
      [&] { return loss_deviation(seed, say); });
  add(rows, say, {.name = name + "missed_opportunities", .unit = "", .bar = 0},
      [&] { return missed_opportunities(seed, say); });
  return rows;
}

}  // namespace gradwire::bench
