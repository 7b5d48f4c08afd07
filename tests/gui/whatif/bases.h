#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "gui/whatif/what_if_words.h"

/// What the what-if panel is asked about in tests.
namespace gradwire::gui {

/// 16 V100s with VGG-16's gradients, 1 % of them sent.
inline scenarios::Scenario vgg(const std::string& bandwidth, int workers = 16) {
  const nlohmann::ordered_json json = {
      {"schema_version", 1},
      {"name", "vgg"},
      {"workload", {{"profile", "vgg16"}, {"batch_per_worker", 32}, {"steps", 5}}},
      {"method", {{"name", "topk"}, {"ratio", 0.01}}},
      {"cluster", {{"workers", workers}, {"device", "v100"}}},
      {"network", {{"topology", "star"}, {"link", {{"bandwidth", bandwidth}, {"delay", "20us"}}}}},
      {"exchange", {{"overlap", true}}}};
  return scenarios::read_scenario_text(json.dump(), "vgg.json").runs.at(0);
}

inline WhatIfBasePtr base_of(const scenarios::Scenario& scenario) {
  auto base = std::make_shared<WhatIfBase>();
  base->name = "a test";
  base->scenario_json = scenario.json.dump();
  base->scenario_file = "vgg.json";
  return base;
}

/// A training step of one bucket: 1 MB as fp32, a tenth of it sent.
inline results::StepSummary training_step(double bytes, double coding_s) {
  results::StepSummary step;
  step.exchange = results::ExchangeKind::kRingAllGather;
  step.workers = 4;
  step.forward_s = 0.002;
  step.buckets = {{0.004, coding_s, coding_s, 0, bytes}};
  step.update_s = 0.0001;
  return step;
}

inline WhatIfBasePtr training_base() {
  const nlohmann::ordered_json json = {
      {"schema_version", 1},
      {"name", "small"},
      {"workload",
       {{"model", "lenet5"},
        {"data", {{"set", "digits"}}},
        {"batch_per_worker", 64},
        {"steps", 5}}},
      {"method", {{"name", "topk"}, {"ratio", 0.05}}},
      {"cluster", {{"workers", 4}, {"device", "reference-cpu"}}},
      {"network", {{"topology", "star"}, {"link", {{"bandwidth", "1Gbps"}, {"delay", "50us"}}}}}};
  auto base = base_of(scenarios::read_scenario_text(json.dump(), "small.json").runs.at(0));
  auto with = std::make_shared<WhatIfBase>(*base);
  with->stored = training_step(1e5, 0.0005);
  with->compression_ratio = 0.1;
  return with;
}

}  // namespace gradwire::gui
