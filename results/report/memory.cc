#include "results/report/memory.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"

namespace gradwire::results {
namespace {

struct Kind {
  const char* figure;
  const char* title;
};
constexpr Kind kKinds[] = {
    {"memory_parameters_bytes", "parameters"}, {"memory_gradients_bytes", "gradients"},
    {"memory_optimizer_bytes", "optimiser"},   {"memory_activations_bytes", "activations"},
    {"memory_method_bytes", "method"},         {"memory_server_bytes", "server"},
    {"peak_rss_bytes", "peak of the process"}};

std::map<std::string, double> largest_of(const Store& store, const RunGroup& group) {
  std::map<std::string, double> largest;
  for (const RunSummary& run : group.runs)
    for (const MetricRow& metric : store.metrics(run.id))
      if (metric.step < 0) largest[metric.name] = std::max(largest[metric.name], metric.value);
  return largest;
}

}  // namespace

std::string memory_section(const Store& store, const ReportData& data) {
  HtmlTable table = {{"group"}};
  for (const Kind& kind : kKinds) table[0].push_back(kind.title);
  for (const ReportGroup& group : data.groups) {
    const std::map<std::string, double> figures = largest_of(store, group.group);
    if (!figures.contains(kKinds[0].figure)) continue;
    table.push_back({group.group.label});
    for (const Kind& kind : kKinds) {
      const auto found = figures.find(kind.figure);
      table.back().push_back(
          found == figures.end() ? "-" : format_bytes(Bytes(std::llround(found->second))));
    }
  }
  if (table.size() == 1) return "";
  return "<h2>Memory</h2>\n" + html_table(table, true, "") +
         "<p class=\"note\">Measured: the buffers that each worker would hold for itself, counted, "
         "though one process plays all of them; its own peak stands beside. Activations: what a "
         "forward pass keeps for the backward pass. Method: residuals and momenta of the worker "
         "that has most.</p>\n";
}

}  // namespace gradwire::results
