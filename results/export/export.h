#pragma once
#include <span>
#include <string>
#include <string_view>

#include "results/store/store.h"

/// What is stored, for other programs. CSV: RFC 4180, a header line, numbers to full precision,
/// missing figures empty. JSON: {"schema_version":1,"rows":[{"name":...},...]}, missing figures and
/// those that are not numbers null. Field names carry units (step_time_s, wire_bytes).
namespace gradwire::results {

enum class ExportFormat { kCsv, kJson };

/// One row a run, with the fields of fields.h ("name" = scenario and run number).
std::string export_runs(std::span<const RunSummary> runs, ExportFormat format);
std::string export_steps(const Store& store, RunId run, ExportFormat format);
std::string export_metrics(const Store& store, RunId run, ExportFormat format);
std::string export_timeline(const Store& store, RunId run, ExportFormat format);

/// One row a direction of a link and interval: wire bytes, and their share of the nominal rate.
std::string export_links(const Store& store, RunId run, ExportFormat format);

/// "compute", "codec", "host", "network" (255) or "none".
std::string_view lane_name(std::uint8_t lane);

}  // namespace gradwire::results
