#include "runner/record/step_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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
