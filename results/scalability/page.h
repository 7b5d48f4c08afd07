#pragma once
#include <string>

#include "results/scalability/document.h"

namespace gradwire::results {

/// The whole scalability report.
Document scalability_document(const Scalability& all);

/// {"schema_version", "kind": "scalability-report", "rows": [{"name", "workers", ...}],
/// "validation", "sensitivity", "answer", ...}: the figures at full precision.
std::string scalability_json(const Scalability& all);
/// One row a series and number of workers, at full precision.
std::string scalability_csv(const Scalability& all);

/// DIR/report.html, report.md, report.csv, report.json, figures/NAME.svg and NAME.csv. Throws Error
/// where the folder or a file cannot be written.
void write_scalability(const Scalability& all, const std::string& folder);

}  // namespace gradwire::results
