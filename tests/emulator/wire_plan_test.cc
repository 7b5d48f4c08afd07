#include "emulator/shaper/wire_plan.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "emulator/hub/answers.h"
#include "emulator/link_choice.h"
#include "emulator/shaper/link_report.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

sim::LinkSpec link_of(double delay) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(100e6);
  link.delay = Seconds(delay);
  return link;
}

/// Four hosts on two switches.
sim::Cluster tree(const sim::LinkSpec& link) {
  sim::Cluster cluster;
  const auto a = cluster.add_host("a"), b = cluster.add_host("b"), c = cluster.add_host("c"),
             d = cluster.add_host("d");
  const auto s = cluster.add_switch("s"), t = cluster.add_switch("t");
  cluster.add_link(a, s, link);
  cluster.add_link(b, s, link);
  cluster.add_link(s, t, link);
  cluster.add_link(c, t, link);
  cluster.add_link(d, t, link);
  cluster.finish();
  return cluster;
}

std::string refusal(const sim::Cluster& cluster, const std::string& shaper) {
  try {
    choose_links(cluster, shaper, {}, 1);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kCapability);
    return error.what();
  }
  return "";
}

TEST_CASE("A plan has a way for each ordered pair, over all links between them", "[unit]") {
  const WirePlan plan = plan_wires(tree(link_of(1e-3)), {}, 5);
  CHECK(plan.channels.size() == 10);
  CHECK(plan.routes.size() == 12);
  const auto numbers = plan.routes_by_pair();
  CHECK(numbers[0 * 4 + 0] == -1);
  CHECK(plan.routes[static_cast<std::size_t>(numbers[0 * 4 + 1])].channels.size() == 2);
  CHECK(plan.routes[static_cast<std::size_t>(numbers[0 * 4 + 3])].channels.size() == 3);
  // What four hosts send, not what the fifth link carries on.
  CHECK(plan.load() == Approx(4 * 100e6));
  const WirePlan again =
      wire_plan_from_json(nlohmann::json::from_cbor(nlohmann::json::to_cbor(to_json(plan))));
  CHECK(to_json(again) == to_json(plan));
}

TEST_CASE("Everything that a link has is in the plan, and survives the way", "[unit]") {
  sim::LinkSpec link = link_of(2e-3);
  link.loss = 0.01;
  link.jitter = Seconds(1e-3);
  link.burst = {0.01, 0.3, 0.9};
  link.schedule = sim::RateSchedule::from_opportunities("t", {1, 3, 10});
  link.schedule_back = sim::RateSchedule::from_pieces(
      "p", {{Seconds(0), BitsPerSecond(1e6)}, {Seconds(2), BitsPerSecond(2e6)}}, Seconds(4));
  link.schedule_offset = Seconds(7);
  link.outages = {{Seconds(1), Seconds(2)}};
  const WirePlan plan = wire_plan_from_json(nlohmann::json::from_cbor(
      nlohmann::json::to_cbor(to_json(plan_wires(sim::Cluster::star(2, link), {}, 9)))));
  const WireNetwork::Channel &up = plan.channels[0], &down = plan.channels[1];
  CHECK(plan.seed == 9);
  CHECK(up.jitter == Approx(1e-3));
  CHECK(up.burst == link.burst);
  CHECK(up.schedule_offset == Approx(7));
  CHECK(up.outages == link.outages);
  REQUIRE(up.schedule);
  CHECK(up.schedule->opportunities() == link.schedule->opportunities());
  REQUIRE(down.schedule);
  CHECK(down.schedule->pieces()[1].rate == BitsPerSecond(2e6));
  CHECK(down.schedule->period() == Seconds(4));
}

TEST_CASE("What neither the kernel nor the process can make is refused with both reasons",
          "[unit]") {
  const sim::Cluster star = sim::Cluster::star(3, link_of(1e-3));
  CHECK(refusal(star, "auto").empty());
  CHECK(refusal(star, "tbf").empty());
  CHECK(refusal(star, "link").empty());
  CHECK(choose_links(star, "auto", {}, 1).wires);
  CHECK_FALSE(choose_links(star, "auto", {}, 1).star.empty());
  // 0.2 ms to the other host: too short for the process.
  const sim::Cluster near = sim::Cluster::star(3, link_of(0.1e-3));
  CHECK_FALSE(choose_links(near, "auto", {}, 1).wires);
  CHECK_THAT(refusal(near, "link"), Catch::Contains("200"));
  CHECK_THAT(refusal(tree(link_of(1e-3)), "tbf"), Catch::Contains("switch"));
  CHECK(choose_links(tree(link_of(1e-3)), "auto", {}, 1).star.empty());
  CHECK_THAT(refusal(tree(link_of(0.1e-3)), "auto"),
             Catch::Contains("switch") && Catch::Contains("0 to host 1"));
  sim::LinkSpec shared = link_of(1e-3);
  shared.half_duplex = true;
  CHECK_THAT(refusal(sim::Cluster::star(2, shared), "auto"), Catch::Contains("half-duplex"));
}

TEST_CASE("More than the process holds is refused with what it holds", "[unit]") {
  const WirePlan plan = plan_wires(sim::Cluster::star(4, link_of(1e-3)), {}, 1);  // 400 Mbps
  CHECK_NOTHROW(require_hold(plan, 200e3));  // 0.5 x 200,000 x 12,304 bits = 1.23 Gbps
  try {
    require_hold(plan, 50e3);
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kCapability);
    CHECK_THAT(error.what(), Catch::Contains("400") && Catch::Contains("308"));
  }
}

TEST_CASE("A star of the kernel's is refused where processors cannot carry it, or delays were lost",
          "[unit]") {
  const std::vector<HostLink> eight(8, {.rate = BitsPerSecond(1e9), .delay = Seconds(1e-3)});
  CHECK_NOTHROW(require_hold(eight, 2));  // 8 of 2 x 4 Gbps
  CHECK_THROWS_WITH(require_hold(eight, 1),
                    Catch::Contains("8.00 Gbps") && Catch::Contains("4.00 Gbps"));
  CHECK_THROWS_WITH(require_delays(eight, "auto"), Catch::Contains("1.00 ms"));
  CHECK_NOTHROW(require_delays(eight, "tbf"));  // asked for
  // 0.4 ms from host to host is too short for the link process as well.
  const std::vector<HostLink> near(8, {.rate = BitsPerSecond(1e9), .delay = Seconds(0.2e-3)});
  CHECK_NOTHROW(require_delays(near, "auto"));
}

TEST_CASE("A link process's report is read, or refused", "[unit]") {
  LinkReport report;
  report.late_99 = 2e-4;
  report.late = {{1e-6, 5}, {2e-4, 1}};
  report.counts = {10, 7, 2, 1};
  report.channels = {{1538, 0.1, 1, 0, 0}};
  report.missed = 3;
  report.missed_opportunities = 4;
  nlohmann::json message = to_json(report);
  const LinkReport again = link_report_from_json(message);
  CHECK(again.by_process);
  CHECK(again.late_99 == 2e-4);
  CHECK(again.late.size() == 2);
  CHECK(again.counts.dropped == 2);
  CHECK(again.channels.at(0).busy == 0.1);
  CHECK(again.missed == 3);
  CHECK(again.missed_opportunities == 4);
  message["late"] = 5;
  CHECK_THROWS_AS(link_report_from_json(message), Error);
}

}  // namespace
}  // namespace gradwire::emulator
