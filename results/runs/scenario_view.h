#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/store.h"

/// Reads single values out of a run's resolved scenario without knowing its schema.
namespace gradwire::results {

/// Every leaf by JSON pointer, as text ("/network/link/bandwidth" -> "1Gbps"); an array of plain
/// values is one leaf ("[1,2]"). Empty where the text is not JSON.
std::map<std::string, std::string> scenario_leaves(const std::string& json);

/// The leaf at `pointer`, or empty.
std::string scenario_value(const std::string& json, const std::string& pointer);

/// The leaves of many runs' scenarios, each text read once.
struct LeavesOfRuns {
  struct Leaf {
    std::string pointer;
    std::vector<std::string> texts;  ///< [scenarios]; empty = that scenario does not have it
    bool varied = false;  ///< two scenarios have it with different values; else some lack it
  };
  std::vector<std::size_t> scenario_of;      ///< [runs] number of the run's scenario
  std::vector<Leaf> differing;               ///< by pointer, without what only names a run
  std::map<std::string, std::string> alike;  ///< what all scenarios have with one value
};
LeavesOfRuns leaves_of_runs(std::span<const RunSummary> runs);

/// Pointers whose values differ between the runs, in ascending order, without what only names or
/// repeats a run (name, description, expected, prices, seeds, sweep).
std::vector<std::string> differing_pointers(std::span<const RunSummary> runs);

/// "/network/link/bandwidth" -> "bandwidth"; "/method/options/ratio" -> "ratio".
std::string short_name(std::string_view pointer);

/// A number with or without unit ("1Gbps" in bit/s, "50us" in s, "25MB" in B, "5%" in shares);
/// false where it is none.
bool number_from(std::string_view text, double& value);

}  // namespace gradwire::results
