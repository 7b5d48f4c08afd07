#include "bench/cliffs/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <regex>

#include "base/error.h"
#include "base/philox.h"
#include "base/units.h"
#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr int kManySeeds = 16;
constexpr double kMostShift = 2e-6;  ///< s
constexpr std::uint32_t kShiftDraws = 300;

/// Whether something in the document is drawn: a key that says so, with a value that is not 0.
bool is_drawn(const ordered_json& value) {
  constexpr const char* kKeys[] = {"loss",     "burst",  "jitter", "background",
                                   "drop_out", "spread", "sample", "degree"};
  if (value.is_array())
    for (const ordered_json& element : value)
      if (is_drawn(element)) return true;
  if (!value.is_object()) return false;
  for (const auto& [key, member] : value.items()) {
    const bool says = std::ranges::find(kKeys, key) != std::end(kKeys);
    if (says && !(member.is_number() && member.get<double>() == 0) && !member.empty()) return true;
    if (is_drawn(member)) return true;
  }
  return false;
}

bool uses_bbr(const ordered_json& scenario) {
  return scenario.value("/network/transport/congestion_control"_json_pointer, "") == "bbr";
}

/// Seconds for which a worker computes before it sends.
double computation_of(const ordered_json& workload) {
  for (const char* part : {"pipeline", "federated"})
    if (workload.contains(part)) return computation_of(workload.at(part));
  const std::string time = workload.value("compute", workload.value("forward", "10ms"));
  return std::max(parse_duration(time).value(), kMostShift);
}

double relative_range(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return (most - least) / mean_of(values);
}

}  // namespace

Measure measure_of(const ordered_json& scenario) {
  const ordered_json& workload = scenario.at("workload");
  Measure measure;
  measure.transfers_alone = workload.contains("transfers");
  if (workload.contains("pipeline"))
    measure.since = Measure::Since::kRun;
  else if (workload.value("collective", "parameter-server") != "parameter-server")
    measure.since = Measure::Since::kFirst;
  return measure;
}

std::vector<double> times_of(const std::vector<Operation>& operations, const Measure& measure) {
  const std::regex only(measure.only);
  const auto taken = [&](const Operation& operation) {
    return (operation.transfers || !measure.transfers_alone) &&
           std::regex_search(operation.name, only);
  };
  std::map<std::int64_t, double> first;
  double run = std::numeric_limits<double>::infinity();
  for (const Operation& each : operations) {
    if (!taken(each)) continue;
    const auto [at, fresh] = first.emplace(each.step, each.start);
    at->second = std::min(at->second, each.start);
    run = std::min(run, each.start);
  }
  std::vector<double> times;
  for (const Operation& each : operations) {
    if (!taken(each)) continue;
    const double since = measure.since == Measure::Since::kStart   ? each.start
                         : measure.since == Measure::Since::kFirst ? first.at(each.step)
                                                                   : run;
    times.push_back(each.end - since);
  }
  return times;
}

MeanTime mean_time_of(std::vector<double> values) {
  MeanTime time;
  time.mean = mean_of(values);
  if (values.size() > 1) time.error = relative_error_of(values) * time.mean;
  time.values = std::move(values);
  return time;
}

CliffKind kind_of(const ordered_json& scenario) {
  const std::string topology = scenario.value("/network/topology"_json_pointer, "star");
  if (topology.ends_with("-cell")) return CliffKind::kCell;
  return is_drawn(scenario) || uses_bbr(scenario) ? CliffKind::kChance : CliffKind::kClean;
}

double Verdict::errors() const {
  const double error = std::hypot(flow.error, packet.error);
  return error > 0 ? (flow.mean - packet.mean) / error : 0;
}

bool Verdict::is_close() const {
  const double bar = kind == CliffKind::kCell ? kChanceBar : kCloseBar;
  if (std::abs(error()) <= std::max(bar, spread)) return true;
  // One value says nothing of chance.
  return kind == CliffKind::kChance && errors() != 0 && std::abs(errors()) <= kCloseErrors;
}

bool Verdict::is_off() const {
  const double bar = kind == CliffKind::kClean ? kCleanBar : kChanceBar;
  if (std::abs(error()) <= std::max(bar, spread)) return false;
  return kind != CliffKind::kChance || errors() == 0 || std::abs(errors()) > kErrorsBar;
}

ordered_json with_shifted_starts(ordered_json scenario, std::uint64_t shift) {
  const RandomStream stream{shift, 0, kShiftDraws, kFirstReservedTensor};
  ordered_json& workload = scenario["workload"];
  const auto transfers = workload.find("transfers");
  if (transfers == workload.end()) {
    if (workload.contains("collective") && !workload.contains("compute"))
      workload["compute"] = "2us";
    scenario["cluster"]["spread"] = std::min(0.5, kMostShift / computation_of(workload));
    return scenario;
  }
  std::uint64_t draw = 0;
  for (ordered_json& each : *transfers) {
    const double start = parse_duration(each.value("start", "0s")).value() +
                         kMostShift * static_cast<double>(uniform(stream, draw++));
    char text[40];
    std::snprintf(text, sizeof text, "%.9fs", start);
    each["start"] = text;
  }
  return scenario;
}

scenarios::Scenario Judge::read(const ordered_json& scenario) const {
  return scenarios::read_scenario_text(scenario.dump(), folder_ + "/cliff.json").runs.at(0);
}

double Judge::mean(const scenarios::Scenario& scenario, std::string_view executor,
                   std::uint64_t seed, const Measure& measure) const {
  const double begin = now_s();
  const Stop stop = [&] { return (stop_ && stop_()) || now_s() - begin > most_seconds_; };
  const auto times = times_of(run_operations(scenario, executor, seed, stop), measure);
  if (times.empty())
    throw Error(ErrorKind::kScenario, "measure", scenario.name, "no operation has ended");
  return mean_of(times);
}

MeanTime Judge::mean_time(std::string_view executor, const ordered_json& scenario,
                          const Measure& measure, int seeds) const {
  const scenarios::Scenario read_one = read(scenario);
  std::vector<double> values;
  for (int seed = 1; seed <= seeds; ++seed)
    values.push_back(mean(read_one, executor, static_cast<std::uint64_t>(seed), measure));
  return mean_time_of(std::move(values));
}

void Judge::measure_spread(const ordered_json& scenario, const Measure& measure,
                           Verdict& verdict) const {
  std::vector<double> flow, packet;
  for (std::uint64_t shift = 1; shift <= kShifts; ++shift) {
    const scenarios::Scenario shifted = read(with_shifted_starts(scenario, shift));
    packet.push_back(mean(shifted, "packet", shift, measure));
    flow.push_back(mean(shifted, "flow", shift, measure));
  }
  const double range = relative_range(packet);
  if (range <= kChaos) return;  // it stands as it is
  if (verdict.kind != CliffKind::kChance) verdict.spread = range;
  verdict.packet = mean_time_of(std::move(packet));
  verdict.flow = mean_time_of(std::move(flow));
}

std::optional<Verdict> Judge::judge(const ordered_json& scenario, const Measure& measure,
                                    std::string& why) const {
  try {
    const scenarios::Scenario read_one = read(scenario);
    if (packet_effort(read_one) > kMostEffort) {
      why = "it costs too much";
      return std::nullopt;
    }
    Verdict verdict;
    verdict.kind = kind_of(scenario);
    std::vector<double> flow, packet;
    const auto more_seeds = [&](int seeds) {
      for (auto seed = static_cast<std::uint64_t>(packet.size()) + 1;
           seed <= static_cast<std::uint64_t>(seeds); ++seed) {
        packet.push_back(mean(read_one, "packet", seed, measure));
        try {
          flow.push_back(mean(read_one, "flow", seed, measure));
        } catch (const Error& error) {
          why = std::string("flow fails: ") + error.what();
          flow.push_back(std::numeric_limits<double>::infinity());
        }
      }
      verdict.flow = mean_time_of(flow);
      verdict.packet = mean_time_of(packet);
    };
    more_seeds(verdict.kind == CliffKind::kClean ? 1 : kFewSeeds);
    if (verdict.kind == CliffKind::kChance && std::abs(verdict.error()) > kChanceBar &&
        std::abs(verdict.errors()) > 2)
      more_seeds(kManySeeds);
    if (verdict.is_off() && std::isfinite(verdict.flow.mean))
      measure_spread(scenario, measure, verdict);
    return verdict;
  } catch (const std::exception& error) {
    why = error.what();
    return std::nullopt;
  }
}

}  // namespace gradwire::bench
