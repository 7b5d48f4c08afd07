#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/graph/collective.h"
#include "sim/session/detail.h"

/// What `bench flow` simulates. Each case builds its cluster, its graph and its executor, and runs
/// to the end with nothing recorded but the timeline's summary.
namespace gradwire::bench {

struct FlowRun {
  std::int64_t transfers = 0;
  double wall_s = 0;       ///< construction included
  double simulated_s = 0;  ///< what it took in virtual time
  /// s, when each rank of each collective was done: folded runs are held against others by them.
  std::vector<double> rank_ends = {};
};

/// Whether hosts that do the same are simulated once (sim/folding): other cases measure the engine.
enum class Fold : bool { kOff, kOn };

/// Ring all-reduce of fp32 `elements` among workers 0, 1, ...
sim::CollectiveSpec ring_of(int workers, std::int64_t elements);

/// Ring all-reduce of fp32 `elements` on a 1 Gbps, 50 us star. Chunks are equal where `workers`
/// divides `elements`.
FlowRun run_ring(int workers, std::int64_t elements, Fold fold = Fold::kOff,
                 std::optional<sim::Detail> detail = {});

/// Two-level all-reduce of fp32 `elements` on the smallest fat tree of such links whose edge
/// switches the workers fill: over each edge switch, then among the leaders.
FlowRun run_two_level(int workers, std::int64_t elements);

/// Two-level all-reduce of fp32 `elements` over machines of 8 workers each, 400 Gbps and 1 us
/// inside and 100 Gbps and 2 us between them: to the first of each machine, then among those.
FlowRun run_machines(int workers, std::int64_t elements, Fold fold);

/// Every worker of the same star sends 100 kB to every other one, all at once.
FlowRun run_all_to_all(int workers);

/// A federated round: clients with links of 5-50 Mbps and 5-50 ms, each its own, upload 250 kB to a
/// server, which aggregates for 10 ms and sends 250 kB back to each.
FlowRun run_federated(int clients, double server_bits_per_second);

}  // namespace gradwire::bench
