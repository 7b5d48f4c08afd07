#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "results/prediction/exchange_pairs.h"
#include "runner/record/step_summary.h"
#include "runner/traces/trace_correction.h"
#include "sim/cluster/path_cost.h"

/// What a network gives the hops of a step's exchanges. A hop's transfers are under way at once;
/// on a channel of rate C that L of them cross each has C / L, and the least of that along its path
/// is its rate. The hop ends with its slowest transfer. Round a ring no hop waits for all others:
/// transfers follow each other on the slowest link without its latency, or a chunk goes round by
/// all links with theirs, whichever takes longer.
namespace gradwire::runner {
namespace {

using results::ExchangeKind;
using results::HopPath;
using results::StepSummary;

/// A pair's path.
struct PairPath {
  double alone = 0;    ///< s a byte, where nothing else is on the way
  double crowded = 0;  ///< beside the hop's other transfers
  double delay = 0;    ///< s, one way, of a full segment
  double forwarding = 0;
  double loss = 0;

  bool operator==(const PairPath&) const = default;
};

/// All transfers of one entry of hops_of().
struct HopPaths {
  results::Hops hops;
  std::vector<PairPath> pairs;

  const PairPath& most(double PairPath::*figure) const {
    return *std::ranges::max_element(pairs, {}, figure);
  }
  double mean(double PairPath::*figure) const {
    double off = 0;  // from the first: what is all alike has exactly that mean
    for (const PairPath& pair : pairs) off += pair.*figure - pairs[0].*figure;
    return pairs[0].*figure + off / static_cast<double>(pairs.size());
  }
  bool alike() const {
    return std::ranges::all_of(pairs, [&](const PairPath& pair) { return pair == pairs[0]; });
  }
  /// Of several flows side by side each has its own way; what they share is the hop's.
  double own(const PairPath& pair) const { return hops.flows > 1 ? pair.alone : pair.crowded; }
  double share_of(const PairPath& like) const {
    const auto alike = std::ranges::count_if(pairs, [&](const PairPath& pair) {
      return own(pair) == own(like) && pair.delay == like.delay && pair.loss == like.loss;
    });
    return static_cast<double>(alike) / static_cast<double>(pairs.size());
  }
  /// What flows side by side have together.
  double shared() const { return hops.flows / most(&PairPath::crowded).crowded; }
};

class NetworkPaths {
 public:
  NetworkPaths(const sim::Cluster& cluster, const sim::TransportSettings& transport)
      : cluster_(cluster),
        segment_(static_cast<double>(transport.wire_segment.count())),
        directions_differ_(std::ranges::any_of(cluster.links(), [](const sim::Link& link) {
          return link.spec.schedule || link.spec.schedule_back;
        })) {}

  std::vector<HopPaths> paths_of(ExchangeKind kind, int workers, int group) const {
    const std::vector<results::Hops> hops = results::hops_of(kind, workers, group);
    const bool hostless = kind == ExchangeKind::kParameterServer && !cluster_.has_server();
    const std::vector<results::HopPairs> pairs =
        hostless ? to_worker(workers) : results::hop_pairs(kind, workers, group);
    std::vector<HopPaths> all;
    for (std::size_t h = 0; h < pairs.size(); ++h) all.push_back(paths_of(hops[h], pairs[h]));
    return all;
  }

  /// Nominal bytes a second of the last link from one host to the other.
  double last_link_of(int source, int destination) const {
    std::vector<sim::ChannelId> route;
    cluster_.route(source, destination, route);
    return cluster_.nominal_rate(route.back()).value() / 8;
  }

 private:
  /// To a server that the cluster has no host for: it has the link of the first worker.
  static std::vector<results::HopPairs> to_worker(int workers) {
    if (workers < 2) return {};
    results::HopPairs hop;
    for (int w = 1; w < workers; ++w) hop.pairs.push_back({w, 0});
    hop.each = workers / (workers - 1.0);
    return {hop};
  }

  /// Over links whose directions differ: what goes there and comes back has the mean of both ways,
  /// and what goes both ways at once the slower one. Round a ring it goes one way.
  HopPaths paths_of(const results::Hops& hops, const results::HopPairs& hop) const {
    HopPaths paths{hops, ways_of(hop)};
    if (hops.same_connections || !directions_differ_) return paths;
    results::HopPairs back = hop;
    for (results::RankPair& pair : back.pairs) std::swap(pair.source, pair.destination);
    const std::vector<PairPath> others = ways_of(back);
    for (std::size_t p = 0; p < others.size(); ++p)
      for (double PairPath::*figure : {&PairPath::alone, &PairPath::crowded, &PairPath::delay,
                                       &PairPath::forwarding, &PairPath::loss}) {
        double& own = paths.pairs[p].*figure;
        const double other = others[p].*figure;
        own = hops.both_ways ? std::max(own, other) : own + (other - own) / 2;
      }
    return paths;
  }

  std::vector<PairPath> ways_of(const results::HopPairs& hop) const {
    std::vector<sim::ChannelId> routes;
    std::vector<std::size_t> begin = {0};
    std::vector<double> load(static_cast<std::size_t>(cluster_.channel_count()), 0);
    for (const results::RankPair& pair : hop.pairs) {
      cluster_.route(pair.source, pair.destination, routes);
      for (std::size_t i = begin.back(); i < routes.size(); ++i)
        load[static_cast<std::size_t>(routes[i])] += hop.each;
      begin.push_back(routes.size());
    }
    std::vector<PairPath> ways;
    for (std::size_t p = 0; p < hop.pairs.size(); ++p)
      ways.push_back(path_of(std::span(routes).subspan(begin[p], begin[p + 1] - begin[p]), load));
    return ways;
  }

  /// Each hop of the way stores a full segment and forwards it.
  PairPath path_of(std::span<const sim::ChannelId> route, const std::vector<double>& load) const {
    const sim::PathCost cost(cluster_, route);
    PairPath path{.alone = 1 / cost.line_rate,
                  .delay = cost.propagation + cost.forwarding * segment_,
                  .forwarding = cost.forwarding * segment_};
    double passed = 1;
    for (const sim::ChannelId channel : route) {
      path.crowded = std::max(path.crowded, load[static_cast<std::size_t>(channel)] * 8 /
                                                cluster_.nominal_rate(channel).value());
      passed *= 1 - cluster_.channel(channel).mean_loss();
    }
    path.loss = 1 - passed;
    return path;
  }

  const sim::Cluster& cluster_;
  double segment_;
  bool directions_differ_;
};

/// The candidates for a hop's pace, as multiples of the step's figures.
class Candidates {
 public:
  Candidates(const StepSummary& step, const HopPaths& paths) : step_(step), paths_(paths) {
    const bool round = paths.hops.same_connections;
    if (round) add_round();
    if (round && paths.alike()) return;
    for (double PairPath::*figure : {&PairPath::crowded, &PairPath::delay, &PairPath::loss})
      if (!round || figure != &PairPath::delay) add(paths.most(figure), round);
  }
  std::vector<HopPath> list() && { return std::move(list_); }

 private:
  void add_round() {
    HopPath path = factors(paths_.mean(&PairPath::crowded), paths_.mean(&PairPath::delay),
                           paths_.mean(&PairPath::loss));
    list_.push_back(path);
  }

  void add(const PairPath& pair, bool round) {
    HopPath path = factors(paths_.own(pair), pair.delay, pair.loss);
    path.shared = ratio(paths_.shared(), step_.bandwidth);
    if (round) path.latency = 0;
    path.alike = paths_.share_of(pair);
    if (std::ranges::find(list_, path) == list_.end()) list_.push_back(path);
  }

  HopPath factors(double per_byte, double delay, double loss) const {
    HopPath path;
    path.bandwidth = path.shared = ratio(1 / per_byte, step_.bandwidth);
    path.latency = path.delay = ratio(delay, step_.delay_s);
    path.loss = ratio(loss, step_.loss);
    return path;
  }

  /// What differs by rounding is alike.
  static double ratio(double value, double of) {
    const double factor = of > 0 ? value / of : 1;
    return std::abs(factor - 1) < 1e-9 ? 1 : factor;
  }

  const StepSummary& step_;
  const HopPaths& paths_;
  std::vector<HopPath> list_;
};

std::set<ExchangeKind> kinds_of(const StepSummary& step) {
  std::set<ExchangeKind> kinds = {step.exchange};
  for (const results::BucketSummary& bucket : step.buckets) {
    const ExchangeKind kind = step.exchange_of(bucket);
    kinds.insert(kind);
    if (bucket.prelude_bytes > 0 || kind == ExchangeKind::kScatterReduce)
      kinds.insert(results::second_kind(kind));
  }
  return kinds;
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

/// Where rates change all the time no link is the slowest: means, the rate's a harmonic one, and
/// how far rates are from it; the step's correction has the rest.
void take_means(const sim::Cluster& cluster, const HopPaths& paths, StepSummary& step) {
  Spread rates;
  for (const PairPath& pair : paths.pairs) rates.add(1 / pair.alone);
  step.bandwidth = 1 / paths.mean(&PairPath::alone);
  step.delay_s = paths.mean(&PairPath::delay);
  step.forwarding_s = paths.mean(&PairPath::forwarding);
  step.loss = paths.mean(&PairPath::loss);
  step.rate_spread = std::hypot(rates.relative(), schedule_spread(cluster));
}

/// The figures that the step is known by: the rate of the link that sets the pace of most of its
/// time, the longest delay, the most probable loss.
void take_worst(const std::vector<HopPaths>& hops, StepSummary& step) {
  double longest = -1;
  step.delay_s = step.forwarding_s = step.loss = 0;
  for (const HopPaths& paths : hops) {
    const PairPath& slowest = paths.most(&PairPath::crowded);
    const double time = paths.hops.count * paths.hops.share / paths.hops.flows * slowest.crowded;
    if (time > longest) {
      longest = time;
      step.bandwidth = 1 / slowest.alone;
    }
    const PairPath& farthest = paths.most(&PairPath::delay);
    if (farthest.delay > step.delay_s) {
      step.delay_s = farthest.delay;
      step.forwarding_s = farthest.forwarding;
    }
    step.loss = std::max(step.loss, paths.most(&PairPath::loss).loss);
  }
}

void take_candidates(ExchangeKind kind, const std::vector<HopPaths>& hops, StepSummary& step) {
  results::ExchangePaths paths{kind, {}};
  bool differ = false;
  for (const HopPaths& of_hop : hops) {
    paths.hops.push_back(Candidates(step, of_hop).list());
    const std::vector<HopPath>& list = paths.hops.back();
    HopPath alike;  // what a server's flows share is its bandwidth
    if (kind == ExchangeKind::kParameterServer) alike.shared = list[0].shared;
    differ = differ || list.size() > 1 || list[0] != alike;
  }
  if (differ) step.paths.push_back(std::move(paths));
}

}  // namespace

void take_paths(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                StepSummary& step) {
  step.segment_bytes = static_cast<double>(transport.segment.count());
  step.wire_segment_bytes = static_cast<double>(transport.wire_segment.count());
  step.timeout_s = transport.min_rto.value();
  step.delayed_ack_s = transport.delayed_ack.value();
  const NetworkPaths network(cluster, transport);
  step.paths.clear();
  step.rate_spread = 0;
  step.correction_error.reset();
  const auto hops = network.paths_of(step.exchange, step.workers, step.group);
  if (hops.empty()) return;
  const bool served = step.exchange == ExchangeKind::kParameterServer;
  if (served) step.server_bandwidth = hops[0].shared();
  if (follows_schedules(cluster)) {
    take_means(cluster, hops[0], step);
    if (served && cluster.has_server())
      step.server_bandwidth = network.last_link_of(0, step.workers);
  } else {
    take_worst(hops, step);
    for (const ExchangeKind kind : kinds_of(step))
      take_candidates(
          kind, kind == step.exchange ? hops : network.paths_of(kind, step.workers, step.group),
          step);
  }
  correct_for_traces(cluster, transport, step);
}

bool take_paths_on(const std::string& json, const std::string& file, int workers,
                   StepSummary& step) {
  try {
    auto changed = nlohmann::ordered_json::parse(json);
    changed["cluster"]["workers"] = workers;
    changed["cluster"].erase("stragglers");  // which workers are slow is said of a number of them
    const auto scenario = scenarios::read_scenario_text(changed.dump(), file).runs.at(0);
    step.workers = workers;
    take_paths(scenarios::build_cluster(scenario), scenario.network.transport, step);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace gradwire::runner
