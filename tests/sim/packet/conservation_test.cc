#include <catch2/catch.hpp>

#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

SegmentBooks books_of(const Executor& executor) {
  return packet_statistics(executor).segments;
}

void check_balance(const SegmentBooks& books) {
  for (const auto part : {&SegmentCount::segments, &SegmentCount::bytes}) {
    CHECK(books.first.*part + books.again.*part ==
          books.arrived.*part + books.lost_in_queues.*part + books.lost_on_links.*part +
              books.in_flight.*part);
    CHECK(books.arrived.*part == books.unique.*part + books.duplicate.*part);
    CHECK(books.unique.*part <= books.first.*part);
    CHECK(books.in_flight.*part >= 0);
  }
}

ExecutorOptions counting() {
  ExecutorOptions options;
  options.count_segments = true;
  return options;
}

struct Case {
  std::string name;
  Cluster cluster;
};

std::vector<Case> networks() {
  LinkSpec bursts = link(1e8, 2e-3);
  bursts.burst = {0.005, 0.3, 1};
  LinkSpec small = link(5e7, 1e-3);
  small.queue = Bytes(20'000);
  LinkSpec mobile = link(1e7, 10e-3, 0.005);
  mobile.schedule = RateSchedule::from_mahimahi("t", "1\n2\n40\n");
  mobile.jitter = Seconds(2e-3);
  LinkSpec shared = link(1e8, 1e-3, 0.01);
  shared.half_duplex = true;
  shared.outages = {{Seconds(0.02), Seconds(0.7)}};
  return {{"lossy", Cluster::star(4, link(1e8, 1e-3, 0.01))},
          {"bursts", Cluster::star(4, bursts)},
          {"small queues", Cluster::star(4, link(1e9, 1e-3), true, small)},
          {"mobile", Cluster::star(4, mobile)},
          {"half duplex, out for a while", Cluster::star(4, shared)},
          {"fat tree", fat_tree({4, 4, link(1e8, 1e-3, 0.005), link(1e8, 1e-3)})}};
}

}  // namespace

TEST_CASE("every segment sent has arrived, was lost, or is in flight, at any moment",
          "[needs-packet]") {
  require_packet_program();
  for (const Case& network : networks()) {
    INFO(network.name);
    const auto executor = make_packet_executor(network.cluster, counting());
    const int last = network.cluster.host_count() - 1;
    std::vector<Pair> pairs;
    for (int host = 0; host < last; ++host) {
      pairs.push_back({host, last});
      pairs.push_back({last, host});
    }
    const std::vector<Bytes> bytes(pairs.size(), Bytes(300'000));
    submit(*executor, transfer_graph(pairs), bytes);
    std::int64_t most_in_flight = 0;
    for (int ms = 5; ms <= 200; ms += 13) {
      std::vector<Event> events;
      while (executor->advance(Seconds(ms * 1e-3), events)) {
      }
      const SegmentBooks books = books_of(*executor);
      check_balance(books);
      most_in_flight = std::max(most_in_flight, books.in_flight.segments);
    }
    CHECK(most_in_flight > 0);
    events_until(*executor);
    // What is still under way are copies that nobody needs; let them arrive.
    std::vector<Event> events;
    executor->advance(executor->now() + Seconds(10), events);
    const SegmentBooks books = books_of(*executor);
    check_balance(books);
    const std::int64_t all = 300'000 * static_cast<std::int64_t>(pairs.size());
    CHECK(books.first.bytes == all);
    CHECK(books.unique.bytes == all);
    CHECK(books.in_flight.segments == 0);
    const std::int64_t lost = books.lost_in_queues.segments + books.lost_on_links.segments;
    CHECK(lost > 0);
    CHECK(books.again.segments >= lost);  // each loss is made good, and TCP may err
  }
}

TEST_CASE("losses are booked where they happen", "[needs-packet]") {
  require_packet_program();
  const auto books = [](const LinkSpec& spec) {
    const auto executor = make_packet_executor(Cluster::star(2, spec), counting());
    run(*executor, transfer_graph({{0, 1}}), {Bytes(1'448'000)});
    return books_of(*executor);
  };
  const SegmentBooks clean = books(link(1e8, 1e-3));
  CHECK(clean.first.segments == 1000);
  CHECK(clean.again.segments + clean.lost_in_queues.segments + clean.lost_on_links.segments == 0);
  const SegmentBooks lossy = books(link(1e8, 1e-3, 0.01));
  CHECK(lossy.lost_on_links.segments > 5);
  CHECK(lossy.lost_in_queues.segments == 0);
}

TEST_CASE("bursts lose what their chain says", "[needs-packet]") {
  require_packet_program();
  // Mean loss: enter / (enter + leave) = 0.02 / 0.22 = 1/11 of the packets, in bursts of 5.
  LinkSpec spec = link(1e8, 1e-3);
  spec.burst = {0.02, 0.2, 1};
  Cluster cluster;
  const NodeId a = cluster.add_host("a"), b = cluster.add_host("b");
  cluster.add_link(a, b, spec);
  cluster.finish();
  CHECK(spec.mean_loss() == Approx(1.0 / 11));
  const auto executor = make_packet_executor(cluster, counting());
  run(*executor, transfer_graph({{0, 1}}), {Bytes(14'480'000)});
  const SegmentBooks books = books_of(*executor);
  const double sent = static_cast<double>(books.first.segments + books.again.segments);
  const double share = static_cast<double>(books.lost_on_links.segments) / sent;
  // 11,000 packets in about 200 bursts: a standard error of 8 % or so.
  CHECK(share == Approx(1.0 / 11).epsilon(0.3));
}
