#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.h"

/// The runs of a sweep as lines of text, one a run, each enough to run it on another machine that
/// has the scenario's files, in the same working directory.
namespace gradwire::engines {

struct WorkItem {
  std::size_t place = 0;  ///< in the sweep, from 0
  /// A process was lost while it had this run: it is given out by itself.
  bool alone = false;
  std::string uid;  ///< identity of the unfinished run whose place it takes; empty: none
  std::optional<sim::Detail> detail;  ///< runner/cost/sweep_details.h
  scenarios::Scenario scenario;
};

std::string line_of(std::size_t place, const scenarios::Scenario& scenario, bool alone,
                    const std::string& uid, std::optional<sim::Detail> detail);
/// Throws Error for a line that is none, or whose scenario reads otherwise here than there.
WorkItem item_of(std::string_view line);

/// What a dispatcher needs of a line, without reading its scenario.
struct WorkLabel {
  std::size_t place = 0;
  bool alone = false;
};
WorkLabel label_of(std::string_view line);

/// Lines of a text.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace gradwire::engines
