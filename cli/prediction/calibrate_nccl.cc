#include "cli/prediction/calibrate_nccl.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/units.h"
#include "cli/output/table.h"
#include "results/points/nccl_fit.h"

namespace gradwire::cli {
namespace {

using nlohmann::ordered_json;

/// The part of a scenario that uses the fit.
ordered_json scenario_part(const results::NcclFit& fit, bool several_nodes, bool in_nodes) {
  const auto rounded = [](double value) { return std::round(value * 1e4) / 1e4; };
  ordered_json library = {{"name", "nccl"}};
  if (in_nodes) library["gpu"] = std::string(fit.settings.gpu->name);
  library["start"] = std::to_string(std::llround(fit.settings.start.value() * 1e9)) + "ns";
  library["latency"] = rounded(fit.settings.latency);
  library["bandwidth"] = rounded(fit.settings.bandwidth);
  if (several_nodes) library["between"] = rounded(fit.settings.network);
  return {{"network", {{"transport", {{"protocol", "rdma"}}}, {"library", library}}}};
}

void print_rows(const results::NcclFit& fit, const Context& context) {
  Table table({{"test"},
               {"ranks"},
               {"nodes"},
               {"payload_bytes", "size", Column::Style::kBytes},
               {"measured_s", "measured", Column::Style::kDuration},
               {"fitted_s", "fitted", Column::Style::kDuration},
               {"error", "fit's error", Column::Style::kPercent},
               {"algorithm"},
               {"protocol"}});
  for (const results::NcclFit::Row& row : fit.rows)
    table.add({row.test, std::int64_t{row.ranks}, std::int64_t{row.nodes}, row.bytes, row.seconds,
               row.fitted, row.fitted / row.seconds - 1, std::string(row.algorithm),
               std::string(row.protocol)});
  table.print(context);
}

}  // namespace

void calibrate_nccl(const CalibrateNcclArguments& arguments, const std::string& output,
                    Context& context) {
  std::vector<results::LogFile> logs;
  for (const std::string& file : arguments.logs) logs.push_back({file, read_file(file)});
  results::NcclFitRequest request;
  request.gpu = arguments.gpu;
  if (!arguments.between.empty()) request.between = parse_rate(arguments.between);
  const results::NcclFit fit = results::fit_nccl(logs, request);
  for (const std::string& warning : fit.warnings) context.say("warning: " + warning);
  print_rows(fit, context);
  using Row = results::NcclFit::Row;
  const bool several = std::ranges::any_of(fit.rows, [](const Row& row) { return row.nodes > 1; });
  const bool in_nodes =
      std::ranges::any_of(fit.rows, [](const Row& row) { return row.ranks > row.nodes; });
  const ordered_json part = scenario_part(fit, several, in_nodes);
  const char* const names[] = {"start", "latency", "bandwidth", "between"};
  for (std::size_t k = 0; k < (several ? 4u : 3u); ++k)
    if (!fit.decided[k])
      context.say(std::string("The logs say little about ") + names[k] +
                  ": it is nearly what is usual.");
  if (!output.empty()) write_file(output, part.dump(2) + "\n");
  context.say(
      "Runs use it by\n  gradwire run SCENARIO --set /network/transport/protocol=rdma --set "
      "'/network/library=" +
      part["network"]["library"].dump() + "'" +
      (output.empty() ? "" : "\n" + output + " has it as a part of a scenario."));
}

}  // namespace gradwire::cli
