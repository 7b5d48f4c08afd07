#include "runner/trace_correction.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "results/prediction/step_model.h"
#include "sim/flow/shares/rate_follower.h"

namespace gradwire::runner {
namespace {

using results::StepSummary;

// So much virtual time, and so many exchanges at least and at most; fewer where many workers make
// one long.
constexpr double kLeast_s = 60;
constexpr int kFewest = 5, kMost = 2000;
constexpr double kPasses = 5e5;
constexpr double kEndless_s = 1e5;
constexpr double kWireSegment = 1538;  ///< bytes

/// The channels of a way, each where it stands in time.
using Path = std::vector<sim::RateFollower>;

Path path_of(const sim::Cluster& cluster, int from, int to) {
  std::vector<sim::ChannelId> route;
  cluster.route(from, to, route);
  Path path;
  for (const sim::ChannelId channel : route)
    path.emplace_back(cluster.link_of(channel), channel, kWireSegment);
  return path;
}

/// When `bytes` have passed that begin at `time`, which is not before any that the path was asked
/// for.
double pass(Path& path, double time, double bytes) {
  while (time < kEndless_s) {
    double until = kEndless_s, rate = HUGE_VAL;
    for (sim::RateFollower& channel : path) {
      channel.advance(time);
      rate = std::min(rate, channel.rate());
      until = std::min(until, channel.next());
    }
    if (rate * (until - time) >= bytes) return time + bytes / rate;
    bytes -= rate * (until - time);
    time = until;
  }
  return time;
}

/// When a ring's hops are done that begin at `time`. A hop's bytes follow the last hop's at once
/// where those have only just left: a slow link never waits for its neighbour to have received.
double ring_end(std::vector<Path>& paths, const results::Hops& hops, double bytes, double delay,
                double time) {
  const std::size_t n = paths.size();
  std::vector<double> received(n, time), sent(n, time), next(n);
  for (int hop = 0; hop < static_cast<int>(hops.count); ++hop) {
    for (std::size_t r = 0; r < n; ++r) {
      sent[r] = pass(paths[r], std::max(received[r], sent[r]), bytes);
      next[(r + 1) % n] = sent[r] + delay;
    }
    std::swap(received, next);
  }
  return *std::max_element(received.begin(), received.end());
}

/// When all workers' messages have passed that begin at `time`.
double all_end(std::vector<Path>& paths, double bytes, double delay, double time) {
  double end = time;
  for (Path& path : paths) end = std::max(end, pass(path, time, bytes) + delay);
  return end;
}

/// The workers' ways: to their neighbours in a ring; to the server, and from it.
struct Ways {
  std::vector<Path> there, back;
};

Ways ways_of(const sim::Cluster& cluster, const StepSummary& step, bool ring) {
  Ways ways;
  const int server = step.workers;
  for (int worker = 0; worker < step.workers; ++worker) {
    ways.there.push_back(path_of(cluster, worker, ring ? (worker + 1) % step.workers : server));
    if (!ring) ways.back.push_back(path_of(cluster, server, worker));
  }
  return ways;
}

/// Of exchanges that take so many passes each.
double mean_exchange(double passes, const std::function<double(double)>& end_of) {
  const int most = std::clamp(static_cast<int>(kPasses / passes), 1, kMost);
  double end = 0;
  int exchanges = 0;
  for (; exchanges < most && (exchanges < kFewest || end < kLeast_s); ++exchanges)
    end = end_of(end);
  return end / exchanges;
}

bool follows_schedules(const sim::Cluster& cluster) {
  return std::any_of(cluster.links().begin(), cluster.links().end(),
                     [](const sim::Link& link) { return link.spec.schedule != nullptr; });
}

}  // namespace

results::Correction trace_correction(const sim::Cluster& cluster, const StepSummary& step) {
  const auto hops = results::hops_of(step.exchange, step.workers, step.group);
  const bool ring = hops.size() == 1 && hops[0].same_connections;
  const bool served =
      step.exchange == results::ExchangeKind::kParameterServer && cluster.has_server();
  if (!follows_schedules(cluster) || !(ring || served) || step.buckets.empty()) return {};
  const results::StepConstants usual = results::usual_constants();
  const double efficiency = usual[0] / (ring ? 1 + results::kAcknowledgements : 1);
  StepSummary plain = step;
  plain.correction = {};
  const auto [least, most] = std::minmax_element(
      step.buckets.begin(), step.buckets.end(),
      [](const auto& a, const auto& b) { return a.message_bytes < b.message_bytes; });
  const double passes = step.workers * hops[0].count;
  results::Correction correction;
  for (const double size : {least->message_bytes, most->message_bytes}) {
    if (size <= 0 || (!correction.value.empty() && size <= correction.value.back())) continue;
    Ways ways = ways_of(cluster, step, ring);
    const double bytes = size / efficiency;
    const double seconds = mean_exchange(passes, [&](double begin) {
      if (ring) return ring_end(ways.there, hops[0], bytes * hops[0].share, step.delay_s, begin);
      const double pushed = all_end(ways.there, bytes, step.delay_s, begin);
      return all_end(ways.back, bytes, step.delay_s, pushed);
    });
    correction.add(size, seconds / results::exchange_time(plain, size, usual));
  }
  return correction;
}

}  // namespace gradwire::runner
