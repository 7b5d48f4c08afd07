#include "runner/traces/sampled_messages.h"

#include <catch2/catch.hpp>
#include <map>

using namespace gradwire;
using namespace gradwire::runner;

namespace {

constexpr double kWire = 1538.0 / 1448;  ///< bytes on the wire of a payload's byte

sim::Cluster two_at_8mbps() {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(8e6);
  link.delay = Seconds(0.01);
  return sim::Cluster::star(2, link);
}

}  // namespace

TEST_CASE("Messages begin when they were planned, also by those that arrive") {
  const sim::Cluster cluster = two_at_8mbps();
  SampledMessages messages(cluster, {});
  std::map<std::int64_t, double> at;
  messages.plan(2, 7, 0, 1, 1e6);
  messages.run([&](std::int64_t id, double time) {
    at[id] = time;
    if (id == 7) messages.plan(time + 3, 8, 1, 0, 1e6);
  });
  // 1 MB at 1 MB/s, .02 s of way, and windows that open.
  REQUIRE(at.size() == 2);
  CHECK(at[7] == Approx(2 + kWire + 0.02).margin(0.2));
  CHECK(at[8] == Approx(at[7] + 3 + kWire + 0.02).margin(0.2));
}

TEST_CASE("As many items as the work allows, the first unless it is far beyond") {
  const std::vector<double> items = {4, 3, 3, 1};
  const auto itself = [](double item) { return item; };
  CHECK(affordable(items, 10, itself) == 3);
  CHECK(affordable(items, 9.5, itself) == 2);
  CHECK(affordable(items, 100, itself) == 4);
  CHECK(affordable(items, 2.5, itself) == 1);
  CHECK(affordable(items, 1.5, itself) == 0);  // 4 is more than twice 1.5
  CHECK(affordable(std::vector<double>{}, 10, itself) == 0);
  CHECK(work_of_message(14600) == Approx(2));  // 10 packets
}

TEST_CASE("What is not known goes on as it did, stretched") {
  std::vector<double> times = {1, 2, 4, 6};
  follow({1.5, 3}, times);  // from 1.5 to 3 where it was 1 to 2: half as long again
  CHECK(times == std::vector<double>{1.5, 3, 6, 9});
  std::vector<double> slow_at_first = {1, 2, 3, 4, 5};
  follow({5, 6, 7}, slow_at_first);  // the later half, from 6 to 7, as long
  CHECK(slow_at_first == std::vector<double>{5, 6, 7, 8, 9});
  std::vector<double> one = {1, 2};
  follow({2}, one);  // nothing but the first: twice
  CHECK(one == std::vector<double>{2, 4});
  std::vector<double> alone = {1, 2};
  follow({}, alone);
  CHECK(alone == std::vector<double>{1, 2});
}
