#include <catch2/catch.hpp>

#include "base/error.h"
#include "emulator/shaper/link_plan.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ErrorKind kind_of_refusal(const sim::Cluster& cluster) {
  try {
    star_links(cluster);
  } catch (const Error& error) {
    return error.kind();
  }
  FAIL("it was not refused");
  return ErrorKind::kFailure;
}

TEST_CASE("shapers count 1,514 of the 1,538 bytes that a full segment takes on the wire",
          "[unit]") {
  HostLink link;
  link.rate = BitsPerSecond(1e9);
  // 1e9 * 1514 / 1538 = 984,395,318 bit/s
  CHECK(shaper_rate(link).value() == Approx(984'395'318.6));
  CHECK(contains(host_tc_script(link, Shaping{"htb", false}), "rate 984395319bit"));
}

TEST_CASE("buckets hold what late timers cost, within one frame and 16,000 bytes", "[unit]") {
  const Shaping htb{"htb", false, Seconds(90e-6)}, tbf{"tbf", false, Seconds(90e-6)};
  HostLink link;
  link.rate = BitsPerSecond(1e9);  // 90 us = 11,250 bytes = 7 frames of 1,514 = 10,598, and 86
  CHECK(burst_of(link, htb).count() == 10'684);
  CHECK(burst_of(link, Shaping{"htb", false}).count() ==
        15'226);                                           // 125 us = 15,625 bytes: 10 frames
  CHECK(gso_segments(link, htb) == 10);                    // real-time: 125 us
  CHECK(gso_segments(link, Shaping{"htb", false}) == 16);  // 200 us = 25,000 bytes
  CHECK(gso_segments(link, tbf) == 7);  // tbf needs all of a packet in the bucket
  link.rate = BitsPerSecond(1e7);
  CHECK(burst_of(link, htb).count() == 1600);
  CHECK(gso_segments(link, htb) == 1);
  link.rate = BitsPerSecond(1e10);
  CHECK(burst_of(link, htb).count() <= 16'000);
  link.loss = 0.01;  // a lost packet is one segment
  CHECK(gso_segments(link, htb) == 1);
}

TEST_CASE("only a star is emulated", "[unit]") {
  const std::vector<HostLink> links = star_links(sim::Cluster::star(3, {}, true));
  CHECK(links.size() == 4);
  sim::Cluster pair;
  pair.add_link(pair.add_host("a"), pair.add_host("b"), {});
  pair.finish();
  CHECK(kind_of_refusal(pair) == ErrorKind::kCapability);
  sim::Cluster two_switches;
  const auto a = two_switches.add_host("a"), b = two_switches.add_host("b");
  const auto s = two_switches.add_switch("s"), t = two_switches.add_switch("t");
  two_switches.add_link(a, s, {});
  two_switches.add_link(s, t, {});
  two_switches.add_link(t, b, {});
  two_switches.finish();
  CHECK(kind_of_refusal(two_switches) == ErrorKind::kCapability);
}

TEST_CASE("the server's own link is kept apart", "[unit]") {
  sim::LinkSpec slow, fast;
  slow.rate = BitsPerSecond(1e8);
  fast.rate = BitsPerSecond(1e9);
  const auto links = star_links(sim::Cluster::star(2, slow, true, fast));
  CHECK(links[1].rate == slow.rate);
  CHECK(links[2].rate == fast.rate);
}

TEST_CASE("scripts say loss, delay and queue only where they are", "[unit]") {
  HostLink link;
  link.queue = Bytes(50'000);
  link.delay = Seconds(2e-3);
  CHECK(host_nft_script(link).empty());
  CHECK(hub_nft_script({link}).empty());
  CHECK_FALSE(contains(host_tc_script(link, Shaping{"htb", false}), "netem"));
  CHECK(contains(host_tc_script(link, Shaping{"htb", false}), "bfifo limit 50000"));
  CHECK(contains(host_tc_script(link, Shaping{"tbf", false}), "limit 50000"));
  // 2 ms at 1 Gbps: 250,000 bytes in flight and 50,000 queued, of 1,514 each: 199 packets.
  CHECK(contains(host_tc_script(link, Shaping{"tbf", true}), "netem delay 2000000ns limit 199"));
  link.loss = 0.02;
  CHECK(contains(host_nft_script(link), "device \"eth0\""));
  CHECK(contains(host_nft_script(link), "numgen random mod 10000000 < 200000"));
  CHECK(contains(hub_nft_script({link}), "device \"gw0\""));
}

}  // namespace
}  // namespace gradwire::emulator
