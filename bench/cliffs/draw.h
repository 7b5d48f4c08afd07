#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>

namespace gradwire::bench {

/// Scenario number `number` of a seed: a workload without training on a network, with up to three
/// things that are not usual (losses, bursts, jitter, outages, schedules, queues, constants of TCP,
/// traffic, speeds of workers). Not every one can be run: the reader of scenarios refuses those
/// whose parts do not go together.
nlohmann::ordered_json draw_scenario(std::uint64_t seed, int number);

}  // namespace gradwire::bench
