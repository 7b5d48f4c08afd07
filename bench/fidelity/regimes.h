#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/fidelity/experiment.h"

/// The cases of `bench fidelity`: drawn from a seed, never a list.
namespace gradwire::bench {

struct FidelityCase {
  Experiment experiment;
  double round_trip = 0;        ///< s, of the longest path, without queues
  bool by_own_packets = false;  ///< the reference is `flow` packet by packet
};

/// One clean flow on local links: 100 Mbps to 10 Gbps, 0.1 to 2 ms, 10 kB to 20 MB.
std::vector<FidelityCase> clean_lan_cases(std::uint64_t seed, int count);
/// Clean flows that share: incast of 16, flows through one link, rings, fat trees; 0.1 to 2 ms.
std::vector<FidelityCase> sharing_cases(std::uint64_t seed, int count);
/// One clean flow over 20 to 80 ms: 10 Mbps to 1 Gbps, 50 kB to 10 MB.
std::vector<FidelityCase> clean_wan_cases(std::uint64_t seed, int count);
/// Random loss of 0.1 to 2 % along the path, 1 to 4 MB; 10 Mbps to 1 Gbps, 0.2 to 80 ms.
std::vector<FidelityCase> lossy_cases(std::uint64_t seed, int count);
/// The same with 10 to 100 kB.
std::vector<FidelityCase> short_lossy_cases(std::uint64_t seed, int count);
/// Flows of different round trips (5 to 80 ms) and losses (0.1 to 1 %) through one link.
std::vector<FidelityCase> mixed_cases(std::uint64_t seed, int count);
/// A round of transfers between 1 to 8 stations at 5 to 40 m and a server behind their access
/// point, up, down or both: 200 kB to 4 MB, 20 to 80 MHz.
std::vector<FidelityCase> wifi_cases(std::uint64_t seed, int count);
/// ... 1 to 8 phones of an LTE cell, 20 to 300 m, 100 kB to 1 MB, 10 or 20 MHz.
std::vector<FidelityCase> lte_cases(std::uint64_t seed, int count);
/// 17 to 300 clients of one server, alike or not, with and without a link that they share, on fresh
/// and on warm connections: 10 kB to 2 MB.
std::vector<FidelityCase> many_cases(std::uint64_t seed, int count);
/// ... up to 100, losing 0.1 to 1 % each.
std::vector<FidelityCase> many_lossy_cases(std::uint64_t seed, int count);
/// A parameter server: 32 to 64 workers, 1 to 8 shards, push, pull or both.
std::vector<FidelityCase> server_cases(std::uint64_t seed, int count);
std::vector<FidelityCase> server_lossy_cases(std::uint64_t seed, int count);
/// Tree, halving-doubling, two-level, all-to-all of 8 to 32 workers, 100 kB to 1 MB.
std::vector<FidelityCase> collective_cases(std::uint64_t seed, int count);
std::vector<FidelityCase> collective_lossy_cases(std::uint64_t seed, int count);
/// One flow or up to 64 through a link with outages or a schedule.
std::vector<FidelityCase> changing_cases(std::uint64_t seed, int count);
/// Flows that lose in bursts.
std::vector<FidelityCase> burst_cases(std::uint64_t seed, int count);
/// Cells of 9 to 40 stations, Wi-Fi and LTE by turns, 20 to 200 kB each (LTE: to 100).
std::vector<FidelityCase> crowded_cell_cases(std::uint64_t seed, int count);
/// One thing at a time far from what is usual: 1 B to 1 GB, 64 kbps to 400 Gbps, 0.01 to 300 ms,
/// queues, buffers, acknowledgements, first windows.
std::vector<FidelityCase> extreme_cases(std::uint64_t seed, int count);
/// What `flow` simulates packet by packet over wires: links with a queue, jitter, one medium for
/// both directions, or slow for the timers; one flow, an incast or a ring, half of them with
/// losses, which are the reference's.
std::vector<FidelityCase> exact_cases(std::uint64_t seed, int count);
/// Senders beside background traffic, Poisson or on and off.
std::vector<FidelityCase> background_cases(std::uint64_t seed, int count);
/// Rounds of clients whose deadline cuts some of them off.
std::vector<FidelityCase> round_cases(std::uint64_t seed, int count);
/// Collectives, an incast and pairs of 10 to 100 times as many packets as `flow` simulates by
/// itself, every second one with losses: as a fluid, beside its own packets.
std::vector<FidelityCase> large_cases(std::uint64_t seed, int count);
/// A flow over a link that follows a Mahimahi trace, for each file in `folder`, from a drawn
/// instant on. Throws Error where there are none.
std::vector<FidelityCase> mobile_cases(std::uint64_t seed, int count, const std::string& folder);

}  // namespace gradwire::bench
