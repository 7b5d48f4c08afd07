#include "runner/traces/trace_correction.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "results/prediction/step_model.h"
#include "runner/traces/ring_hops.h"
#include "runner/traces/sampled_messages.h"
#include "runner/traces/served_exchanges.h"

namespace gradwire::runner {
namespace {

using results::ExchangeKind;
using results::StepSummary;

// So much virtual time, and so many exchanges at least and at most; fewer where many workers make
// one long.
constexpr double kLeast_s = 300;
constexpr std::size_t kFewest = 5;
constexpr double kMost = 2000;
constexpr double kPasses = 5e5;
constexpr double kMostWork = 8e5;  ///< of simulated messages (sampled_messages.h)

/// One exchange of a step: a prelude, or a bucket's.
struct Exchanged {
  double key = 0;  ///< bytes by which the correction knows it
  bool prelude = false;
  double push = 0, pull = 0;  ///< bytes with a server
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

/// A step's messages, as steps repeat them: hops of a ring, or exchanges with a server.
template <class Item>
struct Messages {
  std::vector<Item> items;
  std::vector<std::size_t> ends;  ///< [exchange]: how many items up to its last
};

Messages<RingHop> hops_of_step(const StepSummary& step, const std::vector<Exchanged>& exchanges) {
  const auto its = results::hops_of(step.exchange, step.workers, step.group).front();
  const auto prelude =
      results::hops_of(ExchangeKind::kRingAllGather, step.workers, step.group).front();
  Messages<RingHop> list;
  for (const Exchanged& exchange : exchanges) {
    const results::Hops& hops = exchange.prelude ? prelude : its;
    list.items.insert(list.items.end(), static_cast<std::size_t>(hops.count),
                      {exchange.key * hops.share, 0});
    list.ends.push_back(list.items.size());
  }
  return list;
}

Messages<ServedExchange> served_of_step(const std::vector<Exchanged>& exchanges) {
  Messages<ServedExchange> list;
  for (const Exchanged& exchange : exchanges) {
    list.items.push_back({exchange.push, exchange.pull, 0});
    list.ends.push_back(list.items.size());
  }
  return list;
}

/// Mean seconds of each exchange in steps one after the other: by `fluid`, the first of them by
/// flow.
template <class Item, class Fluid>
std::vector<double> mean_exchanges(const sim::Cluster& cluster,
                                   const sim::TransportSettings& transport, int workers,
                                   const Messages<Item>& step, Fluid fluid) {
  const std::size_t size = step.items.size();
  const double passes = static_cast<double>(size) * workers;
  const auto most = static_cast<std::size_t>(std::clamp(kPasses / passes, 1.0, kMost));
  std::vector<Item> items;
  std::vector<double> received;
  std::size_t steps = 0;
  for (; steps < most && (steps < kFewest || received.back() < kLeast_s); ++steps)
    for (const Item& item : step.items) {
      received.push_back(fluid.receive(item));
      items.push_back(item);
    }
  follow(received_by_flow(cluster, transport, workers, items, kMostWork), received);
  std::vector<double> sums(step.ends.size(), 0);
  double begin = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    begin += step.items.front().pause;
    for (std::size_t e = 0; e < sums.size(); ++e) {
      const double end = received[s * size + step.ends[e] - 1];
      sums[e] += end - begin;
      begin = end;
    }
  }
  for (double& sum : sums) sum /= static_cast<double>(steps);
  return sums;
}

std::vector<double> mean_exchanges(const sim::Cluster& cluster,
                                   const sim::TransportSettings& transport, const StepSummary& step,
                                   const std::vector<Exchanged>& exchanges) {
  const int n = step.workers;
  if (step.exchange == ExchangeKind::kParameterServer) {
    auto served = served_of_step(exchanges);
    served.items.front().pause = compute_of(step);
    FluidServer fluid(cluster, n, step.delay_s, step.server_bandwidth);
    return mean_exchanges(cluster, transport, n, served, std::move(fluid));
  }
  auto hops = hops_of_step(step, exchanges);
  hops.items.front().pause = compute_of(step);
  return mean_exchanges(cluster, transport, n, hops, FluidRing(cluster, n, step.delay_s));
}

}  // namespace

bool follows_schedules(const sim::Cluster& cluster) {
  return std::ranges::any_of(cluster.links(), [](const sim::Link& link) {
    const auto changes = [](const sim::RateSchedulePtr& way) { return way && !way->is_steady(); };
    return changes(link.spec.schedule) || changes(link.spec.schedule_back);
  });
}

void correct_for_traces(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                        StepSummary& step) {
  step.correction = step.prelude_correction = {};
  const auto hops = results::hops_of(step.exchange, step.workers, step.group);
  const bool ring = hops.size() == 1 && hops[0].same_connections && hops[0].count > 0;
  const bool served = step.exchange == ExchangeKind::kParameterServer && cluster.has_server();
  if (!follows_schedules(cluster) || !(ring || served) || step.buckets.empty()) return;
  std::vector<Exchanged> exchanges;
  if (served || step.exchange == ExchangeKind::kRingAllReduce)
    exchanges = extremes(step, &results::BucketSummary::prelude_bytes, true);
  std::ranges::copy(extremes(step, &results::BucketSummary::message_bytes, false),
                    std::back_inserter(exchanges));
  const std::vector<double> means = mean_exchanges(cluster, transport, step, exchanges);
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
