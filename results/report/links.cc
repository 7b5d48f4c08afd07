#include "results/report/links.h"

#include <algorithm>
#include <iterator>

#include "results/report/choice.h"
#include "results/runs/place.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kLinksOfGroup = 4;
constexpr std::size_t kRows = 24;

void add_rows(const Store& store, const ReportData& data, const ReportGroup& group,
              DataTable& table) {
  const RunId run = group.group.runs.front().id;
  auto loads = link_loads(store.links(run));
  loads.resize(std::min(loads.size(), kLinksOfGroup));
  for (const LinkLoad& load : loads) {
    auto& row = table.rows.emplace_back(
        std::vector<DataValue>{data.sections.size() > 1 ? group.group.label : group.name});
    std::ranges::move(link_cells(run, load), std::back_inserter(row));
  }
}

}  // namespace

std::vector<DataColumn> link_columns() {
  using Kind = DataColumn::Kind;
  return {{"link", "link", Quantity::kPlain, Kind::kText},
          {"rate_bps", "rate", Quantity::kBitRate},
          {"mean_utilisation", "mean", Quantity::kShare},
          {"peak_utilisation", "peak", Quantity::kShare},
          {"full_share", "full", Quantity::kShare},
          {"wire_bytes", "on the wire", Quantity::kBytes},
          {"flows", "whose flows", Quantity::kPlain, Kind::kText},
          {"busiest", "busiest", Quantity::kPlain, Kind::kPlace}};
}

std::vector<DataValue> link_cells(RunId run, const LinkLoad& load) {
  return {load.name,       load.rate_bps,   load.mean,  load.peak,
          load.full_share, load.wire_bytes, load.flows, place_of(run, load.start_s, load.end_s)};
}

std::string links_section(const Store& store, const ReportData& data,
                          std::set<std::string>& anchors) {
  DataTable table;
  table.columns = {{"runs", "runs", Quantity::kPlain, DataColumn::Kind::kText}};
  std::ranges::move(link_columns(), std::back_inserter(table.columns));
  for (const ReportGroup* group : compared_groups(data)) add_rows(store, data, *group, table);
  if (table.rows.empty()) return "";
  std::ranges::stable_sort(table.rows, [](const auto& a, const auto& b) {
    return a[3].number != b[3].number ? a[3].number > b[3].number : a[4].number > b[4].number;
  });
  const std::size_t all = table.rows.size();
  table.rows.resize(std::min(all, kRows), {""});
  const std::string left = all > kRows
                               ? " The fullest " + std::to_string(kRows) + " of " +
                                     std::to_string(all) + "; all: gradwire report --recipe links."
                               : "";
  return "<h2>Links</h2>\n" + data_html(table, &anchors) +
         "<p class=\"note\">The fullest directions of the first run of each group, the most "
         "congested first. Mean: bytes on the wire over what the nominal rate carries in the whole "
         "run. Peak: of its busiest interval, whose place in the run's timeline stands beside it "
         "(gradwire gui PLACE). Full: the share of the time in intervals of 90 % or more." +
         left + "</p>\n";
}

}  // namespace gradwire::results
