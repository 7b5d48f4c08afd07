// Weighted max-min fairness on media, and capacities that change.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/philox.h"
#include "sim/flow/shares/max_min.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

struct Flow {
  std::vector<ChannelId> route;
  std::vector<double> cost;
  double weight = 1;
};

/// A network drawn from `seed`: wires of cost 1, and two media of cost 0.1 to 1.
struct Drawn {
  std::vector<double> capacities;
  std::vector<Flow> flows;

  explicit Drawn(std::uint64_t seed) : stream_{seed, 0, 0, kFirstReservedTensor} {
    for (int c = 0; c < 8; ++c) capacities.push_back(c < 6 ? 1 + 9 * draw() : 0.5 + draw());
    const int count = 2 + static_cast<int>(12 * draw());
    for (int f = 0; f < count; ++f) {
      Flow flow;
      for (ChannelId c = 0; c < 8; ++c) {
        if (draw() > 0.4) continue;
        flow.route.push_back(2 * c);
        flow.cost.push_back(c < 6 ? 1 : 0.1 + 0.9 * draw());
      }
      if (flow.route.empty()) flow = {{0}, {1}, 1};
      flow.weight = 0.1 + 0.9 * draw();
      flows.push_back(flow);
    }
  }
  /// Both numbers of each channel.
  std::vector<double> pairs() const {
    std::vector<double> both;
    for (const double c : capacities) both.insert(both.end(), {c, c});
    return both;
  }
  std::vector<double> solve(const std::vector<std::size_t>& order) const {
    MaxMin sharing(pairs(), 0);
    for (const std::size_t f : order) {
      const std::int32_t id = sharing.add_flow(flows[f].route);
      for (std::size_t hop = 0; hop < flows[f].route.size(); ++hop) {
        sharing.set_medium(id, hop, flows[f].cost[hop], flows[f].weight);
      }
      sharing.activate(id, MaxMin::kNoCap);
    }
    sharing.resolve(0);
    std::vector<double> rates(flows.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      rates[order[i]] = sharing.rate(static_cast<std::int32_t>(i));
    }
    return rates;
  }

 private:
  double draw() { return static_cast<double>(uniform(stream_, next_++)); }
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace

TEST_CASE("weighted shares are feasible, and each flow has a bottleneck that treats it well") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Drawn drawn(seed);
    std::vector<std::size_t> order(drawn.flows.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::vector<double> rates = drawn.solve(order);
    std::vector<double> used(8, 0), highest(8, 0);
    for (std::size_t f = 0; f < rates.size(); ++f) {
      const Flow& flow = drawn.flows[f];
      for (std::size_t hop = 0; hop < flow.route.size(); ++hop) {
        const auto c = static_cast<std::size_t>(flow.route[hop] / 2);
        used[c] += flow.cost[hop] * rates[f];
        highest[c] = std::max(highest[c], rates[f] / flow.weight);
      }
    }
    INFO(seed);
    for (std::size_t c = 0; c < 8; ++c) CHECK(used[c] <= drawn.capacities[c] * (1 + 1e-9));
    for (std::size_t f = 0; f < rates.size(); ++f) {
      const Flow& flow = drawn.flows[f];
      CHECK(std::any_of(flow.route.begin(), flow.route.end(), [&](ChannelId id) {
        const auto c = static_cast<std::size_t>(id / 2);
        return used[c] >= drawn.capacities[c] * (1 - 1e-9) &&
               rates[f] / flow.weight >= highest[c] * (1 - 1e-9);
      }));
    }
    std::reverse(order.begin(), order.end());
    const std::vector<double> reversed = drawn.solve(order);
    for (std::size_t f = 0; f < rates.size(); ++f) CHECK(reversed[f] == Approx(rates[f]));
  }
}

TEST_CASE("two stations on one medium, by hand") {
  // Costs 1/2 and 1/4 of a second a byte, equal weights: x (1/2 + 1/4) = 1. Weights 1 and 1/2, as
  // LTE's rates 4 and 2 would be: level (1/4 + 1/4) = 1, so 2 and 1 - half of the time each.
  MaxMin sharing({1, 1}, 0);
  const std::vector<ChannelId> route{0};
  const std::int32_t a = sharing.add_flow(route), b = sharing.add_flow(route);
  sharing.set_medium(a, 0, 0.5, 1);
  sharing.set_medium(b, 0, 0.25, 1);
  sharing.activate(a, MaxMin::kNoCap);
  sharing.activate(b, MaxMin::kNoCap);
  sharing.resolve(0);
  CHECK(sharing.rate(a) == Approx(4.0 / 3));
  CHECK(sharing.rate(b) == Approx(4.0 / 3));
  sharing.set_medium(a, 0, 0.25, 1);
  sharing.set_medium(b, 0, 0.5, 0.5);
  sharing.resolve(1);
  CHECK(sharing.rate(a) == Approx(2));
  CHECK(sharing.rate(b) == Approx(1));
  // One leaves: the other has the air to itself.
  sharing.deactivate(a, 2);
  sharing.resolve(2);
  CHECK(sharing.rate(b) == Approx(2));
}

TEST_CASE("capacities that change give the shares of a network made with them") {
  // 50 flows over one channel (a pool) and own links of 1 to 50; then the channel and one link
  // change, to nothing, and back.
  std::vector<double> capacities{400, 400};
  for (int f = 1; f <= 50; ++f) capacities.insert(capacities.end(), {1.0 * f, 1.0 * f});
  const auto rates = [&](const std::vector<double>& at, MaxMin* changed) {
    MaxMin fresh(at, 0);
    MaxMin& sharing = changed != nullptr ? *changed : fresh;
    if (changed == nullptr) {
      for (ChannelId f = 1; f <= 50; ++f) {
        const std::vector<ChannelId> route{2 * f, 0};
        sharing.activate(sharing.add_flow(route), MaxMin::kNoCap);
      }
    } else {
      for (std::size_t c = 0; c < at.size(); ++c) {
        sharing.set_capacity(static_cast<ChannelId>(c), at[c]);
      }
    }
    sharing.resolve(0);
    std::vector<double> all;
    for (std::int32_t f = 0; f < 50; ++f) all.push_back(sharing.rate(f));
    return all;
  };
  MaxMin sharing(capacities, 0);
  for (ChannelId f = 1; f <= 50; ++f) {
    const std::vector<ChannelId> route{2 * f, 0};
    sharing.activate(sharing.add_flow(route), MaxMin::kNoCap);
  }
  sharing.resolve(0);
  const std::vector<double> before = rates(capacities, nullptr);
  // Links of 1 to 8 are below the level and keep 36 in all; the other 42 share 364: 8.667.
  CHECK(before[0] == 1);
  CHECK(before[49] == Approx(364.0 / 42));
  for (const auto& [channel, capacity] :
       {std::pair(0, 100.0), std::pair(40, 2.0), std::pair(0, 0.0), std::pair(40, 0.0),
        std::pair(0, 1e6), std::pair(40, 20.0), std::pair(0, 400.0)}) {
    std::vector<double> at = capacities;
    at[static_cast<std::size_t>(channel)] = capacity;
    at[static_cast<std::size_t>(channel ^ 1)] = capacity;
    const std::vector<double> expected = rates(at, nullptr), found = rates(at, &sharing);
    INFO(channel << " " << capacity);
    for (std::size_t f = 0; f < 50; ++f) CHECK(found[f] == Approx(expected[f]).margin(1e-9));
  }
}
