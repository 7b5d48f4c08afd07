// Max-min shares worked by hand, then properties on random networks.
#include "sim/flow/shares/max_min.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <numeric>

#include "base/philox.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

/// One-way tests use even channels only, so that no opposite direction is busy.
struct Shares {
  MaxMin sharing;
  explicit Shares(std::vector<double> even_capacities)
      : sharing(both_ways(even_capacities), 0.03) {}
  static std::vector<double> both_ways(const std::vector<double>& even) {
    std::vector<double> all;
    for (const double c : even) all.insert(all.end(), {c, c});
    return all;
  }
  int add(std::vector<ChannelId> links, double cap = MaxMin::kNoCap) {
    for (ChannelId& c : links) c *= 2;
    const int f = sharing.add_flow(links);
    sharing.activate(f, cap);
    return f;
  }
};

}  // namespace

TEST_CASE("A pool's level is what those that reach their limits leave to the others, evenly") {
  IndexedHeap::Nodes nodes(3);
  RatePool pool(0, nodes);
  for (const std::int32_t flow : {0, 1, 2}) pool.add(flow, flow == 0 ? 10 : 40 * flow, true);
  std::vector<std::int32_t> left, joined;
  const auto moved = [&](std::int32_t flow, bool pooled) {
    (pooled ? joined : left).push_back(flow);
  };
  CHECK(pool.settle(100, moved));
  CHECK(pool.level() == 50);  // 100 - 10 - 40
  CHECK(left == std::vector<std::int32_t>{0, 1});
  CHECK(pool.limited_rate() == 50);
  CHECK(pool.is_full(100, 1e-9));
  CHECK(pool.settle(60, moved));
  CHECK(pool.level() == 25);  // (60 - 10) / 2
  CHECK(joined == std::vector<std::int32_t>{1});
  pool.remove(2, 80, true);
  CHECK(pool.settle(60, moved));  // 10 and 40: nobody is held
  CHECK(pool.level() == 0);
  CHECK_FALSE(pool.is_full(60, 1e-9));
}

TEST_CASE("one link: equal shares; a capped flow leaves the rest to the others") {
  // C = 12. Three flows: 4 each. With caps 2 and 3 on two of them: 2, 3, 12 - 5 = 7.
  Shares s({12});
  const int a = s.add({0}), b = s.add({0}), c = s.add({0});
  CHECK(s.sharing.resolve(0).size() == 3);
  for (const int f : {a, b, c}) CHECK(s.sharing.rate(f) == 4);
  s.sharing.set_cap(a, 2);
  s.sharing.set_cap(b, 3);
  s.sharing.resolve(1);
  CHECK(s.sharing.rate(a) == 2);
  CHECK(s.sharing.rate(b) == 3);
  CHECK(s.sharing.rate(c) == 7);
  s.sharing.deactivate(c, 2);
  CHECK(s.sharing.resolve(2).empty());  // a and b stay at their caps
  CHECK(s.sharing.rate(c) == 0);
  // Full from 0 to 2 (4+4+4, then 2+3+7), not after.
  CHECK(s.sharing.busy(0, 5) == 2);
}

TEST_CASE("a flow alone that takes less than there is hears of it when there is another room") {
  // A link of 103: 100 each way while both directions carry data.
  MaxMin sharing({103, 103}, 0.03);
  const std::array<ChannelId, 1> there{0}, back{1};
  const int a = sharing.add_flow(there), b = sharing.add_flow(back);
  sharing.activate(a, 40);
  CHECK(sharing.resolve(0).size() == 1);
  CHECK(sharing.room(a) == 103);
  sharing.activate(b, MaxMin::kNoCap);
  const auto changed = sharing.resolve(1);
  CHECK(changed.size() == 2);  // b, and a: its rate is the same, its room another
  CHECK(sharing.rate(a) == 40);
  CHECK(sharing.room(a) == Approx(100));
  sharing.set_cap(a, 30);
  CHECK(sharing.resolve(2).size() == 1);
  sharing.set_cap(a, 40);
  sharing.set_cap(a, 30);
  CHECK(sharing.resolve(3).empty());  // neither is another
}

TEST_CASE("the parking lot: one long flow against one short flow a link") {
  // Links of 10, 8, 6; a long flow over all; one short flow on each. The link of 6 is tightest: 3
  // for the long flow and its own; then 8 - 3 = 5 and 10 - 3 = 7 for the others.
  Shares s({10, 8, 6});
  const int all = s.add({0, 1, 2}), x = s.add({0}), y = s.add({1}), z = s.add({2});
  s.sharing.resolve(0);
  CHECK(s.sharing.rate(all) == 3);
  CHECK(s.sharing.rate(x) == 7);
  CHECK(s.sharing.rate(y) == 5);
  CHECK(s.sharing.rate(z) == 3);
}

TEST_CASE("three links, four flows (two levels of filling)") {
  // C = 1, 2, 1: f0 on {0,1}, f1 on {1,2}, f2 on {0}, f3 on {1}.
  // Level 1/2 fills link 0: f0 = f2 = 1/2. Link 1 has 3/2 for f1, f3: 3/4 each; link 2 allows 1.
  Shares s({1, 2, 1});
  const int f0 = s.add({0, 1}), f1 = s.add({1, 2}), f2 = s.add({0}), f3 = s.add({1});
  s.sharing.resolve(0);
  CHECK(s.sharing.rate(f0) == 0.5);
  CHECK(s.sharing.rate(f2) == 0.5);
  CHECK(s.sharing.rate(f1) == 0.75);
  CHECK(s.sharing.rate(f3) == 0.75);
}

TEST_CASE("acknowledgements take their share where both directions carry data") {
  MaxMin sharing({100, 100}, 0.25);
  const ChannelId there[] = {0}, back[] = {1};
  const int f = sharing.add_flow(there), g = sharing.add_flow(back);
  sharing.activate(f, MaxMin::kNoCap);
  sharing.resolve(0);
  CHECK(sharing.rate(f) == 100);
  sharing.activate(g, MaxMin::kNoCap);
  CHECK(sharing.resolve(0).size() == 2);
  CHECK(sharing.rate(f) == 80);  // 100 / 1.25
  CHECK(sharing.rate(g) == 80);
  sharing.deactivate(g, 0);
  sharing.resolve(0);
  CHECK(sharing.rate(f) == 100);
}

TEST_CASE("only what a change touches is solved again") {
  Shares s({10, 10, 10});
  const int a = s.add({0}), b = s.add({1}), c = s.add({1, 2});
  s.sharing.resolve(0);
  const int d = s.add({2});
  const auto changed = s.sharing.resolve(1);
  // c and d share link 2 at 5 each, as c had before; b keeps 5: only d's rate is new.
  CHECK(std::vector<int>(changed.begin(), changed.end()) == std::vector<int>{d});
  CHECK(s.sharing.rate(a) == 10);
  CHECK(s.sharing.rate(b) == 5);
  CHECK(s.sharing.rate(c) == 5);
}

namespace {

/// A random instance: the flow numbers are added in the order of `order`.
std::vector<double> random_rates(std::uint32_t instance, const std::vector<int>& order) {
  constexpr int kLinks = 9;
  const RandomStream stream{7, instance, 0, kFirstReservedTensor};
  std::uint64_t next = 0;
  const auto draw = [&] { return static_cast<double>(uniform(stream, next++)); };
  std::vector<double> capacities;
  for (int l = 0; l < kLinks; ++l) capacities.push_back(1 + std::floor(8 * draw()));
  std::vector<std::vector<ChannelId>> routes(order.size());
  std::vector<double> caps(order.size(), MaxMin::kNoCap);
  for (std::size_t f = 0; f < order.size(); ++f) {
    for (int l = 0; l < kLinks; ++l) {
      if (draw() < 0.3) routes[f].push_back(l);
    }
    if (routes[f].empty()) routes[f].push_back(static_cast<ChannelId>(f % kLinks));
    if (draw() < 0.3) caps[f] = 2 * draw() + 0.01;
  }
  Shares s(capacities);
  std::vector<int> number(order.size());
  for (const int f : order) {
    number[static_cast<std::size_t>(f)] =
        s.add(routes[static_cast<std::size_t>(f)], caps[static_cast<std::size_t>(f)]);
  }
  s.sharing.resolve(0);
  std::vector<double> rates, load(kLinks, 0);
  for (std::size_t f = 0; f < order.size(); ++f) {
    rates.push_back(s.sharing.rate(number[f]));
    CHECK(rates[f] <= caps[f]);
    for (const ChannelId l : routes[f]) load[static_cast<std::size_t>(l)] += rates[f];
  }
  // Feasible; and max-min: each flow is at its cap, or has a full link on which no one gets more
  // (Bertsekas and Gallager, section 6.5.2: exactly the max-min fair rates have that).
  for (int l = 0; l < kLinks; ++l) {
    CHECK(load[static_cast<std::size_t>(l)] <=
          capacities[static_cast<std::size_t>(l)] * (1 + 1e-12));
  }
  for (std::size_t f = 0; f < order.size(); ++f) {
    bool justified = rates[f] == caps[f];
    for (const ChannelId l : routes[f]) {
      const auto link = static_cast<std::size_t>(l);
      double most = 0;
      for (std::size_t g = 0; g < order.size(); ++g) {
        if (std::count(routes[g].begin(), routes[g].end(), l) > 0) most = std::max(most, rates[g]);
      }
      justified = justified ||
                  (load[link] >= capacities[link] * (1 - 1e-9) && rates[f] >= most * (1 - 1e-9));
    }
    CHECK(justified);
  }
  return rates;
}

}  // namespace

TEST_CASE("random networks: feasible, max-min fair, and the same in any order of flows") {
  for (std::uint32_t instance = 0; instance < 40; ++instance) {
    std::vector<int> order(12);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> rates = random_rates(instance, order);
    std::reverse(order.begin(), order.end());
    CHECK(random_rates(instance, order) == rates);  // bit-equal
    std::rotate(order.begin(), order.begin() + 5, order.end());
    CHECK(random_rates(instance, order) == rates);
  }
}

namespace {

/// Hosts on a star: channel 2h leads from host h to the switch, 2h + 1 back.
struct Star {
  std::vector<double> capacities;
  double ack_share;
  MaxMin sharing;
  struct Flow {
    int source = 0, destination = 0, number = 0;
    bool active = false;
  };
  std::vector<Flow> flows;

  Star(const std::vector<double>& c, double acks)
      : capacities(c), ack_share(acks), sharing(c, acks) {}
  void add(int source, int destination) {
    const ChannelId route[] = {2 * source, 2 * destination + 1};
    flows.push_back({source, destination, sharing.add_flow(route), false});
  }
  void flip(std::size_t f, double now) {
    flows[f].active = !flows[f].active;
    if (flows[f].active) {
      sharing.activate(flows[f].number, MaxMin::kNoCap);
    } else {
      sharing.deactivate(flows[f].number, now);
    }
  }

  /// Feasible, and every flow has a full channel on which nobody gets more: exactly the max-min
  /// fair rates have that.
  void check() const {
    std::vector<double> load(capacities.size(), 0), most(capacities.size(), 0);
    const auto channels = [](const Flow& f) {
      return std::array{static_cast<std::size_t>(2 * f.source),
                        static_cast<std::size_t>(2 * f.destination + 1)};
    };
    for (const Flow& f : flows) {
      if (!f.active) continue;
      for (const std::size_t c : channels(f)) {
        load[c] += sharing.rate(f.number);
        most[c] = std::max(most[c], sharing.rate(f.number));
      }
    }
    const auto capacity = [&](std::size_t c) {
      return most[c ^ 1] > 0 ? capacities[c] / (1 + ack_share) : capacities[c];
    };
    for (std::size_t c = 0; c < load.size(); ++c) {
      if (load[c] > capacity(c) * (1 + 1e-12)) FAIL("channel " << c << " carries " << load[c]);
    }
    for (const Flow& f : flows) {
      if (!f.active) continue;
      bool justified = false;
      for (const std::size_t c : channels(f)) {
        justified = justified || (load[c] >= capacity(c) * (1 - 1e-12) &&
                                  sharing.rate(f.number) >= most[c] * (1 - 1e-12));
      }
      if (!justified)
        FAIL("flow " << f.number << " could get more than " << sharing.rate(f.number));
    }
  }
};

/// Clients 0..n-1 of different links and a server, host n.
Star random_star(int clients, double server, std::uint32_t instance) {
  const RandomStream stream{8, instance, 0, kFirstReservedTensor};
  std::vector<double> capacities;
  for (int h = 0; h < clients; ++h) {
    const double c = 1e5 * (1 + std::floor(20 * uniform(stream, static_cast<std::uint64_t>(h))));
    capacities.insert(capacities.end(), {c, c});
  }
  capacities.insert(capacities.end(), {server, server});
  Star star(capacities, 0.03);
  for (int h = 0; h < clients; ++h) star.add(h, clients);  // up
  for (int h = 0; h < clients; ++h) star.add(clients, h);  // down
  for (int h = 0; h + 1 < clients; h += 9) star.add(h, h + 1);
  return star;
}

}  // namespace

TEST_CASE("a server's many clients, as they come and go: always max-min fair") {
  constexpr int kClients = 60;
  int pooled = 0, limited = 0;
  for (std::uint32_t instance = 0; instance < 12; ++instance) {
    // From a server that limits everybody to one that limits nobody.
    const double server = 1e5 * std::array{60.0, 300.0, 600.0, 1e4}[instance % 4];
    Star star = random_star(kClients, server, instance);
    const RandomStream stream{9, instance, 0, kFirstReservedTensor};
    std::uint64_t next = 0;
    for (int h = 0; h < kClients; ++h) star.flip(static_cast<std::size_t>(h), 0);
    for (int step = 0; step < 300; ++step) {
      // Mostly uploads; then downloads too; now and then transfers between clients, which tie the
      // server's channel to others.
      const double draw = uniform(stream, next++);
      const int range = step < 100 ? kClients : step < 200 ? 2 * kClients : 2 * kClients + 6;
      star.flip(static_cast<std::size_t>(draw * range), step);
      star.sharing.resolve(step);
      star.check();
      for (const Star::Flow& f : star.flows) {
        (star.sharing.pool(f.number) >= 0 ? pooled : limited) += f.active ? 1 : 0;
      }
    }
  }
  CHECK(pooled > 1000);  // the case is what it says
  CHECK(limited > 1000);
}

TEST_CASE("a rate of its own: alone, or what a pool leaves untouched") {
  // A server of 100, forty clients on links of 1 and two on links of 40: 40 in all for the first,
  // 30 each for the others.
  std::vector<double> capacities = {100};
  for (int h = 0; h < 42; ++h) capacities.push_back(h < 40 ? 1 : 40);
  Shares s(capacities);
  std::vector<int> flows;
  for (ChannelId h = 1; h <= 42; ++h) flows.push_back(s.add({h, 0}));
  s.sharing.resolve(0);
  CHECK(s.sharing.rate(flows[0]) == Approx(1));
  CHECK(s.sharing.rate(flows[40]) == Approx(30));
  CHECK(s.sharing.has_own_rate(flows[0]));
  CHECK_FALSE(s.sharing.has_own_rate(flows[40]));

  Shares two({12, 12});
  const int alone = two.add({0});
  CHECK(two.sharing.has_own_rate(alone));
  const int beside = two.add({0, 1}, 2);
  two.sharing.resolve(0);
  CHECK_FALSE(two.sharing.has_own_rate(alone));
  CHECK_FALSE(two.sharing.has_own_rate(beside));  // at its cap, but another one may come
}

TEST_CASE("pools: the level does not depend on the order or the history of its flows") {
  Star one = random_star(50, 3e6, 3), other = random_star(50, 3e6, 3);
  for (std::size_t f = 0; f < 50; ++f) one.flip(f, 0);
  one.sharing.resolve(0);
  for (std::size_t f = 50; f-- > 0;) other.flip(f, 0);
  other.sharing.resolve(0);
  for (std::size_t f = 5; f < 25; ++f) other.flip(f, 1);
  other.sharing.resolve(1);
  for (std::size_t f = 5; f < 25; ++f) other.flip(f, 2);
  other.sharing.resolve(2);
  for (std::size_t f = 0; f < 50; ++f) {
    CHECK(one.sharing.rate(one.flows[f].number) == other.sharing.rate(other.flows[f].number));
  }
  CHECK(one.sharing.pool_count() == 1);
}
