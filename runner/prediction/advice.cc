#include "runner/prediction/advice.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "results/advice/choice.h"
#include "runner/prediction/exchange_correction.h"
#include "runner/prediction/prediction.h"
#include "runner/prediction/step_times.h"
#include "scenarios/methods.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::runner {
namespace {

using nlohmann::ordered_json;
using results::Candidate;
using scenarios::Scenario;

constexpr const char* kCollectives[] = {"ring",   "tree",           "halving-doubling", "two-level",
                                        "direct", "scatter-reduce", "parameter-server"};

int group_of(const Scenario& scenario) {
  return scenario.network.topology == "gpu-nodes" ? scenario.network.gpus_per_node
                                                  : scenarios::kUsualGroup;
}

ordered_json exchange_of(const Scenario& scenario, const std::string& collective, Bytes bucket) {
  ordered_json exchange = {{"collective", collective},
                           {"bucket", std::to_string(bucket.count()) + "B"},
                           {"overlap", true}};
  if (collective == "two-level") exchange["group"] = group_of(scenario);
  return exchange;
}

/// Two steps on `workers` workers with this method; read anew, so that its fields are checked.
Scenario changed(const Scenario& scenario, const std::string& method, int workers,
                 const std::string& collective, Bytes bucket) {
  ordered_json json = scenario.json;
  json["method"] = ordered_json::parse(method);
  json["exchange"] = exchange_of(scenario, collective, bucket);
  if (collective != "parameter-server" && json.contains("network"))
    json["network"].erase("server_link");
  json["workload"]["steps"] = 2;
  if (workers != scenario.cluster.workers) json["cluster"].erase("stragglers");
  json["cluster"]["workers"] = workers;
  return scenarios::read_scenario_text(json.dump(), scenario.file).runs.at(0);
}

bool fits(const Scenario& scenario, const std::string& collective) {
  using compressors::AggregatePolicy;
  if (collective == "two-level" && group_of(scenario) >= scenario.cluster.workers) return false;
  const auto policy = scenarios::make_method_codec(scenario.method)->policy();
  // What a server answers to sparse messages depends on gradients, which a table does not have.
  if (collective == "parameter-server" && policy != AggregatePolicy::kSum) return false;
  // Requantising codecs scatter and reduce round a ring, too.
  if (policy == AggregatePolicy::kRequantize && collective != "ring") return false;
  return scenarios::exchange_conflict(policy, collective).empty();
}

/// The usual methods, without those whose times the device does not have.
std::vector<std::string> known_methods(const Scenario& scenario) {
  std::vector<std::string> methods = usual_methods();
  if (scenario.cluster.device == "cpu") return methods;
  const auto device = scenarios::load_device_profile(scenario.cluster.device, scenario.file);
  std::erase_if(methods, [&](const std::string& method) {
    const std::string name = ordered_json::parse(method).at("name");
    return !compressors::is_plain_codec(name) && !device.codecs.count(name);
  });
  return methods;
}

std::vector<std::string> collectives_of(const AdviceChoices& choices) {
  if (!choices.collectives.empty()) return choices.collectives;
  return {std::begin(kCollectives), std::end(kCollectives)};
}

std::vector<Bytes> buckets_of(const AdviceChoices& choices) {
  if (!choices.buckets.empty()) return choices.buckets;
  return {Bytes(4'000'000), Bytes(25'000'000), Bytes(100'000'000)};
}

/// Corrections of exchanges on one network, each found once.
class Corrections {
 public:
  Corrections(const Scenario& scenario, bool on) : scenario_(scenario), on_(on) {}
  void apply(results::StepSummary& step) {
    if (!on_) return;
    const auto found = known_.find(step.exchange);
    step.correction =
        found != known_.end()
            ? found->second
            : known_.emplace(step.exchange, simulated_correction(scenario_, step)).first->second;
  }

 private:
  const Scenario& scenario_;
  bool on_;
  std::map<results::ExchangeKind, results::Correction> known_;
};

/// The candidates of one method.
class Lister {
 public:
  Lister(const Scenario& asked, const std::string& method, int workers, Corrections& corrections,
         std::vector<std::string>& left_out)
      : asked_(asked),
        workers_(workers),
        scenario_(changed(asked, method, workers, "ring", Bytes(25'000'000))),
        method_(method),
        label_(scenarios::method_label(scenario_)),
        corrections_(corrections),
        left_out_(left_out) {}

  void add(const std::string& collective, Bytes bucket, std::vector<Candidate>& candidates) {
    if (!fits(scenario_, collective)) return;
    try {
      results::StepSummary step =
          summary_of(changed(asked_, method_, workers_, collective, bucket), nullptr, {});
      corrections_.apply(step);
      candidates.push_back({label_, collective, static_cast<double>(bucket.count()),
                            results::baseline_of(method_), std::move(step), method_,
                            scenario_.json.at("method").dump()});
    } catch (const Error& error) {
      const std::string line = label_ + " by " + collective + ": " + error.what();
      if (std::find(left_out_.begin(), left_out_.end(), line) == left_out_.end())
        left_out_.push_back(line);
    }
  }

 private:
  const Scenario& asked_;
  int workers_;
  Scenario scenario_;
  std::string method_;
  std::string label_;
  Corrections& corrections_;
  std::vector<std::string>& left_out_;
};

[[noreturn]] void refuse(const Scenario& scenario, const char* reason, const char* remedy) {
  throw Error(ErrorKind::kScenario, "advise on", scenario.name, reason, remedy);
}

}  // namespace

std::vector<std::string> usual_methods() {
  return {R"({"name":"none"})",
          R"({"name":"fp16"})",
          R"({"name":"int8"})",
          R"({"name":"qsgd"})",
          R"({"name":"terngrad"})",
          R"({"name":"sign","error_feedback":true})",
          R"({"name":"powersgd","error_feedback":true})",
          R"({"name":"topk","ratio":0.01})",
          R"({"name":"topk","ratio":0.001})",
          R"({"name":"dgc","ratio":0.001})"};
}

std::string method_of_text(const std::string& text) {
  ordered_json method;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(':', begin);
    const std::string part = text.substr(begin, end == std::string::npos ? end : end - begin);
    const std::size_t equals = part.find('=');
    if (begin == 0) {
      method["name"] = part;
    } else if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::kUsage, "read the method", text, "\"" + part + "\" is no field=value",
                  "for example: topk:ratio=0.001:error_feedback=false");
    } else {
      const std::string value = part.substr(equals + 1);
      const ordered_json parsed = ordered_json::parse(value, nullptr, false);
      method[part.substr(0, equals)] = parsed.is_discarded() ? ordered_json(value) : parsed;
    }
  }
  return method.dump();
}

std::vector<Candidate> advice_candidates(const Scenario& scenario, const AdviceChoices& choices,
                                         int workers, std::vector<std::string>& left_out) {
  if (scenario.workload.kind != scenarios::WorkloadKind::kProfile)
    refuse(scenario, "its model is not a layer table",
           "set /workload/profile to one (gradwire profile makes tables of models)");
  if (workers < 2) refuse(scenario, "a single worker exchanges nothing", "take 2 or more workers");
  std::vector<Candidate> candidates;
  Corrections corrections(scenario, choices.simulate_exchanges);
  const std::vector<std::string> methods =
      choices.methods.empty() ? known_methods(scenario) : choices.methods;
  std::size_t number = 0;
  for (const std::string& method : methods) {
    if (choices.on_method) choices.on_method(++number, methods.size());
    Lister lister(scenario, method, workers, corrections, left_out);
    for (const std::string& collective : collectives_of(choices))
      for (const Bytes bucket : buckets_of(choices)) lister.add(collective, bucket, candidates);
  }
  if (candidates.empty())
    refuse(scenario, "no method goes with any of the collectives",
           left_out.empty() ? "name others" : left_out.front().c_str());
  return candidates;
}

Scenario with_candidate(const Scenario& scenario, const Candidate& candidate) {
  return changed(scenario, candidate.method_json, candidate.step.workers, candidate.collective,
                 Bytes(static_cast<std::int64_t>(candidate.bucket_bytes)));
}

double flow_seconds(const Scenario& scenario, const Candidate& candidate) {
  Scenario run = with_candidate(scenario, candidate);
  run.executor = "flow";
  return time_steps(run).warm().at(0);
}

}  // namespace gradwire::runner
