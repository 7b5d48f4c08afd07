// Many flows at once: clients of one server, and workers of a sharded parameter server.
#include <algorithm>
#include <cmath>

#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

constexpr double kMostBytes = 4e7;      ///< of all transfers of a repeat
constexpr double kLeastShare = 5e5;     ///< bits/s of a flow on the server's link
constexpr double kServerDelay = 10e-6;  ///< s

struct Client {
  sim::LinkSpec link;
  Bytes bytes{0};
};

/// Clients and then the server, which is the last host, on one switch.
sim::Cluster clients_of_one(const std::vector<Client>& clients, const sim::LinkSpec& server) {
  sim::Cluster cluster;
  for (std::size_t c = 0; c < clients.size(); ++c) cluster.add_host("client" + std::to_string(c));
  const sim::NodeId host = cluster.add_host("server");
  const sim::NodeId middle = cluster.add_switch("switch");
  for (std::size_t c = 0; c < clients.size(); ++c)
    cluster.add_link(static_cast<sim::NodeId>(c), middle, clients[c].link);
  cluster.add_link(host, middle, server);
  cluster.finish();
  return cluster;
}

/// All alike, or each with a rate, a delay and a size of its own around the common ones.
std::vector<Client> draw_clients(Draws& draws, int flows, const Client& common, bool mixed) {
  std::vector<Client> clients(static_cast<std::size_t>(flows), common);
  for (Client& client : clients) {
    if (!mixed) break;
    client.link.rate = common.link.rate * draws.log_uniform(0.3, 3);
    client.link.delay = common.link.delay * draws.log_uniform(0.3, 3);
    client.bytes =
        Bytes(std::llround(static_cast<double>(common.bytes.count()) * draws.log_uniform(0.3, 3)));
  }
  return clients;
}

/// The server's link holds all clients' together, or every second time has to be shared; every
/// second pair of cases goes on with warm connections.
FidelityCase many_case(Draws& draws, int number, bool lossy) {
  const bool shared = number % 2 == 0, warm = number / 2 % 2 == 1, mixed = number % 5 == 4;
  const int flows = static_cast<int>(std::lround(draws.log_uniform(17, lossy ? 100 : 300)));
  const double round_trip = draws.log_uniform(0.2e-3, 80e-3);
  Client common;
  common.link.rate = BitsPerSecond(draws.log_uniform(10e6, 1e9));
  common.link.delay = Seconds(round_trip / 2 - kServerDelay);
  if (lossy) common.link.loss = draws.log_uniform(1e-3, 1e-2);
  common.bytes = draws.bytes(1e4, std::min(2e6, kMostBytes / flows / (lossy ? 4 : 1)));
  const double all = common.link.rate.value() * flows;
  sim::LinkSpec server;
  server.rate = BitsPerSecond(shared ? std::max(all / draws.log_uniform(2, 30), kLeastShare * flows)
                                     : 4 * all);
  server.delay = Seconds(kServerDelay);
  const auto clients = draw_clients(draws, flows, common, mixed);
  FidelityCase result{
      {.name = std::to_string(flows) + (mixed ? " unlike" : "") + " flows, " +
               describe(common.link, round_trip, common.link.loss, common.bytes) +
               (shared ? ", through " + words(server.rate.value() / 1e6, "Mbps") : "") +
               (warm ? ", warm" : ""),
       .cluster = clients_of_one(clients, server)},
      round_trip};
  const bool down = draws.chance(0.3);
  for (int c = 0; c < flows; ++c)
    result.experiment.chains.push_back(
        {down ? flows : c, down ? c : flows, clients[static_cast<std::size_t>(c)].bytes});
  result.experiment.repeats = warm ? 3 : 1;
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.3));
  result.experiment.together = true;
  result.experiment.means = true;
  return result;
}

enum class Way { kPush, kPull, kBoth };

void add_messages(Experiment& experiment, int workers, int shards, Bytes bytes, Way way) {
  for (int worker = 0; worker < workers; ++worker) {
    for (int shard = workers; shard < workers + shards; ++shard) {
      if (way != Way::kPull) experiment.chains.push_back({worker, shard, bytes});
      if (way != Way::kPush) experiment.chains.push_back({shard, worker, bytes});
    }
  }
}

FidelityCase server_case(Draws& draws, bool lossy) {
  const int workers = draws.integer(32, 64), shards = 1 << draws.integer(0, 3);
  const bool wide = draws.chance(0.3);
  const double round_trip = wide ? draws.log_uniform(5e-3, 40e-3) : draws.log_uniform(0.1e-3, 2e-3);
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(100e6, wide ? 1e9 : 10e9));
  link.delay = Seconds(round_trip / 4);
  if (lossy) link.loss = draws.log_uniform(5e-4, 5e-3);
  sim::LinkSpec server = link;
  server.rate = link.rate * draws.log_uniform(1, 10);
  server.loss = 0;
  const Bytes bytes =
      draws.bytes(1e4, std::min(4e5, kMostBytes / (lossy ? 4 : 1) / (workers * shards)));
  const Way way = static_cast<Way>(draws.integer(0, 2));
  FidelityCase result{{.name = std::to_string(workers) + " workers, " + std::to_string(shards) +
                               " shards of " + words(server.rate.value() / 1e6, "Mbps") + ", " +
                               (way == Way::kPush   ? "push, "
                                : way == Way::kPull ? "pull, "
                                                    : "both, ") +
                               describe(link, round_trip, link.loss, bytes),
                       .cluster = sim::Cluster::star(workers, link, shards, server)},
                      round_trip};
  add_messages(result.experiment, workers, shards, bytes, way);
  result.experiment.repeats = lossy ? 2 : 3;
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.1));
  result.experiment.together = true;
  result.experiment.means = true;
  return result;
}

}  // namespace

std::vector<FidelityCase> many_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 10, count, [](Draws& draws, int i) { return many_case(draws, i, false); });
}

std::vector<FidelityCase> many_lossy_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 11, count, [](Draws& draws, int i) { return many_case(draws, i, true); });
}

std::vector<FidelityCase> server_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 12, count, [](Draws& draws, int) { return server_case(draws, false); });
}

std::vector<FidelityCase> server_lossy_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 13, count, [](Draws& draws, int) { return server_case(draws, true); });
}

}  // namespace gradwire::bench
