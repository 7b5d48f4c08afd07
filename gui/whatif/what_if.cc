#include "gui/whatif/what_if.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "gui/models/columns.h"
#include "results/advice/scenario_prices.h"
#include "results/runs/scenario_view.h"
#include "runner/prediction/advice.h"
#include "runner/record/step_summary.h"
#include "scenarios/document/pointer.h"
#include "scenarios/methods.h"

namespace gradwire::gui {
namespace {

using nlohmann::ordered_json;
using results::Candidate;
using results::StepSummary;
using scenarios::Scenario;

constexpr const char* kDense = R"({"name":"none"})";
constexpr const char* kHalf = R"({"name":"fp16"})";
/// What a step without compression is held against.
constexpr const char* kUsual = R"({"name":"topk","ratio":0.01})";

/// Ways of exchange that need no host of their own.
const std::vector<std::string> kCollectives = {"ring", "tree", "halving-doubling", "direct",
                                               "scatter-reduce"};

Scenario changed(const WhatIfBase& base, const Changes& changes) {
  std::vector<std::pair<std::string, std::string>> sets;
  for (const auto& [knob, text] : changes) {
    QString problem;
    const auto value = value_of(knob, text, problem);
    sets.emplace_back(info(knob).pointer,
                      (value ? text_of(knob, *value) : text.trimmed()).toStdString());
  }
  ordered_json json = ordered_json::parse(base.scenario_json, nullptr, false);
  if (!json.is_object()) {
    throw Error(ErrorKind::kScenario, "ask about", base.name.toStdString(),
                "its scenario is no JSON object", "an earlier version may have stored it");
  }
  // Which workers are slow is said of a number of them.
  if (changes.count(Knob::kWorkers) > 0 && json.contains("cluster")) {
    json["cluster"].erase("stragglers");
  }
  return scenarios::read_scenario_text(json.dump(), base.scenario_file, sets).runs.at(0);
}

/// Lone collectives have no method: they send what they send.
std::string method_json(const Scenario& scenario) {
  const auto found = scenario.json.find("method");
  return found == scenario.json.end() ? std::string(kDense) : found->dump();
}

const std::string& model_name(const Scenario& scenario) {
  return scenario.workload.kind == scenarios::WorkloadKind::kProfile ? scenario.workload.profile
                                                                     : scenario.workload.model;
}

std::string text_at(const Changes& changes, Knob knob) {
  const auto found = changes.find(knob);
  return found == changes.end() ? std::string() : found->second.trimmed().toStdString();
}

/// The same step with messages so many times as long.
StepSummary scaled(StepSummary step, double factor) {
  for (results::BucketSummary& bucket : step.buckets) {
    bucket.message_bytes *= factor;
    bucket.pull_bytes *= factor;
  }
  return step;
}

/// fp32 round a ring, from a compressed step: its computing, and messages of all values.
StepSummary uncompressed(const StepSummary& step, double ratio) {
  StepSummary dense = scaled(step, 1 / ratio);
  dense.exchange = results::ExchangeKind::kRingAllReduce;
  for (results::BucketSummary& bucket : dense.buckets) {
    bucket.encode_s = bucket.decode_s = bucket.scale_s = bucket.prelude_bytes = 0;
    bucket.exchange.reset();
  }
  return dense;
}

Candidate candidate(const std::string& label, const std::string& method, StepSummary step) {
  const std::string collective(results::name_of(step.exchange));
  double largest = 0;
  for (const results::BucketSummary& bucket : step.buckets) {
    largest = std::max(largest, bucket.message_bytes);
  }
  return {label, collective, largest, results::baseline_of(method), std::move(step), method, {}};
}

std::vector<results::RankedCandidate> ranked_of(const results::Advice& advice, bool dense,
                                                const std::string& label) {
  std::vector<results::RankedCandidate> found;
  for (const results::RankedCandidate& each : advice.ranked) {
    const bool fits = dense ? each.candidate.baseline == results::Baseline::kFp32
                            : each.candidate.method == label;
    if (fits) found.push_back(each);
  }
  return found;
}

WhatIfCost cost_of(const results::RankedCandidate& way, const results::Prices& prices) {
  const StepSummary& step = way.candidate.step;
  return {kCostedSteps * step.workers * way.seconds() / 3600,
          kCostedSteps * results::bytes_moved(step),
          kCostedSteps * results::cost_of_step(step, way.seconds(), prices).total()};
}

void add_costs(const results::CostOptions& costs, WhatIfAnswer& answer) {
  answer.currency = costs.currency;
  if (answer.with) answer.cost = cost_of(*answer.with, costs.prices);
  if (answer.dense) answer.dense_cost = cost_of(*answer.dense, costs.prices);
}

}  // namespace

std::array<std::optional<double>, kKnobs> knob_values(const WhatIfBase& base) {
  std::array<std::optional<double>, kKnobs> values;
  const auto leaves = results::scenario_leaves(base.scenario_json);
  for (int k = 0; k < kKnobs; ++k) {
    const auto found = leaves.find(info(knob_at(k)).pointer);
    if (found == leaves.end()) {
      if (knob_at(k) == Knob::kGpuHour) values[static_cast<std::size_t>(k)] = 0;
      continue;
    }
    QString problem;
    values[static_cast<std::size_t>(k)] =
        value_of(knob_at(k), QString::fromStdString(found->second), problem);
  }
  return values;
}

void WhatIf::from_table(const Scenario& scenario) {
  runner::AdviceChoices choices;
  choices.methods = {kDense, kHalf};
  const std::string own = method_json(scenario);
  const bool compressed = results::baseline_of(own) == results::Baseline::kNone;
  choices.methods.push_back(compressed ? own : kUsual);
  if (!compressed) remarks_ << "held against topk 1 %: open a run of another method for that one";
  choices.collectives = kCollectives;
  choices.buckets = {scenario.exchange.bucket};
  choices.simulate_exchanges = false;
  std::vector<std::string> left_out;
  candidates_ = runner::advice_candidates(scenario, choices, scenario.cluster.workers, left_out);
  for (const std::string& line : left_out) remarks_ << QString::fromStdString(line);
}

void WhatIf::from_run(const Scenario& scenario, const Changes& changes) {
  StepSummary step = *base_->stored;
  double ratio = base_->compression_ratio.value_or(1);
  const auto own = knob_values(*base_)[static_cast<std::size_t>(Knob::kRatio)];
  QString problem;
  const auto asked =
      value_of(Knob::kRatio, QString::fromStdString(text_at(changes, Knob::kRatio)), problem);
  if (own && asked && *own != *asked) {
    step = scaled(step, *asked / *own);
    ratio *= *asked / *own;
    remarks_ << "messages grow in proportion to the ratio; times of coding are the run's";
  }
  const std::string method = method_json(scenario);
  candidates_.push_back(candidate(scenarios::method_label(scenario), method, step));
  for (const WhatIfBase::Peer& peer : base_->peers) {
    candidates_.push_back(candidate(peer.method, peer.method_json, peer.step));
  }
  const auto has = [&](results::Baseline baseline) {
    return std::ranges::any_of(candidates_, [&](const auto& c) { return c.baseline == baseline; });
  };
  if (!has(results::Baseline::kFp32)) {
    candidates_.push_back(candidate("none", kDense, uncompressed(step, ratio)));
    remarks_ << "fp32 is the run's step with whole messages round a ring: no run without "
                "compression is stored";
  }
  if (has(results::Baseline::kFp16)) return;
  const auto dense = std::ranges::find(candidates_, results::Baseline::kFp32, &Candidate::baseline);
  candidates_.push_back(candidate("fp16", kHalf, scaled(dense->step, 0.5)));
}

void WhatIf::find_candidates(const Scenario& scenario, const Changes& changes) {
  const std::string key = text_at(changes, Knob::kWorkers) + "\n" + text_at(changes, Knob::kRatio);
  if (key == key_ && !candidates_.empty()) return;
  candidates_.clear();
  remarks_.clear();
  if (scenario.workload.kind == scenarios::WorkloadKind::kProfile) {
    from_table(scenario);
  } else if (base_->stored) {
    from_run(scenario, changes);
  } else if (base_->of_run) {
    throw Error(ErrorKind::kFailure, "answer for", scenario.name,
                "the run stored no summary of its step: no closed form describes its exchange, or "
                "an earlier version made it",
                "change the scenario and run it");
  } else {
    throw Error(ErrorKind::kFailure, "answer for", scenario.name,
                "no run of this training is stored, so nothing is known of its step",
                "run it once, with a few workers, and select that run");
  }
  key_ = key;
}

WhatIfAnswer WhatIf::answer(const Changes& changes) {
  const auto begin = std::chrono::steady_clock::now();
  WhatIfAnswer answer;
  try {
    const Scenario scenario = changed(*base_, changes);
    const sim::Cluster cluster = scenarios::build_cluster(scenario);
    if (const auto why = runner::without_closed_form(scenario, cluster); !why.empty()) {
      throw Error(ErrorKind::kFailure, "answer for", scenario.name, why,
                  "run it with --executor flow");
    }
    find_candidates(scenario, changes);
    for (Candidate& each : candidates_) {
      each.step.workers = scenario.cluster.workers;
      each.step.overlap = scenario.exchange.overlap;
      runner::take_paths(cluster, scenario.network.transport, each.step);
    }
    const results::StepFit fit = results::usual_fit();
    answer.advice = results::advise(candidates_, fit, {&base_->knowledge, model_name(scenario)});
    const std::string label = scenarios::method_label(scenario);
    const auto with = ranked_of(*answer.advice, false, label);
    const auto dense = ranked_of(*answer.advice, true, label);
    if (!with.empty()) answer.with = with.front();
    if (!dense.empty()) answer.dense = dense.front();
    if (!answer.with && answer.dense) answer.with = answer.dense;
    if (answer.with) {
      answer.alone_s =
          results::step_time(results::alone(answer.with->candidate.step), fit.constants).total_s;
    }
    add_costs(results::costs_of_scenario(scenario.json.dump()), answer);
    results::RateRange range;
    range.points = 41;
    range.margin = results::kTie;
    for (const results::Crossover& each : results::crossovers(candidates_, fit.constants, range)) {
      if (each.method == label) answer.crossover = each;
    }
    answer.remarks = remarks_;
  } catch (const std::exception& error) {
    // This runs at the top of a thread: an exception must end here, as a message.
    answer.problem = QString::fromUtf8(error.what());
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

QString changed_scenario(const WhatIfBase& base, const Changes& changes) {
  const Scenario scenario = changed(base, changes);
  ordered_json json = scenario.json;
  json["name"] = json.value("name", std::string("scenario")) + "-what-if";
  json["seeds"] = {scenario.seed};
  return QString::fromStdString(json.dump(2)) + "\n";
}

}  // namespace gradwire::gui
