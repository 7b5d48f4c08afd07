#include <catch2/catch.hpp>
#include <cmath>

#include "sim/cluster/topologies/topologies.h"
#include "sim/executors.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

/// Relative error of `flow` against `packet`, step by step on warm connections.
std::vector<double> flow_errors(const Cluster& cluster, const GraphPtr& graph,
                                const std::vector<Bytes>& bytes, int steps) {
  const auto packet = make_executor("packet", cluster, {});
  const auto flow = make_executor("flow", cluster, {});
  std::vector<double> errors;
  for (int step = 0; step < steps; ++step) {
    const Timeline reference = run(*packet, graph, bytes), timeline = run(*flow, graph, bytes);
    errors.push_back((timeline.end - timeline.start) / (reference.end - reference.start) - 1);
  }
  return errors;
}

/// Transfers from host 0 to host 1, one after the other, a pause before each.
struct Chain {
  Chain(int count, Bytes size, Seconds pause) {
    GraphBuilder builder;
    std::vector<OpIndex> after;
    for (int i = 0; i < count; ++i) {
      const std::vector<OpIndex> paused{
          builder.add_operation(OpKind::kAggregate, Lane::kHost, 0, "pause", after)};
      transfers.push_back(builder.add_transfer(0, 1, "transfer", {}, paused));
      after.assign(1, transfers.back());
      seconds.insert(seconds.end(), {pause, Seconds(0)});
      bytes.push_back(size);
    }
    graph = builder.finish();
  }
  GraphPtr graph;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::vector<OpIndex> transfers;
};

}  // namespace

TEST_CASE("flow and packet agree within 3 % on a clean LAN, the first step included",
          "[needs-packet]") {
  require_packet_program();
  const LinkSpec lan = link(1e9, 50e-6);
  const std::vector<Bytes> megabytes(4, Bytes(1'000'000));
  for (const double error : flow_errors(Cluster::star(4, lan), ring_graph(4, 250'000), {}, 3))
    CHECK(error == Approx(0).margin(0.03));
  const GraphPtr push = transfer_graph({{0, 4}, {1, 4}, {2, 4}, {3, 4}});
  for (const double error : flow_errors(Cluster::star(4, lan, true), push, megabytes, 2))
    CHECK(error == Approx(0).margin(0.03));
  const GraphPtr pull = transfer_graph({{4, 0}, {4, 1}, {4, 2}, {4, 3}});
  for (const double error : flow_errors(Cluster::star(4, lan, true), pull, megabytes, 2))
    CHECK(error == Approx(0).margin(0.03));
}

TEST_CASE("flow and packet agree within 5 % over switches, by flow hash, and through hosts",
          "[needs-packet]") {
  require_packet_program();
  const LinkSpec lan = link(1e9, 20e-6);
  const GraphPtr graph = ring_graph(8, 250'000);
  for (const Cluster& cluster :
       {two_tier({8, 2, 2, lan, lan}), fat_tree({8, 4, lan, lan}), host_ring(8, lan)}) {
    for (const double error : flow_errors(cluster, graph, {}, 2))
      CHECK(error == Approx(0).margin(0.05));
  }
}

TEST_CASE("flow and packet agree within 3 % on several connections of one pair", "[needs-packet]") {
  require_packet_program();
  // A message of 4 MB and two of 100 kB from host 0 to host 1, and 2 MB back, over 100 Mbps, 5 ms.
  // On one connection the small ones wait for the large one, 0.34 s; on two they are beside it.
  const Cluster cluster = Cluster::star(2, link(1e8, 5e-3));
  const GraphPtr graph = transfer_graph({{0, 1}, {0, 1}, {0, 1}, {1, 0}});
  const std::vector<Bytes> bytes = {Bytes(4'000'000), Bytes(100'000), Bytes(100'000),
                                    Bytes(2'000'000)};
  const auto ends = [&](const std::string& name, int connections) {
    ExecutorOptions options;
    options.transport.connections = connections;
    const auto executor = make_executor(name, cluster, options);
    std::vector<double> ends;
    for (int step = 0; step < 2; ++step) {
      const Timeline timeline = run(*executor, graph, bytes);
      for (const OpRecord& op : timeline.ops) ends.push_back((op.end - timeline.start).value());
    }
    return ends;
  };
  for (const int connections : {1, 2, 3}) {
    INFO("connections: " << connections);
    const std::vector<double> packet = ends("packet", connections);
    const std::vector<double> flow = ends("flow", connections);
    for (std::size_t i = 0; i < packet.size(); ++i)
      CHECK(flow[i] == Approx(packet[i]).epsilon(0.03));
  }
  CHECK(ends("packet", 2)[1] < 0.25 * ends("packet", 1)[1]);
}

TEST_CASE("the comparison sees a link that is 5 % slower", "[needs-packet]") {
  require_packet_program();
  const GraphPtr graph = ring_graph(4, 250'000);
  const auto packet = make_executor("packet", Cluster::star(4, link(1e9, 50e-6)), {});
  const auto flow = make_executor("flow", Cluster::star(4, link(0.95e9, 50e-6)), {});
  const Timeline reference = run(*packet, graph, {}), slower = run(*flow, graph, {});
  CHECK(slower.end / reference.end > 1.03);
}

TEST_CASE(
    "with one seed a connection loses the same packets, and takes as long, on flow and packet",
    "[needs-packet]") {
  require_packet_program();
  // 70 segments and a short one a transfer, over two links that lose 0.7 % each: one lost or so,
  // each time another. A segment's time is 0.6 ms of 30 or more.
  using Control = TransportSettings::CongestionControl;
  const Cluster cluster = Cluster::star(2, link(2e7, 10e-3, 0.007));
  const Chain chain(40, Bytes(102'000), Seconds(5e-3));
  const auto times = [&](const std::string& name, Control control, std::uint64_t seed) {
    ExecutorOptions options;
    options.seed = seed;
    options.transport.congestion_control = control;
    const auto executor = make_executor(name, cluster, options);
    const Timeline& timeline =
        run_to_end(*executor, executor->submit({chain.graph, chain.bytes, chain.seconds}));
    std::vector<double> times;
    for (const OpIndex op : chain.transfers)
      times.push_back((timeline.ops[op].end - timeline.ops[op].start).value());
    return times;
  };
  for (const Control control : {Control::kCubic, Control::kReno}) {
    const std::vector<double> packet = times("packet", control, 7);
    const auto alike = [&](const std::vector<double>& flow) {
      int count = 0;
      for (std::size_t i = 0; i < packet.size(); ++i)
        count += std::abs(flow[i] / packet[i] - 1) < 0.001;
      return count;
    };
    CHECK(alike(times("flow", control, 7)) == 40);
    CHECK(alike(times("flow", control, 8)) < 20);  // the same law, other packets
  }
}

TEST_CASE("connections that share lossy links lose the same packets on flow and packet",
          "[needs-packet]") {
  require_packet_program();
  // Each of three hosts sends 60 kB, 42 segments, to both others, eight times: its link carries two
  // connections' data and two others' acknowledgements, by turns, and loses 0.5 %. A timeout takes
  // 1 s, all messages of a round about 60 ms.
  const Cluster cluster = Cluster::star(3, link(2e7, 5e-3, 0.005));
  const GraphPtr all = transfer_graph({{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}});
  const std::vector<Bytes> bytes(6, Bytes(60'000));
  const auto times = [&](const std::string& name, std::uint64_t seed) {
    ExecutorOptions options;
    options.seed = seed;
    const auto executor = make_executor(name, cluster, options);
    std::vector<double> times;
    for (int round = 0; round < 8; ++round) {
      const Timeline timeline = run(*executor, all, bytes);
      for (const OpRecord& op : timeline.ops) times.push_back((op.end - timeline.start).value());
    }
    return times;
  };
  const std::vector<double> packet = times("packet", 7);
  const auto alike = [&](const std::vector<double>& flow) {
    int count = 0;
    for (std::size_t i = 0; i < packet.size(); ++i)
      count += std::abs(flow[i] / packet[i] - 1) < 1e-6;
    return count;
  };
  CHECK(alike(times("flow", 7)) == 48);
  CHECK(alike(times("flow", 8)) < 30);  // other packets
}

TEST_CASE("a handshake's window of 16 bits limits the first flight, on flow and packet",
          "[needs-packet]") {
  require_packet_program();
  // 70 kB, for which the window of ten segments is enough from 7,000 B a segment on. The handshake
  // offers 65,535 B: what is more waits for the first acknowledgement, a round trip of 40 ms, and
  // later messages do not. Segments of 6,000 B: the window itself is too small for the first one.
  const Cluster cluster = Cluster::star(2, link(1e8, 10e-3));
  const Chain chain(3, Bytes(70'000), Seconds(0.1));
  for (const std::int64_t segment : {6000, 7000, 8948, 16000}) {
    ExecutorOptions options;
    options.transport.segment = Bytes(segment);
    options.transport.wire_segment = Bytes(segment + 90);
    std::vector<std::vector<double>> times;
    for (const char* name : {"packet", "flow"}) {
      const auto executor = make_executor(name, cluster, options);
      const Timeline& timeline =
          run_to_end(*executor, executor->submit({chain.graph, chain.bytes, chain.seconds}));
      for (auto& its = times.emplace_back(); const OpIndex op : chain.transfers)
        its.push_back((timeline.ops[op].end - timeline.ops[op].start).value());
    }
    CAPTURE(segment);
    for (std::size_t i = 0; i < times[0].size(); ++i)
      CHECK(times[1][i] == Approx(times[0][i]).epsilon(0.001));
    CHECK(times[1][0] > times[1][2] + 0.03);
  }
}

namespace {

/// `flows` clients send `bytes` each at once to a server behind a link of their own rate, which
/// changes; mean and last of their times by the executor, s.
std::pair<double, double> times_through(const LinkSpec& server, double delay, int flows,
                                        Bytes bytes, std::string_view executor) {
  LinkSpec client = link(server.rate.value(), delay);
  const Cluster cluster = Cluster::star(flows, client, 1, server);
  std::vector<Pair> routes;
  for (int flow = 0; flow < flows; ++flow) routes.push_back({flow, flows});
  const auto network = make_executor(executor, cluster, {});
  const Timeline timeline = run(*network, transfer_graph(routes),
                                std::vector<Bytes>(static_cast<std::size_t>(flows), bytes));
  double mean = 0, last = 0;
  for (const OpRecord& op : timeline.ops) {
    mean += (op.end - timeline.start).value() / flows;
    last = std::max(last, (op.end - timeline.start).value());
  }
  return {mean, last};
}

void check_through(const LinkSpec& server, double delay, int flows, Bytes bytes) {
  const auto [mean, last] = times_through(server, delay, flows, bytes, "flow");
  const auto [packet_mean, packet_last] = times_through(server, delay, flows, bytes, "packet");
  CHECK(mean == Approx(packet_mean).epsilon(0.01));
  CHECK(last == Approx(packet_last).epsilon(0.01));
}

LinkSpec changing(double rate, double later, double at, double period = 0) {
  LinkSpec spec = link(rate, 1e-3);
  spec.schedule = spec.schedule_back = RateSchedule::from_pieces(
      "changing", {{Seconds(0), BitsPerSecond(rate)}, {Seconds(at), BitsPerSecond(later)}},
      Seconds(period));
  return spec;
}

LinkSpec going_out(double rate, std::vector<Outage> outages) {
  LinkSpec spec = link(rate, 1e-3);
  spec.outages = std::move(outages);
  return spec;
}

}  // namespace

TEST_CASE("flow and packet agree within 1 % where many flows share a link that changes",
          "[needs-packet]") {
  require_packet_program();
  check_through(changing(25e6, 5e6, 0.1), 8e-3, 28, Bytes(40'000));
  check_through(changing(20e6, 4e6, 0.2, 0.3), 15e-3, 40, Bytes(60'000));
  check_through(going_out(17e6, {{Seconds(0.3), Seconds(0.45)}}), 3e-3, 20, Bytes(40'000));
}

TEST_CASE("flow and packet agree within 1 % on one flow through a link that goes out twice",
          "[needs-packet]") {
  require_packet_program();
  const LinkSpec twice =
      going_out(136e6, {{Seconds(0.15), Seconds(0.2)}, {Seconds(0.35), Seconds(0.6)}});
  check_through(twice, 13e-3, 1, Bytes(7'760'000));
  // The test sees an outage that only one of them has.
  const LinkSpec once = going_out(136e6, {{Seconds(0.15), Seconds(0.2)}});
  const double last = times_through(once, 13e-3, 1, Bytes(7'760'000), "flow").second;
  CHECK(last !=
        Approx(times_through(twice, 13e-3, 1, Bytes(7'760'000), "packet").second).epsilon(0.05));
}

TEST_CASE("flow repairs what bursts lose as packet does, the same packets lost", "[needs-packet]") {
  // Rare turns of ns-3's recovery decide here: a segment is sent again on suspicion where nothing
  // is sacked, nothing goes out while more was sent than delivered, a short segment is sent again
  // at each acknowledgement. Without them one transfer of each seed is off by 3.3, 6.3 and 3.6 %.
  require_packet_program();
  LinkSpec lossy = link(20e6, 8e-3);
  lossy.burst = {.enter = 0.0023, .leave = 0.16, .loss = 0.7};
  const Cluster cluster = Cluster::star(2, lossy);
  const Chain chain(8, Bytes(415'000), Seconds(0.01));
  for (const std::uint64_t seed : {22u, 37u, 45u}) {
    INFO(seed);
    ExecutorOptions options;
    options.seed = seed;
    std::vector<double> times[2];
    for (const bool by_packet : {false, true}) {
      const auto executor = make_executor(by_packet ? "packet" : "flow", cluster, options);
      const GraphId id =
          executor->submit({.graph = chain.graph, .bytes = chain.bytes, .seconds = chain.seconds});
      const Timeline& timeline = run_to_end(*executor, id);
      for (const OpIndex op : chain.transfers)
        times[by_packet].push_back((timeline.ops[op].end - timeline.ops[op].start).value());
    }
    for (std::size_t i = 0; i < times[0].size(); ++i)
      CHECK(times[0][i] == Approx(times[1][i]).epsilon(0.001));
  }
}
