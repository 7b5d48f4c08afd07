#pragma once
#include <set>
#include <string>
#include <vector>

#include "results/store/sqlite.h"
#include "tests/cli/output/shown_figures.h"

/// What stands on a first screen, recomputed from the store's tables.
namespace gradwire::testing {

/// quickstart with three seeds, sweep, alexnet, mobile, federated and codecs, into one database.
void run_shipped_scenarios(const std::string& database);

struct Compared {
  std::set<std::string> seen;      ///< workloads
  std::vector<std::string> wrong;  ///< what is not as the store says
};

/// Every figure of every cell: means to 1 %, spreads to their last digit.
Compared compare_with_store(const std::vector<Cells>& screen, const results::Connection& database);

/// The negative control: with a digit of one cell changed, compare_with_store must find something
/// wrong. The damaged cells in which it does not.
std::vector<std::string> missed_damage(const std::vector<Cells>& screen,
                                       const results::Connection& database);

}  // namespace gradwire::testing
