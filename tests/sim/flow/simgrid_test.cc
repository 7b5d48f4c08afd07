// Max-min shares against SimGrid's model CM02 (factors 1, no latency) on random networks: when each
// of some flows has ended, which takes every share from first to last.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "base/child_process.h"
#include "base/philox.h"
#include "sim/flow/shares/max_min.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

struct Network {
  std::vector<double> rates;  ///< bytes a second, by link
  std::vector<double> sizes;  ///< bytes, by flow
  std::vector<std::vector<int>> routes;
};

/// `hub`: all flows cross link 0, and few meet elsewhere.
Network random_network(std::uint32_t instance, int links, int flows, bool hub) {
  const RandomStream stream{21, instance, 0, kFirstReservedTensor};
  std::uint64_t next = 0;
  const auto below = [&](int n) {
    return static_cast<int>(n * static_cast<double>(uniform(stream, next++)));
  };
  Network network;
  for (int l = 0; l < links; ++l) network.rates.push_back(1e6 * (1 + below(1000)));
  if (hub) network.rates[0] = 1e6 * flows * (20 + below(600));
  for (int f = 0; f < flows; ++f) {
    network.sizes.push_back(1e6 * (1 + below(500)));
    std::vector<int> route;
    if (hub) {
      route = {0, 1 + f % (links - 1)};
    } else {
      for (int hop = 1 + below(4); hop > 0; --hop) route.push_back(below(links));
      std::sort(route.begin(), route.end());
      route.erase(std::unique(route.begin(), route.end()), route.end());
    }
    network.routes.push_back(route);
  }
  return network;
}

/// Ours: from end to end, at the rates that MaxMin gives.
std::vector<double> our_ends(const Network& network) {
  std::vector<double> capacities;
  for (const double rate : network.rates) capacities.insert(capacities.end(), {rate, rate});
  MaxMin sharing(capacities, 0);
  for (const std::vector<int>& links : network.routes) {
    std::vector<ChannelId> route;
    for (const int l : links) route.push_back(2 * l);
    sharing.activate(sharing.add_flow(route), MaxMin::kNoCap);
  }
  const std::size_t flows = network.sizes.size();
  std::vector<double> left = network.sizes, ends(flows, -1);
  double now = 0;
  for (std::size_t gone = 0; gone < flows;) {
    sharing.resolve(now);
    double step = 1e300;
    for (std::size_t f = 0; f < flows; ++f) {
      if (ends[f] < 0) step = std::min(step, left[f] / sharing.rate(static_cast<int>(f)));
    }
    now += step;
    std::vector<std::size_t> done;
    for (std::size_t f = 0; f < flows; ++f) {
      if (ends[f] >= 0) continue;
      left[f] -= sharing.rate(static_cast<int>(f)) * step;
      if (left[f] <= 1e-9 * network.sizes[f]) done.push_back(f);
    }
    for (const std::size_t f : done) sharing.deactivate(static_cast<int>(f), now), ends[f] = now;
    gone += done.size();
  }
  return ends;
}

std::string text_of(const Network& network) {
  std::ostringstream text;
  text.precision(15);
  text << network.rates.size() << " " << network.sizes.size() << "\n";
  for (const double rate : network.rates) text << rate << "\n";
  for (std::size_t f = 0; f < network.sizes.size(); ++f) {
    text << network.sizes[f] << " " << network.routes[f].size();
    for (const int link : network.routes[f]) text << " " << link;
    text << "\n";
  }
  return text.str();
}

std::vector<double> simgrid_ends(const std::string& program, const Network& network) {
  ChildProcess child({program, "shares"}, {.pipe_stdin = true, .pipe_stdout = true});
  const std::string text = text_of(network);
  REQUIRE(::write(child.stdin_pipe().get(), text.data(), text.size()) ==
          static_cast<ssize_t>(text.size()));
  child.stdin_pipe() = FileDescriptor();
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(child.stdout_pipe().get(), part, sizeof part)) > 0;) {
    answer.append(part, static_cast<std::size_t>(got));
  }
  REQUIRE(child.wait() == 0);
  std::istringstream lines(answer);
  std::vector<double> ends;
  for (double end = 0; lines >> end;) ends.push_back(end);
  REQUIRE(ends.size() == network.sizes.size());
  return ends;
}

}  // namespace

TEST_CASE("flows end when SimGrid's CM02 says") {
  const char* build = std::getenv("GRADWIRE_BINARY_DIR");
  REQUIRE(build != nullptr);
  const std::string program = std::string(build) + "/bin/gradwire-bench-simgrid";
  for (std::uint32_t instance = 0; instance < 24; ++instance) {
    // Every third network is a server's, large enough for pools.
    const bool hub = instance % 3 == 2;
    const int flows = hub ? 48 : 10 + static_cast<int>(instance);
    const Network network = random_network(instance, hub ? 47 : 12, flows, hub);
    const std::vector<double> theirs = simgrid_ends(program, network), ours = our_ends(network);
    for (std::size_t f = 0; f < ours.size(); ++f) {
      if (std::abs(ours[f] - theirs[f]) > 1e-6 * theirs[f]) {
        FAIL("network " << instance << ", flow " << f << ": " << ours[f] << " s, SimGrid "
                        << theirs[f]);
      }
    }
    CHECK(*std::max_element(ours.begin(), ours.end()) > 0);
  }
}
