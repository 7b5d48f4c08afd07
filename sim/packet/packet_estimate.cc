#include "sim/packet/packet_estimate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "sim/cluster/link_kind.h"
#include "sim/packet/cell_work.h"
#include "sim/packet/packet_executor.h"
#include "sim/session/session.h"

namespace gradwire::sim {
namespace {

constexpr double kPacketsPerSegment = 1.5;  // with its acknowledgement
constexpr double kPipes = 1.15;
constexpr double kLeastPassing = 0.01;
constexpr int kSpeedHosts = 4;
constexpr double kMostCounted = 1e7;              // transfers: some seconds
constexpr std::int64_t kSpeedElements = 250'000;  // of fp32: a ring of 1 MB

/// Thrown once kMostCounted transfers have been seen.
struct Enough {};

/// Counts the work of each transfer and delivers it at the instant at which it starts.
class CountingNetwork final : public Network {
 public:
  CountingNetwork(const Cluster& cluster, const TransportSettings& transport)
      : cluster_(cluster),
        cells_(cluster),
        segment_(static_cast<double>(transport.segment.count())),
        window_(static_cast<double>(transport.buffer.count()) / segment_) {}

  void start(TransferId id, int source, int destination, Bytes payload) override {
    route_.clear();
    cluster_.route(source, destination, route_);
    const Path path = path_of(route_);
    const double least = std::ceil(static_cast<double>(payload.count()) / segment_);
    const double segments = least / std::max(path.passing, kLeastPassing);
    const double window = std::min(
        {kPipes * path.pipe / segment_, window_, least / 3, std::sqrt(3 / (1 - path.passing))});
    const double events =
        (kPacketsPerSegment * path.events + kEventsPerSegment) * segments + kEventsPerTransfer;
    const double radio = radio_events(payload, segments);
    work_.transfers += 1;
    work_.segments += segments;
    work_.hops += kPacketsPerSegment * segments * static_cast<double>(route_.size());
    work_.events += events + radio;
    work_.effort += events + kEffortPerWindow * segments * window + CellWork::kRadioEffort * radio;
    if (static_cast<double>(work_.transfers) >= kMostCounted) throw Enough{};
    Delivery delivery;
    delivery.id = id;
    arrived_.push_back(delivery);
  }

  void cancel(TransferId id) override {
    std::erase_if(arrived_, [id](const Delivery& delivery) { return delivery.id == id; });
  }

  void advance(Seconds until, std::vector<Delivery>& delivered) override {
    if (arrived_.empty() && until < kForever) now_ = until;
    for (Delivery& delivery : arrived_) {
      delivery.time = now_;
      delivered.push_back(delivery);
    }
    arrived_.clear();
  }

  Seconds now() const override { return now_; }
  PacketWork work() const {
    PacketWork work = work_;
    work.events += cells_.busy_events();
    work.effort += CellWork::kRadioEffort * cells_.busy_events();
    return work;
  }

 private:
  struct Path {
    double events = 0;   ///< of a packet
    double passing = 1;  ///< probability
    double pipe = 0;     ///< bytes: slowest rate times round trip
  };

  Path path_of(const std::vector<ChannelId>& route) const {
    Path path;
    double rate = std::numeric_limits<double>::infinity(), delay = 0;
    for (const ChannelId id : route) {
      const Link& link = cluster_.link_of(id);
      rate = std::min(rate, link.nominal_rate(id).value());
      delay += link.spec.delay.value();
      path.passing *= 1 - link.spec.mean_loss();
      if (link.cell < 0) path.events += is_plain(link.spec) ? kEventsPerPlainHop : kEventsPerHop;
    }
    path.pipe = rate * 2 * delay / 8;
    return path;
  }

  double radio_events(Bytes payload, double segments) {
    double events = 0;
    for (const ChannelId id : route_)
      if (cluster_.link_of(id).cell >= 0) events += cells_.add(id, segments, payload);
    return events;
  }

  const Cluster& cluster_;
  CellWork cells_;
  double segment_;
  double window_;  ///< segments in a full buffer
  std::vector<ChannelId> route_;
  std::vector<Delivery> arrived_;
  PacketWork work_;
  Seconds now_{0};
};

double transfers_of(const Submission& submission) {
  const GraphTemplate& graph = *submission.graph;
  double transfers = 0;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    if (graph.kind[op] == OpKind::kTransfer) transfers += 1;
    if (!graph.is_collective(op)) continue;
    const auto sizes = submission.bytes.subspan(graph.bytes_begin[op],
                                                graph.bytes_begin[op + 1] - graph.bytes_begin[op]);
    const CollectiveSpec& spec = graph.collectives[static_cast<std::size_t>(graph.peer[op])];
    transfers += static_cast<double>(make_generator(spec, sizes)->transfers_total());
  }
  return transfers;
}

PacketWork times(const PacketWork& work, double factor) {
  return {.transfers = std::llround(static_cast<double>(work.transfers) * factor),
          .segments = work.segments * factor,
          .hops = work.hops * factor,
          .events = work.events * factor,
          .effort = work.effort * factor};
}

}  // namespace

PacketWork packet_work(const Cluster& cluster, const TransportSettings& transport,
                       const Submission& submission) {
  CountingNetwork network(cluster, transport);
  GraphSession session(cluster, network, {});
  Submission alone = submission;
  alone.after = {};
  try {
    session.submit(alone);
    std::vector<Event> events;
    while (session.advance(kForever, events)) events.clear();
  } catch (const Enough&) {
    const PacketWork seen = network.work();
    return times(seen, transfers_of(submission) / static_cast<double>(seen.transfers));
  }
  return network.work();
}

double measure_packet_speed(const ExecutorOptions& options) {
  const auto executor = make_packet_executor(Cluster::star(kSpeedHosts, {}), options);
  CollectiveSpec spec;
  for (int host = 0; host < kSpeedHosts; ++host) spec.members.push_back(host);
  spec.elements = kSpeedElements;
  GraphBuilder builder;
  builder.add_collective(std::move(spec), "ring");
  const GraphPtr graph = builder.finish();
  const std::vector<Seconds> seconds(graph->size());
  const auto run = [&] {
    run_to_end(*executor, executor->submit({.graph = graph, .bytes = {}, .seconds = seconds}));
    return static_cast<double>(packet_statistics(*executor).events);
  };
  const double before = run();  // memory is touched for the first time
  const auto begin = std::chrono::steady_clock::now();
  const double events = run() - before;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return events / wall.count();
}

}  // namespace gradwire::sim
