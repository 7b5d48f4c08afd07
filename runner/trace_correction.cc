#include "runner/trace_correction.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "results/prediction/step_model.h"

namespace gradwire::runner {
namespace {

using results::StepSummary;

// So much virtual time, and so many exchanges at least and at most; fewer where many workers make
// one long.
constexpr double kLeast_s = 60;
constexpr int kFewest = 5, kMost = 2000;
constexpr double kPasses = 5e5;
constexpr double kEndless_s = 1e5;

/// A schedule as a link follows it.
class Rates {
 public:
  Rates(const sim::Link& link, sim::ChannelId channel)
      : schedule_(link.schedule(channel).get()),
        offset_(link.spec.schedule_offset.value()),
        fixed_(link.spec.rate.value()) {}

  /// Bits/s from `time` on, and until when.
  double at(double time, double& until) const {
    until = kEndless_s;
    if (!schedule_) return fixed_;
    const double period = schedule_->period().value();
    const double shifted = time + offset_;
    const double turns = period > 0 ? std::floor(shifted / period) : 0;
    const double within = shifted - turns * period;
    const auto& pieces = schedule_->pieces();
    const auto next = std::upper_bound(
        pieces.begin(), pieces.end(), within,
        [](double value, const auto& piece) { return value < piece.begin.value(); });
    const double end = next != pieces.end() ? next->begin.value()
                       : period > 0         ? period
                                            : kEndless_s;
    until = time + std::max(end - within, 1e-9);
    return std::prev(next)->rate.value();
  }

 private:
  const sim::RateSchedule* schedule_;
  double offset_, fixed_;
};

using Path = std::vector<Rates>;

Path path_of(const sim::Cluster& cluster, int from, int to) {
  std::vector<sim::ChannelId> route;
  cluster.route(from, to, route);
  Path path;
  for (const sim::ChannelId channel : route) path.emplace_back(cluster.link_of(channel), channel);
  return path;
}

/// When `bits` have passed that begin at `time`.
double pass(const Path& path, double time, double bits) {
  while (time < kEndless_s) {
    double until = kEndless_s, rate = HUGE_VAL, end = 0;
    for (const Rates& rates : path) {
      rate = std::min(rate, rates.at(time, end));
      until = std::min(until, end);
    }
    if (rate * (until - time) >= bits) return time + bits / rate;
    bits -= rate * (until - time);
    time = until;
  }
  return time;
}

/// When a ring's hops are done that begin at `time`.
double ring_end(const std::vector<Path>& paths, const results::Hops& hops, double bits,
                double delay, double time) {
  const std::size_t n = paths.size();
  std::vector<double> ready(n, time), next(n, time);
  for (int hop = 0; hop < static_cast<int>(hops.count); ++hop) {
    for (std::size_t r = 0; r < n; ++r) {
      double& received = next[(r + 1) % n];
      received = pass(paths[r], std::max(ready[r], received), bits) + delay;
    }
    ready = next;
  }
  return *std::max_element(ready.begin(), ready.end());
}

/// When all workers' messages have passed that begin at `time`.
double all_end(const std::vector<Path>& paths, double bits, double delay, double time) {
  double end = time;
  for (const Path& path : paths) end = std::max(end, pass(path, time, bits) + delay);
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

results::ExchangeCorrection trace_correction(const sim::Cluster& cluster, const StepSummary& step) {
  const auto hops = results::hops_of(step.exchange, step.workers, step.group);
  const bool ring = hops.size() == 1 && hops[0].same_connections;
  const bool served =
      step.exchange == results::ExchangeKind::kParameterServer && cluster.has_server();
  if (!follows_schedules(cluster) || !(ring || served) || step.buckets.empty()) return {};
  const Ways ways = ways_of(cluster, step, ring);
  const results::StepConstants usual = results::usual_constants();
  const double efficiency = usual[0] / (ring ? 1 + results::kAcknowledgements : 1);
  StepSummary plain = step;
  plain.correction = {};
  const auto [least, most] = std::minmax_element(
      step.buckets.begin(), step.buckets.end(),
      [](const auto& a, const auto& b) { return a.message_bytes < b.message_bytes; });
  const double passes = step.workers * hops[0].count;
  results::ExchangeCorrection correction;
  for (const double size : {least->message_bytes, most->message_bytes}) {
    if (size <= 0 || (!correction.bytes.empty() && size <= correction.bytes.back())) continue;
    const double bits = 8 * size / efficiency;
    const double seconds = mean_exchange(passes, [&](double begin) {
      if (ring) return ring_end(ways.there, hops[0], bits * hops[0].share, step.delay_s, begin);
      const double pushed = all_end(ways.there, bits, step.delay_s, begin);
      return all_end(ways.back, bits, step.delay_s, pushed);
    });
    correction.bytes.push_back(size);
    correction.factor.push_back(seconds / results::exchange_time(plain, size, usual));
  }
  return correction;
}

}  // namespace gradwire::runner
