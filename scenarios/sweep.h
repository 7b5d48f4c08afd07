#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/document/reader.h"
#include "scenarios/fields/fields.h"

/// The sweep block: which values vary, and which combinations of them run.
///
///     "sweep": { "/method/name": ["none", "topk"],
///                "/network/link/bandwidth": { "log_range": ["10Mbps", "10Gbps", 4] },
///                "/network/link/loss": { "range": [0, 0.02, 0.01] },
///                "zip": ["/a", "/b"], "exclude": [ { "/method/name": "none", ... } ] }
///
/// Axes are crossed, the first varying slowest, seeds fastest. `zip: true` steps all axes together;
/// `zip: [pointers]` steps those together (at the place of the first) and crosses the rest. A
/// combination that fits every value of one object in `exclude` (a list means any of) does not run.
namespace gradwire::scenarios {

struct Axis {
  std::string pointer;
  std::vector<nlohmann::ordered_json> values;
  std::vector<std::string> sources;  ///< where in the document each value stands
};

struct Sweep {
  std::vector<Axis> axes;
  std::vector<std::vector<std::size_t>> groups;  ///< axes that step together; groups are crossed
  std::vector<nlohmann::ordered_json> exclude;
};

/// `block`: the file's sweep, or null. Axes at or below a pointer in `overridden` are dropped.
Sweep read_sweep(const nlohmann::ordered_json& block, const std::vector<std::string>& overridden,
                 const Places& places, ProblemList& problems);

/// For each combination, the value's number on each axis. One empty combination without axes.
std::vector<std::vector<std::size_t>> combinations(const Sweep& sweep);

/// True if `run` (a scenario with the combination's values set) is excluded.
bool is_excluded(const Sweep& sweep, const nlohmann::ordered_json& run);

/// A list, or {"count": n} for 1..n; null: {1}.
std::vector<std::uint64_t> read_seeds(const nlohmann::ordered_json& block, const Places& places,
                                      ProblemList& problems);

/// More runs than this in one file is a mistake.
inline constexpr std::size_t kMostRuns = 100'000;

}  // namespace gradwire::scenarios
