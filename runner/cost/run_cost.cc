#include "runner/cost/run_cost.h"

#include <algorithm>
#include <cstdio>

#include "base/available_memory.h"
#include "base/error.h"
#include "sim/graph/graph_work.h"

namespace gradwire::runner {
namespace {

// Measured on one core of 2024 (docs/benchmarks.md): rings of 1,024 and all-to-alls of 256.
constexpr double kTransferSeconds = 0.15e-6;
constexpr double kModelRankSeconds = 2e-6;
constexpr double kPacketSeconds = 0.8e-6;    ///< over two links, acknowledgements too
constexpr double kWindowedSeconds = 0.1e-6;  ///< a segment whose window is simulated
constexpr double kTransferBytes = 3000;

/// Whether losses and changing rates make it simulate windows.
bool simulates_windows(const scenarios::Scenario& scenario) {
  if (scenario.network.transport.protocol != sim::TransportSettings::Protocol::kTcp) return false;
  const sim::Cluster cluster = scenarios::build_cluster(scenario);
  return std::ranges::any_of(cluster.links(), [](const sim::Link& link) {
    const sim::LinkSpec& spec = link.spec;
    return spec.mean_loss() > 0 || spec.schedule || spec.schedule_back || !spec.outages.empty();
  });
}

std::string memory_text(double bytes) {
  return format_bytes(Bytes(static_cast<std::int64_t>(std::min(bytes, 9e18))));
}

}  // namespace

RunCost run_cost(const scenarios::Scenario& scenario, const scenarios::StepPlan& plan,
                 std::int64_t steps) {
  const auto count = static_cast<double>(steps);
  if (scenario.executor == "model") {  // closed forms: of each rank
    double ranks = 0;
    for (const sim::CollectiveSpec& spec : plan.graph->collectives)
      ranks += static_cast<double>(spec.members.size());
    return {.wall_s = count * ranks * kModelRankSeconds};
  }
  const sim::GraphWork work = sim::graph_work(*plan.graph, plan.bytes);
  double seconds = work.transfers * kTransferSeconds;
  const double packets =
      work.bytes / static_cast<double>(scenario.network.transport.segment.count());
  if (scenarios::detail_of(scenario, *plan.graph, plan.bytes) == sim::Detail::kPerPacket)
    seconds += packets * kPacketSeconds;
  else if (simulates_windows(scenario))
    seconds += packets * kWindowedSeconds;
  return {.wall_s = count * seconds, .memory_bytes = work.at_once * kTransferBytes};
}

std::string long_duration(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr double kHour = 3600, kDay = 24 * kHour, kYear = 365 * kDay;
  const Unit unit = seconds < 2 * kDay    ? Unit{kHour, "hours"}
                    : seconds < 2 * kYear ? Unit{kDay, "days"}
                                          : Unit{kYear, "years"};
  char text[40];
  std::snprintf(text, sizeof text, "%.2g %s", seconds / unit.seconds, unit.name);
  return text;
}

void require_affordable(const scenarios::Scenario& scenario, double wall_s, double most_hours) {
  if (wall_s <= 3600 * most_hours) return;
  char allowed[40], needed[40];
  std::snprintf(allowed, sizeof allowed, "%g", most_hours);
  std::snprintf(needed, sizeof needed, "%.2g", 1.5 * wall_s / 3600);
  throw Error(ErrorKind::kCapability, "run", scenario.name,
              "simulating it with " + scenario.executor + " would take about " +
                  long_duration(wall_s) + " of one core, and " + allowed + " hours are allowed",
              "ask for fewer workers, steps or repetitions, take a quicker executor, or allow more "
              "with --hours " +
                  std::string(needed));
}

void require_affordable(const scenarios::Scenario& scenario, const scenarios::StepPlan& plan,
                        std::int64_t steps, double most_hours) {
  const RunCost cost = run_cost(scenario, plan, steps);
  const auto available = static_cast<double>(available_memory().count());
  if (available > 0 && cost.memory_bytes > available)
    throw Error(ErrorKind::kCapability, "run", scenario.name,
                "messages that are on their way together would take about " +
                    memory_text(cost.memory_bytes) + " of memory, and " + memory_text(available) +
                    " are available",
                "ask for fewer workers, or take a collective with fewer messages, such as ring");
  require_affordable(scenario, cost.wall_s, most_hours);
}

}  // namespace gradwire::runner
