#pragma once
#include <iosfwd>

#include "sim/graph/step_graph.h"

namespace gradwire::runner {

/// A graph's template to and from a byte stream (base/serial.h), bit for bit.
void save_graph(const sim::GraphTemplate& graph, std::ostream& out);
/// Throws Error for what cannot be a graph.
sim::GraphPtr load_graph(std::istream& in);

}  // namespace gradwire::runner
