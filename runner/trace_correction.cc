#include "runner/trace_correction.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>

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

/// When each worker has received a ring's last hop; `times` says when it begins. A hop's bytes
/// follow the last hop's at once where those have only just left: a slow link never waits for its
/// neighbour to have received. `sent` is when each path's last bytes have left.
void ring_ends(std::vector<Path>& paths, const results::Hops& hops, double bytes, double delay,
               std::vector<double>& sent, std::vector<double>& times) {
  const std::size_t n = paths.size();
  std::vector<double> next(n);
  for (int hop = 0; hop < static_cast<int>(hops.count); ++hop) {
    for (std::size_t r = 0; r < n; ++r) {
      sent[r] = pass(paths[r], std::max(times[r], sent[r]), bytes);
      next[(r + 1) % n] = sent[r] + delay;
    }
    std::swap(times, next);
  }
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

/// When exchanges end for each worker, which goes on alone.
class Ends {
 public:
  virtual ~Ends() = default;
  /// `times` says when each worker begins the exchange, and then when it has what it waits for.
  virtual void run(std::size_t exchange, std::vector<double>& times) = 0;
};

/// A ring's exchange begins for all workers once the last of them has the one before: held against
/// `flow`, workers that go on alone came out further off.
class RingEnds final : public Ends {
 public:
  RingEnds(const sim::Cluster& cluster, const StepSummary& step,
           const std::vector<Exchanged>& exchanges)
      : paths_(neighbours(cluster, step.workers)), exchanges_(exchanges), delay_(step.delay_s) {
    hops_ = results::hops_of(step.exchange, step.workers, step.group).front();
    prelude_ = results::hops_of(ExchangeKind::kRingAllGather, step.workers, step.group).front();
  }
  void run(std::size_t exchange, std::vector<double>& times) override {
    const Exchanged& its = exchanges_[exchange];
    const results::Hops& hops = its.prelude ? prelude_ : hops_;
    const double efficiency = results::usual_constants()[0] / (1 + results::kAcknowledgements);
    std::vector<double> sent = times;
    ring_ends(paths_, hops, its.key / efficiency * hops.share, delay_, sent, times);
    std::ranges::fill(times, std::ranges::max(times));
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
  void run(std::size_t exchange, std::vector<double>& times) override {
    const double efficiency = results::usual_constants()[0];
    double pushed = 0;
    for (std::size_t w = 0; w < times.size(); ++w)
      pushed = std::max(pushed,
                        pass(there_[w], times[w], exchanges_[exchange].push / efficiency) + delay_);
    for (std::size_t w = 0; w < times.size(); ++w)
      times[w] = pass(back_[w], pushed, exchanges_[exchange].pull / efficiency) + delay_;
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
  void run(std::size_t exchange, std::vector<double>& times) override {
    const MessageTimes& its = times_[exchange];
    ++count_;
    const double first = *std::ranges::min_element(times);
    double pushed = first + shared(exchanges_[exchange].push);
    for (int w = 0; w < step_.workers; ++w)
      pushed = std::max(pushed, time_of(times, w) + its.push(w, time_of(times, w), w + count_));
    const double served = pushed + shared(exchanges_[exchange].pull);
    for (int w = 0; w < step_.workers; ++w)
      time_of(times, w) = std::max(served, pushed + its.pull(w, pushed, w + count_));
  }

 private:
  static double& time_of(std::vector<double>& times, int worker) {
    return times[static_cast<std::size_t>(worker)];
  }
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

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Mean seconds of each exchange in steps one after the other.
std::vector<double> mean_exchanges(const StepSummary& step, std::size_t exchanges, double passes,
                                   Ends& ends) {
  const int most = std::clamp(static_cast<int>(kPasses / passes), 1, kMost);
  const double compute = compute_of(step);
  std::vector<double> sums(exchanges, 0);
  std::vector<double> times(static_cast<std::size_t>(step.workers), 0);
  double now = 0;
  int steps = 0;
  for (; steps < most && (steps < kFewest || now < kLeast_s); ++steps) {
    for (std::size_t e = 0; e < exchanges; ++e) {
      const double begin = mean_of(times);
      ends.run(e, times);
      sums[e] += mean_of(times) - begin;
    }
    for (double& time : times) time += compute;
    now = mean_of(times);
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
