#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sim/graph/step_graph.h"

/// A step graph as a message between processes of one machine.
namespace gradwire::emulator {

nlohmann::json to_json(const sim::GraphTemplate& graph);
sim::GraphPtr graph_from_json(const nlohmann::json& json);

}  // namespace gradwire::emulator
