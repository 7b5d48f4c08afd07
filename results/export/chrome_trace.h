#pragma once
#include <string>

#include "results/store/store.h"

namespace gradwire::results {

/// Chrome trace events (JSON object format), which ui.perfetto.dev and chrome://tracing open; times
/// in microseconds.
/// - A process a worker, with a thread for each lane (compute, codec, host, network) and one for
///   exposed communication (results/runs/exposed.h). Segments on the critical path have `critical`
///   true among their arguments.
/// - Process "critical path": its pieces, one after the other, each named by host and operation.
/// - Process "links": a thread for each direction of a link, with a slice for each time in which it
///   carried something without a pause, and a counter of its utilisation (%).
/// Throws StoreError where the run has no timeline.
std::string chrome_trace(const Store& store, RunId run);

}  // namespace gradwire::results
