#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/checks/rules.h"

/// What of a scenario does not go with what, in one table: `validate` refuses by it, and
/// docs/scenarios.md shows it. What a single value may be is the table of fields' (fields.h);
/// whether counts and files fit each other the other files of checks say.
namespace gradwire::scenarios {

struct Combination {
  std::string_view one, other;  ///< for people: "schedule rounds, asynchronous"
  /// {schedule}, {executor}, {method}, {optimizer} stand for the scenario's own.
  std::string_view reason;
  std::string_view instead;
  /// Where a scenario has both, the fields to refuse; else empty. Precondition: what `looks_at`
  /// names is sound. May throw Error for a method whose options do not go together.
  std::vector<std::string> (*where)(const Scenario&);
  std::array<std::string_view, 3> looks_at;
};

/// All of them, those of one kind together.
std::span<const Combination> combinations();

/// Refuses what the scenario has of them; of several at one field the first.
void check_combinations(const Rules& rules);

/// The table for docs/scenarios.md.
std::string combinations_docs();

}  // namespace gradwire::scenarios
