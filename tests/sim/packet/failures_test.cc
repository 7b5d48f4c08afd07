#include <catch2/catch.hpp>

#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

std::vector<Event> of_kind(const std::vector<Event>& events, EventKind kind) {
  std::vector<Event> result;
  for (const Event& event : events)
    if (event.kind == kind) result.push_back(event);
  return result;
}

}  // namespace

TEST_CASE("a transfer over a dead link fails at the limit", "[needs-packet]") {
  require_packet_program();
  ExecutorOptions options;
  options.transfer_limit = Seconds(5);
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6, 0.99)), options);
  submit(*executor, transfer_graph({{0, 1}}), {Bytes(100'000)});
  const auto failed = of_kind(events_until(*executor), EventKind::kTransferFailed);
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].time.value() == Approx(5).margin(1e-9));
}

TEST_CASE("a connection that TCP gives up fails its transfers, and the next opens another",
          "[needs-packet]") {
  require_packet_program();
  // 15 timeouts of 0.2 s * 2^i, 60 s at most: 0.2 + 0.4 + ... + 51.2 + 7 * 60 is about 520 s.
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6, 0.9999)), {});
  const GraphPtr graph = transfer_graph({{0, 1}, {0, 1}});
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Seconds start = executor->now();
    submit(*executor, graph, {Bytes(100'000), Bytes(10)}, start);
    const auto failed = of_kind(events_until(*executor), EventKind::kTransferFailed);
    REQUIRE(failed.size() == 2);
    CHECK(failed[0].time - start > Seconds(10));
    CHECK(failed[0].time - start < Seconds(3000));
  }
}

TEST_CASE("a cancelled graph leaves the connection to the next one", "[needs-packet]") {
  require_packet_program();
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), {});
  const GraphPtr graph = transfer_graph({{0, 1}});
  const GraphId first = submit(*executor, graph, {Bytes(50'000'000)});
  const GraphId second = submit(*executor, graph, {Bytes(1'000'000)});
  std::vector<Event> events;
  executor->advance(Seconds(0.010), events);
  CHECK(events.empty());
  executor->cancel(first);
  events = events_until(*executor);
  for (const Event& event : events) CHECK(event.op.graph == second);
  // Left alone the second would wait 425 ms for the first. What the first had handed to TCP is
  // still carried: no more than the window and 256 segments, here less than 5 ms.
  const Seconds end = executor->timeline(second).end;
  CHECK(end.value() > 0.010 + 0.0085);
  CHECK(end.value() < 0.010 + 0.0085 + 0.010);
  CHECK(executor->timeline(first).ops[0].end < Seconds(0));
  const Timeline third = run(*executor, graph, {Bytes(1'000'000)});
  CHECK((third.end - third.start).value() == Approx(0.0086).epsilon(0.05));
}

TEST_CASE("what the program refuses is an error here, and the session goes on", "[needs-packet]") {
  require_packet_program();
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), {});
  CHECK_THROWS_AS(submit(*executor, transfer_graph({{0, 7}}), {Bytes(1000)}), Error);
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(1000)});
  CHECK(timeline.ops[0].end > Seconds(0));
}
