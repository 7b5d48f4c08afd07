#include "runner/record/step_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runner/traces/trace_correction.h"
#include "sim/cluster/path_cost.h"

namespace gradwire::runner {
namespace {

using results::ExchangeKind;
using results::StepSummary;

constexpr double kPreludeShare = 0.1;  ///< of its bucket's longest message: less is no gradient

/// What a graph's collectives of one kind send, by bucket.
struct Share {
  std::vector<double> payload;
  int collectives = 0;
  double of(std::size_t bucket) const { return bucket < payload.size() ? payload[bucket] : 0; }
  void add(std::size_t bucket, double bytes) {
    payload.resize(std::max(payload.size(), bucket + 1));
    payload[bucket] += bytes;
    ++collectives;
  }
};

bool kind_of(sim::CollectiveKind collective, ExchangeKind& kind) {
  if (collective->has_server()) {
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

/// What is exchanged: the gradients' kinds and payload, and that of what goes before them.
struct Exchanges {
  ExchangeKind kind{};                        ///< of most bytes
  std::map<std::size_t, ExchangeKind> kinds;  ///< by bucket
  Share gradients, prelude;
  Share pulls;  ///< of the gradients, what a server sends back
};

/// Whether workers push chunks to the workers that own them, and these gather the sums round a
/// ring.
bool is_scatter(const Planned& planned, int workers) {
  return planned.spec->kind == sim::CollectiveKind::kPush && planned.spec->server < workers;
}

/// Payload of a collective whose messages were all like those on its longest path. Sums that widen
/// as they are added are narrow at a tree's many leaves, and its path leads through all widths.
double payload_of(const Planned& planned) {
  const sim::CollectiveSpec& spec = *planned.spec;
  if (spec.kind != sim::CollectiveKind::kTreeAllReduce)
    return static_cast<double>(sim::total_payload(spec, planned.bytes).count());
  const auto n = static_cast<int>(spec.members.size());
  double widths = 0;
  int levels = 0;
  for (int summed = 1; summed < n; summed *= 2, ++levels)
    widths += sim::width_of(spec, summed) + sim::width_of(spec, n);
  if (levels == 0) return 0;
  return 2.0 * (n - 1) * static_cast<double>(spec.elements) / 8 * widths / (2 * levels);
}

/// Chunks differ in size; the largest sets the pace, to its owner and round the ring.
void take_largest_chunks(const std::map<std::int32_t, double>& largest, int workers,
                         Exchanges& exchanges) {
  for (std::size_t b = 0; b < exchanges.gradients.payload.size(); ++b)
    exchanges.gradients.payload[b] =
        2.0 * workers * (workers - 1) * largest.at(static_cast<std::int32_t>(b));
}

ExchangeKind main_kind(const Exchanges& exchanges) {
  std::map<ExchangeKind, double> bytes;
  for (const auto& [bucket, kind] : exchanges.kinds) bytes[kind] += exchanges.gradients.of(bucket);
  return std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; })->first;
}

/// Empty where a bucket's gradients go by two kinds, or by one without a closed form.
std::optional<Exchanges> exchanges_of(const scenarios::StepPlan& plan, int workers) {
  const std::vector<Planned> collectives = collectives_of(plan);
  std::map<std::int32_t, double> longest;  // by bucket
  bool scatters = false;
  for (const Planned& planned : collectives) {
    double& most = longest[planned.spec->buffer];
    most = std::max(most, planned.longest());
    scatters = scatters || is_scatter(planned, workers);
  }
  Exchanges found;
  for (const Planned& planned : collectives) {
    const bool gradients =
        scatters || planned.longest() > kPreludeShare * longest[planned.spec->buffer];
    ExchangeKind kind{};
    if (gradients && !kind_of(planned.spec->kind, kind)) return std::nullopt;
    if (scatters && (is_scatter(planned, workers) || kind == ExchangeKind::kRingAllGather))
      kind = ExchangeKind::kScatterReduce;
    const auto bucket = static_cast<std::size_t>(planned.spec->buffer);
    if (gradients && !found.kinds.try_emplace(bucket, kind).second && kind != found.kinds[bucket])
      return std::nullopt;
    (gradients ? found.gradients : found.prelude).add(bucket, payload_of(planned));
    if (gradients && planned.spec->kind == sim::CollectiveKind::kPull)
      found.pulls.add(bucket, payload_of(planned));
  }
  if (found.gradients.collectives == 0) return std::nullopt;
  if (scatters) take_largest_chunks(longest, workers, found);
  found.kind = main_kind(found);
  return found;
}

/// Mean and relative deviation of weighted values, both from their distances to the first one: what
/// is all alike has exactly that mean and no deviation, where a rounded mean would leave one.
class Spread {
 public:
  void add(double value, double weight = 1) {
    if (weights_ == 0) first_ = value;
    const double distance = value - first_;
    weights_ += weight;
    sum_ += weight * distance;
    square_ += weight * distance * distance;
  }
  double mean() const { return weights_ > 0 ? first_ + sum_ / weights_ : 0; }
  double relative() const {
    if (weights_ <= 0 || mean() <= 0) return 0;
    const double off = sum_ / weights_;
    return std::sqrt(std::max(0.0, square_ / weights_ - off * off)) / mean();
  }

 private:
  double first_ = 0, weights_ = 0, sum_ = 0, square_ = 0;
};

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.add(value);
  return spread;
}

/// Rates of a schedule's pieces over a period, weighted by their lengths.
void add_schedule(const sim::RateSchedule& schedule, Spread& spread) {
  const auto& pieces = schedule.pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const double end = i + 1 < pieces.size()
                           ? pieces[i + 1].begin.value()
                           : std::max(schedule.period().value(), pieces[i].begin.value());
    spread.add(pieces[i].rate.value(), end - pieces[i].begin.value());
  }
}

/// Relative deviation of the rates that the cluster's schedules go through.
double schedule_spread(const sim::Cluster& cluster) {
  Spread spread;
  for (const sim::Link& link : cluster.links())
    for (const auto& schedule : {link.spec.schedule, link.spec.schedule_back})
      if (schedule) add_schedule(*schedule, spread);
  return spread.relative();
}

}  // namespace

void take_paths(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                StepSummary& step) {
  const bool served = step.exchange == ExchangeKind::kParameterServer && cluster.has_server();
  // Each hop stores a full segment and forwards it.
  const auto first_segment = static_cast<double>(transport.wire_segment.count());
  step.segment_bytes = static_cast<double>(transport.segment.count());
  step.wire_segment_bytes = first_segment;
  step.timeout_s = transport.min_rto.value();
  step.delayed_ack_s = transport.delayed_ack.value();
  std::vector<double> seconds_a_byte, rates, delays, forwarding, losses;
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
    delays.push_back(path.propagation + path.forwarding * first_segment);
    forwarding.push_back(path.forwarding * first_segment);
    losses.push_back(1 - passed);
  }
  if (rates.empty()) return;
  step.bandwidth = 1 / spread_of(seconds_a_byte).mean();
  step.delay_s = spread_of(delays).mean();
  step.forwarding_s = spread_of(forwarding).mean();
  step.loss = spread_of(losses).mean();
  step.rate_spread = std::hypot(spread_of(rates).relative(), schedule_spread(cluster));
  correct_for_traces(cluster, transport, step);
}

namespace {

/// The messages that a bucket's payloads are made of, one worker's.
void add_buckets(const scenarios::ComputeProfile& profile, const Exchanges& exchanges,
                 StepSummary& step) {
  for (std::size_t b = 0; b < std::max<std::size_t>(profile.buckets.size(), 1); ++b) {
    results::BucketSummary& bucket = step.buckets.emplace_back();
    const auto kind = exchanges.kinds.find(b);
    if (kind != exchanges.kinds.end() && kind->second != step.exchange)
      bucket.exchange = kind->second;
    const ExchangeKind way = step.exchange_of(bucket);
    const ExchangeKind before =
        way == ExchangeKind::kParameterServer ? way : ExchangeKind::kRingAllGather;
    const double sent = results::messages_sent(way, step.workers);
    const double sent_before = results::messages_sent(before, step.workers);
    if (sent > 0) bucket.message_bytes = exchanges.gradients.of(b) / sent;
    if (way == ExchangeKind::kParameterServer)
      bucket.pull_bytes = exchanges.pulls.of(b) / step.workers;
    if (sent_before > 0) bucket.prelude_bytes = exchanges.prelude.of(b) / sent_before;
    if (profile.buckets.empty()) continue;
    const scenarios::ComputeProfile::Bucket& times = profile.buckets[b];
    bucket.backward_s = times.backward.value();
    bucket.encode_s = times.encode.value();
    bucket.decode_s = times.decode.value();
    bucket.add_s = times.aggregate.value();
    bucket.scale_s = bucket.prelude_bytes > 0 ? times.scale.value() : 0;
  }
}

/// All but the last are passed forward and backward before it, and send nothing.
void add_micro_batches(int micro_batches, StepSummary& step) {
  double pass = step.forward_s;
  for (const results::BucketSummary& bucket : step.buckets) pass += bucket.backward_s;
  step.forward_s += (micro_batches - 1) * pass;
}

}  // namespace

std::optional<StepSummary> summarize(const scenarios::Scenario& scenario,
                                     const sim::Cluster& cluster,
                                     const scenarios::ComputeProfile& profile,
                                     const scenarios::StepPlan& plan) {
  if (!plan.graph) return std::nullopt;
  if (!without_closed_form(scenario, cluster).empty()) return std::nullopt;
  const auto exchanges = exchanges_of(plan, scenario.cluster.workers);
  if (!exchanges) return std::nullopt;
  StepSummary step;
  step.workers = scenario.cluster.workers;
  step.exchange = exchanges->kind;
  for (const sim::CollectiveSpec& spec : plan.graph->collectives)
    if (spec.kind == sim::CollectiveKind::kTwoLevelAllReduce) step.group = spec.group;
  step.forward_s = profile.forward.value();
  step.update_s = profile.update.value();
  step.assumed = {profile.compute_range, profile.codec_range};
  step.overlap = scenario.exchange.overlap;
  step.compute_spread = scenario.cluster.spread;
  for (const double factor : scenario.cluster.slowdown)
    step.slowest = std::max(step.slowest, factor);
  add_buckets(profile, *exchanges, step);
  add_micro_batches(scenario.workload.micro_batches, step);
  take_paths(cluster, scenario.network.transport, step);
  return step;
}

}  // namespace gradwire::runner
