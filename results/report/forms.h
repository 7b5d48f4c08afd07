#pragma once
#include <span>
#include <string>

#include "results/report/data.h"
#include "results/report/report.h"

/// The report of runs in other forms than the page: its answers, and each group's figures.
namespace gradwire::results {

/// What the caller and the store's runs know of methods' accuracy.
AccuracyKnowledge knowledge_of(const Store& store, const ReportOptions& options);
/// Runs of one workload with all that their report says of them.
ReportData data_of(const Store& store, std::span<const RunId> runs,
                   const AccuracyKnowledge& knowledge, const ReportOptions& options);

/// The first screen and the closing table of each workload.
std::string report_markdown(const Store& store, std::span<const RunId> runs,
                            const ReportOptions& options = {});
/// A row a group, to full precision.
std::string report_csv(const Store& store, std::span<const RunId> runs,
                       const ReportOptions& options = {});
/// {"schema_version":1,"answers":[{"workload":...,"workers":...}],"rows":[a row a group]}
std::string report_json(const Store& store, std::span<const RunId> runs,
                        const ReportOptions& options = {});

}  // namespace gradwire::results
