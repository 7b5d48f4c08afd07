// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_network.h"

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include <algorithm>
#include <cmath>

#include "sim/cluster/handshake.h"
#include "sim/graph/host_pairs.h"
#include "sim/packet/program/datagram_connection.h"
#include "sim/packet/program/ns3_connection.h"
#include "sim/packet/program/ns3_settings.h"

namespace gradwire::sim {
namespace {

constexpr double kNanosecond = 1e-9;
/// Farther than any run goes, and safe to add to.
constexpr std::int64_t kNever = std::int64_t{1} << 61;
constexpr std::int64_t kTick = 1'000'000;  ///< ns, of TCP's time stamps
constexpr std::int64_t kSetUpLimit = 60'000'000'000;
constexpr std::int64_t kConnectLimit = 20'000'000'000;
constexpr std::int64_t kConnectStep = 250'000'000;
/// ns after which a radio cell is at rest: what is still under way when the last message is
/// there (delayed acknowledgements, reports of the radio links) has come to its end.
constexpr std::int64_t kRest = 100'000'000;

std::int64_t nanoseconds(Seconds time) {
  const double value = time.value() / kNanosecond;
  return value >= static_cast<double>(kNever) ? kNever : std::llround(value);
}

std::int64_t simulator_now() {
  return ns3::Simulator::Now().GetNanoSeconds();
}

}  // namespace

Ns3Network::Ns3Network(const Cluster& cluster, const ExecutorOptions& options)
    : cluster_(cluster), options_(options) {
  apply_settings(options_);
  topology_ = std::make_unique<Ns3Topology>(cluster_, options_);
  open_output();
  run(simulator_now());  // nodes and their queue discs start with the first event
  if (!topology_->cells().empty()) connect_stations();
}

void Ns3Network::open_output() {
  std::vector<Ns3Output::Host> hosts;
  for (int host = 0; host < cluster_.host_count(); ++host)
    hosts.push_back({cluster_.node_names()[static_cast<std::size_t>(cluster_.host_node(host))],
                     topology_->host(host)});
  output_ = std::make_unique<Ns3Output>(options_, hosts, topology_->clock());
}

void Ns3Network::write_output() {
  output_->finish();
}

void Ns3Network::connect_stations() {
  const std::int64_t before = simulator_now();
  topology_->begin_set_up();
  for (std::string name; !(name = topology_->cells().unconnected()).empty();) {
    if (simulator_now() - before > kConnectLimit)
      throw SimError("connect", "station " + name, "it does not reach its base within 20 s",
                     "put it nearer, or give the cell fewer stations");
    run(simulator_now() + kConnectStep);
  }
  topology_->cells().greet();
  run(simulator_now() + kConnectStep);
  topology_->end_set_up(simulator_now() - before);
}

Ns3Network::~Ns3Network() {
  connections_.clear();
  senders_.clear();
  topology_.reset();
  ns3::Simulator::Destroy();
}

std::uint64_t Ns3Network::events() const {
  return ns3::Simulator::GetEventCount();
}

SegmentBooks Ns3Network::segments() const {
  return topology_->ledger() ? topology_->ledger()->books() : SegmentBooks{};
}

void Ns3Network::on_progress(std::function<void(Seconds)> callback) {
  topology_->on_progress([this, callback = std::move(callback)] { callback(session_time()); });
}

Seconds Ns3Network::session_time() const {
  return Seconds(static_cast<double>(simulator_now() - topology_->clock_offset()) * kNanosecond);
}

HostConnection& Ns3Network::connection(int source, int destination, int beside) {
  const auto from =
      static_cast<std::uint64_t>(beside) * static_cast<std::uint64_t>(cluster_.host_count()) +
      static_cast<std::uint64_t>(source);
  const std::uint64_t pair = from << 32 | static_cast<std::uint32_t>(destination);
  HostConnection*& known = by_pair_[pair];
  if (!known || known->broken()) {
    const bool tcp =
        beside > 0 || options_.transport.protocol != TransportSettings::Protocol::kUdpLossy;
    connections_.push_back(tcp ? open_tcp(source, destination)
                               : open_datagrams(source, destination));
    known = connections_.back().get();
  }
  return *known;
}

std::unique_ptr<HostConnection> Ns3Network::open_tcp(int source, int destination) {
  opening_ += preparing_ ? 1 : 0;
  if (opens_alone()) rest_until_tick(0);  // its round trip in ticks
  return std::make_unique<TcpConnection>(
      *topology_, source, destination, options_.transport,
      [this](const Delivery& delivery) { finish(delivery); },
      [this, counted = preparing_] {
        if (counted && opening_ > 0 && --opening_ == 0 && preparing_) ns3::Simulator::Stop();
      });
}

std::unique_ptr<HostConnection> Ns3Network::open_datagrams(int source, int destination) {
  senders_.resize(static_cast<std::size_t>(cluster_.host_count()));
  auto& sender = senders_[static_cast<std::size_t>(source)];
  if (!sender) sender = std::make_unique<DatagramSender>();
  return std::make_unique<DatagramConnection>(
      *topology_, cluster_, source, destination, options_.transport, *sender,
      [this](const Delivery& delivery) { finish(delivery); });
}

void Ns3Network::prepare(const GraphTemplate& graph, std::span<const Bytes>) {
  const std::int64_t before = simulator_now();
  const bool in_cells = !topology_->cells().empty();
  preparing_ = running_.empty();
  opening_ = 0;
  if (preparing_) topology_->begin_set_up();
  bool opened = false;
  const auto open = [&](int source, int destination, int beside) {
    connection(source, destination, beside);
    opened = opened || opening_ > 0;
    if (opens_alone()) finish_opening();
  };
  for (const HostPair& pair : pairs_of(graph)) {
    for (int i = 0; i < options_.transport.connections && pair.source != pair.destination; ++i)
      open(pair.source, pair.destination, i);
  }
  if (!in_cells) {
    for (const BackgroundTraffic& traffic : cluster_.background())
      open(traffic.source, traffic.destination, options_.transport.connections);
  }
  if (opening_ > 0) run(before + kSetUpLimit);
  if (opened && in_cells) {
    run(simulator_now() + kRest);
  } else if (opened) {
    run(simulator_now() + longest_gap());
    rest_until_tick(before - topology_->clock_offset() +
                    nanoseconds(Seconds(clock_at_start(cluster_, options_.transport))));
  }
  if (preparing_) topology_->end_set_up(simulator_now() - before);
  preparing_ = false;
}

/// Whether a connection has the links to itself while it opens. Not with BBR, whose least round
/// trip is too old after ten seconds.
bool Ns3Network::opens_alone() const {
  return preparing_ && topology_->cells().empty() &&
         options_.transport.congestion_control != TransportSettings::CongestionControl::kBbr;
}

/// The connection that was opened is, before the next one: what its handshake measures hangs on no
/// other one's.
void Ns3Network::finish_opening() {
  if (opening_ > 0) run(simulator_now() + kSetUpLimit);
  opening_ = 0;
}

/// Time in which the last link of a handshake is through with the gap behind its packet, ns.
std::int64_t Ns3Network::longest_gap() const {
  double slowest = cluster_.nominal_rate(0).value();
  for (ChannelId id = 1; id < cluster_.channel_count(); ++id)
    slowest = std::min(slowest, cluster_.nominal_rate(id).value());
  const Bytes headers = options_.transport.wire_segment - options_.transport.segment;
  return nanoseconds(transmission_time(headers, BitsPerSecond(slowest)));
}

/// Until whole ticks of time stamps have passed since `origin`, on ns-3's clock.
void Ns3Network::rest_until_tick(std::int64_t origin) {
  const std::int64_t left = (origin - simulator_now()) % kTick;
  if (left != 0) run(simulator_now() + (left > 0 ? left : left + kTick));
}

void Ns3Network::start(TransferId id, int source, int destination, Bytes payload) {
  if (source == destination) {
    running_[id] = Running{nullptr, kNever};
    Delivery at_once;
    at_once.id = id;
    ns3::Simulator::ScheduleNow(&Ns3Network::finish, this, at_once);
    return;
  }
  start_on(connection(source, destination), id, payload);
}

void Ns3Network::start_beside(TransferId id, int beside, int source, int destination,
                              Bytes payload) {
  start_on(connection(source, destination, beside), id, payload);
}

void Ns3Network::start_on(HostConnection& stream, TransferId id, Bytes payload) {
  const std::int64_t deadline =
      std::min(kNever, simulator_now() + nanoseconds(options_.transfer_limit));
  running_[id] = Running{&stream, deadline};
  deadlines_.push_back(Deadline{deadline, id});
  watch_deadlines();
  stream.send(id, payload);
}

void Ns3Network::cancel(TransferId id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  Delivery spent;
  if (found->second.connection) found->second.connection->cancel(id, spent);
  running_.erase(found);
}

void Ns3Network::finish(Delivery delivery) {
  rests_at_ = simulator_now() + kRest;
  if (running_.erase(delivery.id) == 0) return;
  delivery.time = session_time();
  if (!delivery.missing.empty()) {
    missing_.emplace_back(delivery.missing.begin(), delivery.missing.end());
    delivery.missing = missing_.back();
  }
  arrived_.push_back(delivery);
  // Not at once: others may arrive at this very instant.
  if (arrived_.size() == 1) arrival_stop_ = ns3::Simulator::Stop(ns3::NanoSeconds(0));
}

void Ns3Network::watch_deadlines() {
  while (!deadlines_.empty() && !running_.contains(deadlines_.front().id)) deadlines_.pop_front();
  if (deadlines_.empty() || deadline_event_.IsPending()) return;
  deadline_event_ =
      ns3::Simulator::Schedule(ns3::NanoSeconds(deadlines_.front().time - simulator_now()),
                               &Ns3Network::check_deadlines, this);
}

void Ns3Network::check_deadlines() {
  while (!deadlines_.empty() && deadlines_.front().time <= simulator_now()) {
    const TransferId id = deadlines_.front().id;
    deadlines_.pop_front();
    const auto found = running_.find(id);
    if (found == running_.end()) continue;
    Delivery late;
    found->second.connection->cancel(id, late);
    late.id = id;
    late.failed = true;
    finish(late);
  }
  watch_deadlines();
}

/// Runs to the end of the first instant with a delivery, at most to `until` on ns-3's clock.
void Ns3Network::run(std::int64_t until) {
  ns3::EventId stop;
  if (until < kNever)
    stop =
        ns3::Simulator::Stop(ns3::NanoSeconds(std::max<std::int64_t>(until - simulator_now(), 0)));
  ns3::Simulator::Run();
  // One left behind would end a later run early.
  ns3::Simulator::Remove(stop);
  ns3::Simulator::Remove(arrival_stop_);
}

void Ns3Network::advance(Seconds until, std::vector<Delivery>& delivered) {
  missing_.clear();
  const bool forever = until >= kForever;
  if (forever && running_.empty()) return;
  if (running_.empty() && arrived_.empty() && !topology_->cells().empty()) {
    const std::int64_t target = nanoseconds(until) + topology_->clock_offset();
    if (simulator_now() < rests_at_) run(std::min(target, rests_at_));
    topology_->leap(nanoseconds(until) - nanoseconds(session_time()));
    now_ = until;
    return;
  }
  const std::int64_t target = nanoseconds(until);
  run(target >= kNever ? kNever : target + topology_->clock_offset());
  if (arrived_.empty()) {
    if (!forever) now_ = until;
    return;
  }
  // The session's instants need not be whole nanoseconds: keep its clock from going back.
  const Seconds time = std::clamp(arrived_.front().time, now_, std::max(now_, until));
  now_ = time;
  for (Delivery& delivery : arrived_) {
    delivery.time = time;
    delivered.push_back(delivery);
  }
  arrived_.clear();
}

}  // namespace gradwire::sim
