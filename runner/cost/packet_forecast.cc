#include "runner/cost/packet_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>

#include "runner/training/trainer_module.h"
#include "sim/packet/packet_estimate.h"

namespace gradwire::runner {
namespace {

constexpr double kWorthMeasuring = 300e3;  // half a second

double measured_speed(const std::string& program) {
  sim::ExecutorOptions options;
  options.packet_program = program;
  try {
    return sim::measure_packet_speed(options);
  } catch (const Error&) {
    return sim::kTypicalPacketSpeed;  // not built: whoever starts it is told
  }
}

double speed_of(const std::string& program) {
  static std::mutex mutex;
  static std::map<std::string, double> speeds;
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = speeds.try_emplace(program, 0.0);
  if (is_new) known->second = measured_speed(program);
  return known->second;
}

/// Measured (docs/packet.md: coarse segments).
std::string coarse_note(const sim::TransportSettings& transport, const sim::Cluster& cluster) {
  const double factor = static_cast<double>(transport.segment.count()) /
                        static_cast<double>(sim::TransportSettings{}.segment.count());
  if (factor < 1.5) return {};
  const bool lossy = std::any_of(cluster.links().begin(), cluster.links().end(),
                                 [](const sim::Link& link) { return link.spec.mean_loss() > 0; });
  const std::string segments = "segments of " + format_bytes(transport.segment);
  if (lossy)
    return segments + " lose less often than real ones: times may be short by half and more";
  return segments + (factor <= 8 ? " are 1 % off on warm connections, 4 % on fresh ones"
                                 : " are up to 9 % off");
}

std::string rounded(double count) {
  const bool millions = count >= 1e6;
  const double unit = millions ? 1e6 : 1e3;
  const double value = count / unit;
  const double step = std::pow(10, std::floor(std::log10(std::max(value, 1.0))) - 1);
  char text[40];
  std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 1 : 0, std::round(value / step) * step,
                millions ? "million" : "thousand");
  return text;
}

}  // namespace

PacketForecast forecast_packet_run(const scenarios::Scenario& scenario,
                                   const scenarios::StepPlan& plan, std::int64_t steps,
                                   const std::string& packet_program) {
  const sim::Cluster cluster = scenarios::build_cluster(scenario);
  const sim::PacketWork work =
      sim::packet_work(cluster, scenario.network.transport,
                       {.graph = plan.graph, .bytes = plan.bytes, .seconds = plan.seconds});
  const double effort = work.effort * static_cast<double>(steps);
  const double speed =
      effort > kWorthMeasuring ? speed_of(packet_program) : sim::kTypicalPacketSpeed;
  return {.events = work.events * static_cast<double>(steps),
          .wall_s = effort / speed,
          .note = coarse_note(scenario.network.transport, cluster)};
}

std::optional<FirstStep> first_step(const scenarios::Scenario& scenario, ProfileCache& profiles) {
  try {
    FirstStep step{make_trainer(scenario, {}), {}};
    profiles.prepare(profile_key(scenario, *step.trainer), *step.trainer);
    if (!step.trainer->next(step.plan)) return std::nullopt;
    return step;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCapability) return std::nullopt;
    throw;
  }
}

std::optional<PacketForecast> forecast_packet_run(const scenarios::Scenario& scenario,
                                                  ProfileCache& profiles) {
  const std::optional<FirstStep> first = first_step(scenario, profiles);
  if (!first) return std::nullopt;
  return forecast_packet_run(scenario, first->plan, first->trainer->steps_total(), "");
}

std::string in_words(const PacketForecast& forecast) {
  return "about " + rounded(forecast.events) + " events, " +
         format_duration(Seconds(forecast.wall_s)) + " of wall clock" +
         (forecast.note.empty() ? "" : "; " + forecast.note);
}

}  // namespace gradwire::runner
