#pragma once
#include "compressors/codec.h"
#include "scenarios/links.h"
#include "scenarios/reader.h"
#include "scenarios/scenario.h"

namespace gradwire::scenarios {

/// Rules between fields: impossible pairs, names that nothing bears, files that are missing. A rule
/// is silent where one of the values it looks at was refused already. `warnings` gets pairs that
/// are possible but suspicious.
void check_rules(const Scenario& scenario, const ReadResult& read, const Places& places,
                 ScheduleFiles& files, ProblemList& problems, std::vector<Problem>& warnings);

/// A codec of this policy cannot go with this /exchange/collective: why, or empty.
std::string exchange_conflict(compressors::AggregatePolicy policy, std::string_view collective);

}  // namespace gradwire::scenarios
