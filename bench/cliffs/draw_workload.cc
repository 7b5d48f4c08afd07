#include <algorithm>
#include <cmath>

#include "bench/cliffs/draw_parts.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr double kMostBytes = 2e7;  ///< of a step, about

/// Seconds that a step's transfers may take, about, so that slow links get small ones.
constexpr double kMostSeconds = 4;

/// Of one of `count` messages.
double draw_bytes(Draws& draws, const DrawnNetwork& drawn, double count) {
  const double most =
      std::max(2.0, std::min(kMostBytes / count, drawn.rate / 8 * kMostSeconds / std::sqrt(count)));
  if (draws.chance(0.05)) return std::round(draws.log_uniform(1, std::min(most, 1500.0)));
  return draws.log_uniform(std::min(2e3, most / 2), most);
}

std::string worker(int number) {
  return "worker" + std::to_string(number);
}

/// Incasts, scatters, pairs, or several transfers of one pair; all at once or spread out.
ordered_json draw_transfers(Draws& draws, const DrawnNetwork& drawn) {
  const int workers = drawn.workers, pattern = draws.integer(0, 3);
  const std::string hub = drawn.server.empty() ? worker(workers - 1) : drawn.server;
  const int others = drawn.server.empty() ? workers - 1 : workers;
  const int count = pattern == 3 ? draws.integer(1, 30) : std::max(1, others);
  const double bytes = draw_bytes(draws, drawn, count);
  const bool mixed = draws.chance(0.3), spread = draws.chance(0.3);
  ordered_json list = ordered_json::array();
  for (int i = 0; i < count; ++i) {
    std::string from = worker(i % std::max(1, others)), to = hub;
    if (pattern == 1) std::swap(from, to);
    if (pattern == 2 && others > 1) to = worker((i + others / 2) % others);
    if (pattern == 3) from = worker(0);
    if (from == to) continue;
    ordered_json one = {{"from", from},
                        {"to", to},
                        {"bytes", bytes_text(bytes * (mixed ? draws.log_uniform(0.1, 3) : 1))}};
    if (spread) one["start"] = seconds_text(draws.uniform(0, 0.3));
    list.push_back(one);
  }
  return {{"transfers", list}};
}

ordered_json draw_collective(Draws& draws, const DrawnNetwork& drawn) {
  constexpr const char* kNames[] = {"ring-all-reduce",
                                    "ring-reduce-scatter",
                                    "ring-all-gather",
                                    "tree-all-reduce",
                                    "two-level-all-reduce",
                                    "halving-doubling-all-reduce",
                                    "direct-all-gather",
                                    "all-to-all",
                                    "broadcast",
                                    "gossip",
                                    "parameter-server",
                                    "in-network-all-reduce"};
  const std::string name = kNames[draws.integer(0, static_cast<int>(std::size(kNames)) - 1)];
  const double messages =
      name.ends_with("gather") ? double(drawn.workers) * drawn.workers : 2.0 * drawn.workers;
  ordered_json workload = {{"collective", name},
                           {"bytes", bytes_text(draw_bytes(draws, drawn, messages))}};
  if (draws.chance(0.5)) workload["repetitions"] = draws.integer(2, 4);
  if (name == "two-level-all-reduce") workload["group"] = draws.integer(2, 8);
  if (name == "parameter-server" && draws.chance(0.5)) workload["shards"] = draws.integer(2, 8);
  if (name == "gossip") workload["graph"] = draws.chance(0.5) ? "ring" : "complete";
  if (draws.chance(0.2)) workload["compute"] = seconds_text(draws.log_uniform(1e-3, 0.3));
  return workload;
}

ordered_json draw_pipeline(Draws& draws, const DrawnNetwork& drawn) {
  return {{"pipeline",
           {{"schedule", draws.chance(0.5) ? "gpipe" : "1f1b"},
            {"micro_batches", draws.integer(1, 8)},
            {"forward", seconds_text(draws.log_uniform(1e-3, 30e-3))},
            {"backward", seconds_text(draws.log_uniform(1e-3, 60e-3))},
            {"activations", bytes_text(draw_bytes(draws, drawn, 8.0 * drawn.workers))}}},
          {"repetitions", draws.integer(1, 2)}};
}

ordered_json draw_rounds(Draws& draws, const DrawnNetwork& drawn) {
  const double bytes = draw_bytes(draws, drawn, 2.0 * drawn.workers);
  ordered_json rounds = {{"download", bytes_text(bytes)},
                         {"upload", bytes_text(bytes * draws.log_uniform(0.1, 1))},
                         {"compute", seconds_text(draws.log_uniform(1e-3, 0.5))}};
  if (draws.chance(0.3)) rounds["aggregate"] = seconds_text(draws.log_uniform(1e-4, 10e-3));
  if (draws.chance(0.3)) rounds["deadline"] = seconds_text(draws.log_uniform(0.2, 5));
  if (draws.chance(0.2) && drawn.workers > 2)
    rounds["sample"] = draws.integer(2, drawn.workers - 1);
  return {{"federated", rounds}, {"repetitions", draws.integer(1, 3)}};
}

}  // namespace

ordered_json draw_workload(Draws& draws, const DrawnNetwork& drawn) {
  const double which = draws.uniform(0, 1);
  if (which < 0.4) return draw_transfers(draws, drawn);
  if (which < 0.75) return draw_collective(draws, drawn);
  return which < 0.85 ? draw_pipeline(draws, drawn) : draw_rounds(draws, drawn);
}

}  // namespace gradwire::bench
