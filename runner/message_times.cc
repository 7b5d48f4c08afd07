#include "runner/message_times.h"

#include <algorithm>
#include <cmath>

#include "sim/flow/flow_network.h"

namespace gradwire::runner {
namespace {

using sim::LinkSpec;

constexpr std::size_t kMostKinds = 32;
constexpr std::size_t kPlaces = 64;  ///< of a period, at which messages begin
constexpr std::size_t kDraws = 4;    ///< messages that begin at one place
constexpr std::uint64_t kSeed = 1;
constexpr double kEndless_s = 1e5;

/// A worker's links to the server, in order, each as seen from the worker's side.
std::vector<LinkSpec> links_of(const sim::Cluster& cluster, int worker) {
  std::vector<sim::ChannelId> route;
  cluster.route(worker, cluster.workers(), route);
  std::vector<LinkSpec> links;
  for (const sim::ChannelId channel : route) {
    LinkSpec link = cluster.channel(channel);
    if (channel % 2 != 0) std::swap(link.schedule, link.schedule_back);
    links.push_back(std::move(link));
  }
  return links;
}

bool is_constant(const LinkSpec& link) {
  return !link.schedule && !link.schedule_back && link.outages.empty();
}

/// Whether the first link, the worker's own, repeats what it carries and the others stay as they
/// are.
bool is_repeated(const std::vector<LinkSpec>& links) {
  const LinkSpec& own = links.front();
  const auto repeats = [](const sim::RateSchedulePtr& schedule) {
    return !schedule || schedule->period().value() > 0;
  };
  return (own.schedule || own.schedule_back) && repeats(own.schedule) &&
         repeats(own.schedule_back) && own.outages.empty() &&
         std::all_of(links.begin() + 1, links.end(), is_constant);
}

/// s, of the way there; where that stays as it is, of the way back.
double period_of(const sim::RateSchedulePtr& there, const sim::RateSchedulePtr& back) {
  return (there ? there : back)->period().value();
}

/// Takes how far ahead the schedules are out of the links, and returns it.
double take_offset(std::vector<LinkSpec>& links) {
  const double offset = links.front().schedule_offset.value();
  for (LinkSpec& link : links) link.schedule_offset = Seconds(0);
  return offset;
}

sim::Cluster one_worker(const std::vector<LinkSpec>& links) {
  sim::Cluster cluster;
  sim::NodeId last = cluster.add_host("worker");
  for (std::size_t i = 0; i < links.size(); ++i) {
    const sim::NodeId next = i + 1 < links.size() ? cluster.add_switch("switch" + std::to_string(i))
                                                  : cluster.add_host("server");
    cluster.add_link(last, next, links[i]);
    last = next;
  }
  cluster.finish(1);
  return cluster;
}

/// One worker's messages one after the other, pushes and pulls by turns, each at the next place of
/// its period that lacks one.
class Sampling {
 public:
  Sampling(const std::vector<LinkSpec>& links, const sim::TransportSettings& transport)
      : cluster_(one_worker(links)), network_(cluster_, transport, kSeed) {}

  struct Direction {
    Direction(int from, int to, double payload)
        : source(from),
          destination(to),
          bytes(std::max<std::int64_t>(1, std::llround(payload))),
          seconds(kPlaces * kDraws),
          drawn(kPlaces) {}
    int source, destination;
    Bytes bytes;
    double period = 0;
    std::vector<double> seconds;     ///< [draw * kPlaces + place]
    std::vector<std::size_t> drawn;  ///< [place]
    std::size_t missing = kPlaces * kDraws;
  };

  void run(Direction& one, Direction& other) {
    while (one.missing + other.missing > 0) {
      if (one.missing > 0) take(one);
      if (other.missing > 0) take(other);
    }
  }

 private:
  /// The first place from `now` on that has the fewest samples, as a time.
  std::pair<std::size_t, double> next_place(const Direction& of, double now) const {
    const std::size_t fewest = *std::ranges::min_element(of.drawn);
    const double width = of.period / kPlaces;
    for (double step = std::ceil(now / width);; ++step) {
      const auto place = static_cast<std::size_t>(std::fmod(step, static_cast<double>(kPlaces)));
      if (of.drawn[place] == fewest) return {place, step * width};
    }
  }

  void take(Direction& of) {
    const auto [place, begin] = next_place(of, network_.now().value());
    std::vector<sim::Delivery> delivered;
    network_.advance(Seconds(begin), delivered);
    network_.start(sim::TransferId(next_id_++), of.source, of.destination, of.bytes);
    while (delivered.empty() && network_.now().value() < begin + kEndless_s)
      network_.advance(Seconds(begin + kEndless_s), delivered);
    of.seconds[of.drawn[place]++ * kPlaces + place] = network_.now().value() - begin;
    --of.missing;
  }

  sim::Cluster cluster_;
  sim::FlowNetwork network_;
  std::int64_t next_id_ = 0;
};

}  // namespace

std::optional<RepeatedLinks> repeated_links(const sim::Cluster& cluster) {
  if (!cluster.has_server() || !cluster.cells().empty()) return std::nullopt;
  RepeatedLinks all;
  for (int worker = 0; worker < cluster.workers(); ++worker) {
    std::vector<LinkSpec> links = links_of(cluster, worker);
    if (!is_repeated(links)) return std::nullopt;
    const double offset = take_offset(links);
    auto kind = std::ranges::find(all.kinds, links);
    if (kind == all.kinds.end()) kind = all.kinds.insert(kind, std::move(links));
    if (all.kinds.size() > kMostKinds) return std::nullopt;
    all.workers.push_back({static_cast<std::size_t>(kind - all.kinds.begin()), offset});
  }
  return all;
}

MessageTimes::MessageTimes(const RepeatedLinks& links, const sim::TransportSettings& transport,
                           double push_bytes, double pull_bytes)
    : workers_(links.workers) {
  for (const std::vector<LinkSpec>& kind : links.kinds) {
    const LinkSpec& own = kind.front();
    Sampling::Direction push(0, 1, push_bytes), pull(1, 0, pull_bytes);
    push.period = period_of(own.schedule, own.schedule_back);
    pull.period = period_of(own.schedule_back, own.schedule);
    Sampling(kind, transport).run(push, pull);
    kinds_.push_back({.push = {push.period, std::move(push.seconds)},
                      .pull = {pull.period, std::move(pull.seconds)}});
  }
}

double MessageTimes::Samples::at(double begin, int draw) const {
  const double place = std::round(std::fmod(begin, period) / period * kPlaces);
  return seconds[static_cast<std::size_t>(draw) % kDraws * kPlaces +
                 static_cast<std::size_t>(place) % kPlaces];
}

double MessageTimes::push(int worker, double begin, int draw) const {
  const RepeatedLinks::Worker& its = workers_[static_cast<std::size_t>(worker)];
  return kinds_[its.kind].push.at(begin + its.offset, draw);
}

double MessageTimes::pull(int worker, double begin, int draw) const {
  const RepeatedLinks::Worker& its = workers_[static_cast<std::size_t>(worker)];
  return kinds_[its.kind].pull.at(begin + its.offset, draw);
}

}  // namespace gradwire::runner
