#include "bench/advice/gather_rule.h"

#include <cmath>
#include <functional>

#include "base/temporary_file.h"
#include "results/advice/ranking.h"
#include "runner/prediction/advice.h"
#include "scenarios/share.h"

namespace gradwire::bench {
namespace {

using results::Candidate;

constexpr double kRate = 1e9;  ///< bits/s: communication decides
constexpr int kHalvings = 8;   ///< of a range of 2^3: the share within 0.8 %
constexpr double kRuleBar = 0.25;

/// By ring, in buckets of 25 MB.
Candidate candidate_of(const scenarios::Scenario& scenario, const std::string& method) {
  std::vector<std::string> left_out;
  return runner::advice_candidates(
             scenario,
             {.methods = {method}, .collectives = {"ring"}, .buckets = {Bytes(25'000'000)}},
             scenario.cluster.workers, left_out)
      .at(0);
}

std::string topk(double share) {
  return R"({"name":"topk","ratio":)" + std::to_string(share) + "}";
}

using Timer = std::function<double(const Candidate&)>;

/// 4 E / message of top-k where its step takes as long as fp32's, by bisection of the share.
double break_even(const scenarios::Scenario& scenario, const Timer& seconds) {
  const Candidate ring = candidate_of(scenario, R"({"name":"none"})");
  const double limit = seconds(ring), workers = scenario.cluster.workers;
  // An element sent takes 8 B, index and value: ratio 1 / (2 share), so share 1 / workers is even.
  double low = 0.35 / workers, high = 2.8 / workers;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    (seconds(candidate_of(scenario, topk(middle))) < limit ? low : high) = middle;
  }
  return ring.step.message_bytes() / candidate_of(scenario, topk(low)).step.message_bytes();
}

}  // namespace

scenarios::Scenario advice_scenario(const AdviceCase& given, const std::string& device_file) {
  std::string text = given.scenario;
  const std::string mark = "@DEVICE@";
  text.replace(text.find(mark), mark.size(), device_file);
  return scenarios::read_scenario_text(text, scenarios::share_folder() + "/advice.json").runs.at(0);
}

void add_gather_rule_rows(int workers, std::vector<BenchRow>& rows) {
  const AdviceCase given = gather_rule_case(workers, kRate);
  const TemporaryFile device(given.device, ".json");
  const auto scenario = advice_scenario(given, device.path());
  const std::string name = "advice.all_gather.p" + std::to_string(workers) + ".";
  const double by_flow = break_even(scenario, [&](const Candidate& candidate) {
    return runner::flow_seconds(scenario, candidate);
  });
  const results::StepConstants constants = results::usual_constants();
  const double by_model = break_even(scenario, [&](const Candidate& candidate) {
    return results::step_time(candidate.step, constants).total_s;
  });
  rows.push_back({.name = name + "break_even_ratio.flow",
                  .value = by_flow,
                  .unit = "times smaller",
                  .provenance = "simulated"});
  rows.push_back({name + "break_even_ratio.model", by_model, "times smaller"});
  rows.push_back({.name = name + "off_half_the_workers",
                  .value = std::abs(by_flow / (workers / 2.0) - 1),
                  .unit = "share",
                  .bar = kRuleBar,
                  .provenance = "simulated"});
}

}  // namespace gradwire::bench
