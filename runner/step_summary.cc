#include "runner/step_summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/path_cost.h"

namespace gradwire::runner {
namespace {

using results::ExchangeKind;
using results::StepSummary;

constexpr double kPreludeShare = 0.01;  ///< of the longest message: less is no gradient
constexpr double kFirstSegment = 1538;  ///< bytes on the wire that each hop stores and forwards

/// What a graph's collectives of one kind send together.
struct Share {
  double payload = 0;
  int collectives = 0;
};

bool kind_of(sim::CollectiveKind collective, ExchangeKind& kind) {
  if (collective == sim::CollectiveKind::kPush || collective == sim::CollectiveKind::kPull) {
    kind = ExchangeKind::kParameterServer;
    return true;
  }
  return results::exchange_kind(sim::name_of(collective), kind);
}

/// A collective of the plan, and the sizes it reads.
struct Planned {
  const sim::CollectiveSpec* spec;
  std::span<const Bytes> bytes;
  /// Bytes of its longest message: scales are some a tensor, gradients are not.
  double longest() const {
    double longest = 0;
    for (const Bytes size : bytes) longest = std::max(longest, static_cast<double>(size.count()));
    return bytes.empty() ? static_cast<double>(spec->elements) : longest;
  }
};

std::vector<Planned> collectives_of(const scenarios::StepPlan& plan) {
  const sim::GraphTemplate& graph = *plan.graph;
  std::vector<Planned> list;
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    if (graph.kind[op] != sim::OpKind::kCollective) continue;
    const std::uint32_t first = graph.bytes_begin[op];
    list.push_back({&graph.collectives[static_cast<std::size_t>(graph.peer[op])],
                    std::span(plan.bytes).subspan(first, graph.bytes_begin[op + 1] - first)});
  }
  return list;
}

/// What is exchanged: the gradients' kind and payload, and that of what goes before them.
struct Exchanges {
  ExchangeKind kind{};
  Share gradients, prelude;
};

/// Empty where gradients go by two kinds, or by one without a closed form.
std::optional<Exchanges> exchanges_of(const scenarios::StepPlan& plan) {
  const std::vector<Planned> collectives = collectives_of(plan);
  double longest = 0;
  for (const Planned& planned : collectives) longest = std::max(longest, planned.longest());
  Exchanges found;
  for (const Planned& planned : collectives) {
    const bool gradients = planned.longest() > kPreludeShare * longest;
    Share& share = gradients ? found.gradients : found.prelude;
    share.payload += static_cast<double>(sim::total_payload(*planned.spec, planned.bytes).count());
    ExchangeKind kind{};
    if (gradients &&
        (!kind_of(planned.spec->kind, kind) || (share.collectives > 0 && kind != found.kind)))
      return std::nullopt;
    if (gradients) found.kind = kind;
    ++share.collectives;
  }
  if (found.gradients.collectives == 0) return std::nullopt;
  return found;
}

/// Mean and relative deviation.
struct Spread {
  double mean = 0, relative = 0;
};
Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return {mean, mean > 0 ? std::sqrt(square / n) / mean : 0};
}

/// Rates of a schedule's pieces over a period, weighted by their lengths.
void add_schedule(const sim::RateSchedule& schedule, double& length, double& sum, double& square) {
  const auto& pieces = schedule.pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const double end = i + 1 < pieces.size()
                           ? pieces[i + 1].begin.value()
                           : std::max(schedule.period().value(), pieces[i].begin.value());
    const double seconds = end - pieces[i].begin.value();
    const double rate = pieces[i].rate.value();
    length += seconds;
    sum += seconds * rate;
    square += seconds * rate * rate;
  }
}

/// Relative deviation of the rates that the cluster's schedules go through.
double schedule_spread(const sim::Cluster& cluster) {
  double length = 0, sum = 0, square = 0;
  for (const sim::Link& link : cluster.links())
    for (const auto& schedule : {link.spec.schedule, link.spec.schedule_back})
      if (schedule) add_schedule(*schedule, length, sum, square);
  if (length <= 0 || sum <= 0) return 0;
  const double mean = sum / length;
  return std::sqrt(std::max(0.0, square / length - mean * mean)) / mean;
}

}  // namespace

void take_paths(const sim::Cluster& cluster, StepSummary& step) {
  const bool served = step.exchange == ExchangeKind::kParameterServer && cluster.has_server();
  std::vector<double> seconds_a_byte, rates, delays, losses;
  std::vector<sim::ChannelId> route;
  for (int worker = 0; worker < step.workers; ++worker) {
    const int peer = served ? step.workers : (worker + 1) % step.workers;
    if (peer == worker) continue;
    route.clear();
    cluster.route(worker, peer, route);
    const sim::PathCost path(cluster, route);
    if (served) step.server_bandwidth = cluster.nominal_rate(route.back()).value() / 8;
    double passed = 1;
    for (const sim::ChannelId channel : route) passed *= 1 - cluster.channel(channel).mean_loss();
    seconds_a_byte.push_back(1 / path.line_rate);
    rates.push_back(path.line_rate);
    delays.push_back(path.propagation + path.forwarding * kFirstSegment);
    losses.push_back(1 - passed);
  }
  if (rates.empty()) return;
  step.bandwidth = 1 / spread_of(seconds_a_byte).mean;
  step.delay_s = spread_of(delays).mean;
  step.loss = spread_of(losses).mean;
  step.rate_spread = std::hypot(spread_of(rates).relative, schedule_spread(cluster));
}

namespace {

void add_buckets(const scenarios::ComputeProfile& profile, double message, double prelude,
                 StepSummary& step) {
  std::int64_t elements = 0;
  for (const auto& bucket : profile.buckets) elements += bucket.elements;
  const auto count = static_cast<double>(profile.buckets.size());
  for (const auto& bucket : profile.buckets) {
    const double share = static_cast<double>(bucket.elements) / static_cast<double>(elements);
    step.buckets.push_back({bucket.backward.value(), bucket.encode.value(), bucket.decode.value(),
                            bucket.aggregate.value(), share * message, prelude / count});
  }
  if (step.buckets.empty())
    step.buckets.push_back({.message_bytes = message, .prelude_bytes = prelude});
}

}  // namespace

std::optional<StepSummary> summarize(const scenarios::Scenario& scenario,
                                     const sim::Cluster& cluster,
                                     const scenarios::ComputeProfile& profile,
                                     const scenarios::StepPlan& plan) {
  if (!plan.graph || scenario.cluster.workers < 2) return std::nullopt;
  const auto exchanges = exchanges_of(plan);
  if (!exchanges) return std::nullopt;
  StepSummary step;
  step.workers = scenario.cluster.workers;
  step.exchange = exchanges->kind;
  for (const sim::CollectiveSpec& spec : plan.graph->collectives)
    if (spec.kind == sim::CollectiveKind::kTwoLevelAllReduce) step.group = spec.group;
  step.forward_s = profile.forward.value();
  step.update_s = profile.update.value();
  step.overlap = scenario.exchange.overlap;
  step.compute_spread =
      std::hypot(spread_of(scenario.cluster.slowdown).relative, scenario.cluster.spread);
  const ExchangeKind before = step.exchange == ExchangeKind::kParameterServer
                                  ? step.exchange
                                  : ExchangeKind::kRingAllGather;
  add_buckets(profile,
              exchanges->gradients.payload / results::messages_sent(step.exchange, step.workers),
              exchanges->prelude.payload / results::messages_sent(before, step.workers), step);
  take_paths(cluster, step);
  return step;
}

}  // namespace gradwire::runner
