#include "runner/trace_correction.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "results/prediction/step_model.h"
#include "runner/message_times.h"
#include "sim/flow/shares/rate_follower.h"

namespace gradwire::runner {
namespace {

using results::ExchangeKind;
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

/// One exchange of a step: a prelude, or a bucket's.
struct Exchanged {
  double key = 0;  ///< bytes by which the correction knows it
  bool prelude = false;
  double push = 0, pull = 0;  ///< bytes with a server
};

std::vector<Path> neighbours(const sim::Cluster& cluster, int workers) {
  std::vector<Path> paths;
  for (int worker = 0; worker < workers; ++worker)
    paths.push_back(path_of(cluster, worker, (worker + 1) % workers));
  return paths;
}

/// When exchanges end that begin at a time, one after the other.
class Ends {
 public:
  virtual ~Ends() = default;
  virtual double end(std::size_t exchange, double begin) = 0;
};

class RingEnds final : public Ends {
 public:
  RingEnds(const sim::Cluster& cluster, const StepSummary& step,
           const std::vector<Exchanged>& exchanges)
      : paths_(neighbours(cluster, step.workers)), exchanges_(exchanges), delay_(step.delay_s) {
    hops_ = results::hops_of(step.exchange, step.workers, step.group).front();
    prelude_ = results::hops_of(ExchangeKind::kRingAllGather, step.workers, step.group).front();
  }
  double end(std::size_t exchange, double begin) override {
    const Exchanged& its = exchanges_[exchange];
    const results::Hops& hops = its.prelude ? prelude_ : hops_;
    const double efficiency = results::usual_constants()[0] / (1 + results::kAcknowledgements);
    return ring_end(paths_, hops, its.key / efficiency * hops.share, delay_, begin);
  }

 private:
  std::vector<Path> paths_;
  const std::vector<Exchanged>& exchanges_;
  double delay_;
  results::Hops hops_, prelude_;
};

/// Workers' messages as a fluid, without TCP.
class ServerEnds final : public Ends {
 public:
  ServerEnds(const sim::Cluster& cluster, const StepSummary& step,
             const std::vector<Exchanged>& exchanges)
      : exchanges_(exchanges), delay_(step.delay_s) {
    for (int worker = 0; worker < step.workers; ++worker) {
      there_.push_back(path_of(cluster, worker, step.workers));
      back_.push_back(path_of(cluster, step.workers, worker));
    }
  }
  double end(std::size_t exchange, double begin) override {
    const double efficiency = results::usual_constants()[0];
    const double pushed = all_end(there_, exchanges_[exchange].push / efficiency, delay_, begin);
    return all_end(back_, exchanges_[exchange].pull / efficiency, delay_, pushed);
  }

 private:
  std::vector<Path> there_, back_;
  const std::vector<Exchanged>& exchanges_;
  double delay_;
};

/// Workers' messages as one worker alone takes them, with TCP.
class SampledEnds final : public Ends {
 public:
  SampledEnds(const RepeatedLinks& links, const sim::TransportSettings& transport,
              const StepSummary& step, const std::vector<Exchanged>& exchanges)
      : step_(step), exchanges_(exchanges) {
    for (const Exchanged& exchange : exchanges)
      times_.emplace_back(links, transport, exchange.push, exchange.pull);
  }
  double end(std::size_t exchange, double begin) override {
    const MessageTimes& times = times_[exchange];
    ++count_;
    double pushed = begin + shared(exchanges_[exchange].push);
    for (int worker = 0; worker < step_.workers; ++worker)
      pushed = std::max(pushed, begin + times.push(worker, begin, worker + count_));
    double end = pushed + shared(exchanges_[exchange].pull);
    for (int worker = 0; worker < step_.workers; ++worker)
      end = std::max(end, pushed + times.pull(worker, pushed, worker + count_));
    return end;
  }

 private:
  /// What all workers' messages take on the server's link.
  double shared(double bytes) const {
    if (step_.server_bandwidth <= 0) return 0;
    const double all = bytes * step_.workers / results::usual_constants()[0];
    return all / step_.server_bandwidth + step_.delay_s;
  }
  const StepSummary& step_;
  const std::vector<Exchanged>& exchanges_;
  std::vector<MessageTimes> times_;
  int count_ = 0;
};

double compute_of(const StepSummary& step) {
  double seconds = step.forward_s + step.update_s;
  for (const results::BucketSummary& bucket : step.buckets)
    seconds += bucket.backward_s + bucket.encode_s + bucket.decode_s;
  return seconds;
}

/// The smallest and the largest by `bytes`, ascending and apart; none of 0.
std::vector<Exchanged> extremes(const StepSummary& step, double results::BucketSummary::*bytes,
                                bool prelude) {
  const auto [least, most] = std::ranges::minmax_element(
      step.buckets, {}, [&](const auto& bucket) { return bucket.*bytes; });
  std::vector<Exchanged> list;
  for (const auto& bucket : {*least, *most}) {
    const double size = bucket.*bytes;
    if (size <= 0 || (!list.empty() && size <= list.back().key)) continue;
    const double pull = prelude || bucket.pull_bytes <= 0 ? size : bucket.pull_bytes;
    list.push_back({size, prelude, std::max(1.0, 2 * size - pull), pull});
  }
  return list;
}

/// Mean seconds of each exchange in steps one after the other.
std::vector<double> mean_exchanges(const StepSummary& step, std::size_t exchanges, double passes,
                                   Ends& ends) {
  const int most = std::clamp(static_cast<int>(kPasses / passes), 1, kMost);
  const double compute = compute_of(step);
  std::vector<double> sums(exchanges, 0);
  double now = 0;
  int steps = 0;
  for (; steps < most && (steps < kFewest || now < kLeast_s); ++steps) {
    for (std::size_t e = 0; e < exchanges; ++e) {
      const double end = ends.end(e, now);
      sums[e] += end - now;
      now = end;
    }
    now += compute;
  }
  for (double& sum : sums) sum /= steps;
  return sums;
}

std::unique_ptr<Ends> ends_of(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                              const StepSummary& step, const std::vector<Exchanged>& exchanges) {
  if (step.exchange != ExchangeKind::kParameterServer)
    return std::make_unique<RingEnds>(cluster, step, exchanges);
  if (const auto links = repeated_links(cluster))
    return std::make_unique<SampledEnds>(*links, transport, step, exchanges);
  return std::make_unique<ServerEnds>(cluster, step, exchanges);
}

bool follows_schedules(const sim::Cluster& cluster) {
  return std::any_of(cluster.links().begin(), cluster.links().end(),
                     [](const sim::Link& link) { return link.spec.schedule != nullptr; });
}

}  // namespace

void correct_for_traces(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                        StepSummary& step) {
  step.correction = step.prelude_correction = {};
  const auto hops = results::hops_of(step.exchange, step.workers, step.group);
  const bool ring = hops.size() == 1 && hops[0].same_connections;
  const bool served = step.exchange == ExchangeKind::kParameterServer && cluster.has_server();
  if (!follows_schedules(cluster) || !(ring || served) || step.buckets.empty()) return;
  std::vector<Exchanged> exchanges;
  if (served || step.exchange == ExchangeKind::kRingAllReduce)
    exchanges = extremes(step, &results::BucketSummary::prelude_bytes, true);
  std::ranges::copy(extremes(step, &results::BucketSummary::message_bytes, false),
                    std::back_inserter(exchanges));
  const double passes = step.workers * hops[0].count * static_cast<double>(exchanges.size());
  const auto ends = ends_of(cluster, transport, step, exchanges);
  const std::vector<double> means = mean_exchanges(step, exchanges.size(), passes, *ends);
  for (std::size_t e = 0; e < exchanges.size(); ++e) {
    const Exchanged& its = exchanges[e];
    StepSummary plain = step;
    plain.correction = {};
    if (its.prelude && ring) plain.exchange = ExchangeKind::kRingAllGather;
    (its.prelude ? step.prelude_correction : step.correction)
        .add(its.key,
             means[e] / results::exchange_time(plain, its.key, results::usual_constants()));
  }
}

}  // namespace gradwire::runner
