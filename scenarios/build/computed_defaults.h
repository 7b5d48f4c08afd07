#pragma once
#include <nlohmann/json.hpp>

#include "scenarios/fields/fields.h"

/// Defaults that depend on other fields; Field::computed_default says them in words.
namespace gradwire::scenarios {

/// Fills in what a run leaves open; `kinds` are those of its workload. What is wrong is left to the
/// checks.
void add_computed_defaults(nlohmann::ordered_json& run, KindMask kinds);

/// The segments of a run over RDMA, whose packets are larger than TCP's.
void add_rdma_segments(nlohmann::ordered_json& run);

}  // namespace gradwire::scenarios
