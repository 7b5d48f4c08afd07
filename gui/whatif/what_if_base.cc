#include "gui/whatif/what_if_base.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "results/prediction/stored_summary.h"
#include "scenarios/methods.h"
#include "scenarios/share.h"

namespace gradwire::gui {
namespace {

using nlohmann::ordered_json;
using results::RunSummary;

/// What was trained and on what, without what the panel changes or that says nothing of a step.
ordered_json training_of(const RunSummary& run) {
  ordered_json json = ordered_json::parse(run.header.scenario_json, nullptr, false);
  if (!json.is_object()) return {};
  for (const char* part : {"method", "exchange", "network", "executor", "name", "description",
                           "expected", "seeds", "sweep", "prices", "$schema"}) {
    json.erase(part);
  }
  return json;
}

constexpr std::size_t kMostPeers = 12;
/// Of a large database the latest are enough.
constexpr int kMostTried = 400;

/// The latest run of each other method: an earlier version may have stored less.
std::vector<WhatIfBase::Peer> peers_of(const results::Store& store,
                                       std::span<const RunSummary> runs, const RunSummary& of) {
  const ordered_json training = training_of(of);
  std::vector<WhatIfBase::Peer> peers;
  std::set<std::string> known = {of.header.method};
  int tried = 0;
  for (auto run = runs.rbegin(); run != runs.rend() && peers.size() < kMostPeers; ++run) {
    const bool may = run->status == results::RunStatus::kFinished &&
                     run->header.model == of.header.model &&
                     run->header.data_set == of.header.data_set &&
                     run->header.workers == of.header.workers && !known.count(run->header.method);
    if (!may) continue;
    if (++tried > kMostTried) break;
    if (training_of(*run) != training) continue;
    auto step = results::stored_summary(store.metrics(run->id));
    if (!step) continue;
    known.insert(run->header.method);
    peers.push_back({run->header.method, results::method_of_scenario(run->header.scenario_json),
                     std::move(*step)});
  }
  return peers;
}

}  // namespace

results::AccuracyKnowledge knowledge_of(std::span<const RunSummary> runs) {
  results::AccuracyKnowledge knowledge;
  knowledge.trained = results::accuracy_comparisons(runs);
  try {
    const std::string path = scenarios::share_folder() + "/published/accuracy.csv";
    knowledge.published = results::read_published_accuracy(read_file(path), path);
  } catch (const Error&) {
    // A program without its shipped files still answers; nothing published is quoted.
  }
  return knowledge;
}

WhatIfBasePtr base_of_run(const results::Store& store, std::span<const RunSummary> runs,
                          results::RunId id, const results::AccuracyKnowledge& knowledge) {
  const auto run = std::ranges::find(runs, id, &RunSummary::id);
  if (run == runs.end()) return nullptr;
  auto base = std::make_shared<WhatIfBase>();
  base->name = QString("Run %1: %2, %3 workers")
                   .arg(id)
                   .arg(QString::fromStdString(run->header.method))
                   .arg(run->header.workers);
  base->of_run = true;
  base->scenario_json = run->header.scenario_json;
  base->scenario_file = run->header.scenario_file;
  base->method = run->header.method;
  base->compression_ratio = run->compression_ratio;
  base->stored = results::stored_summary(store.metrics(id));
  if (base->stored) base->peers = peers_of(store, runs, *run);
  base->knowledge = knowledge;
  return base;
}

WhatIfBasePtr base_of_scenario(const std::string& path,
                               const results::AccuracyKnowledge& knowledge) {
  const scenarios::ScenarioFile file = scenarios::read_scenario_file(path);
  const scenarios::Scenario& first = file.runs.at(0);
  auto base = std::make_shared<WhatIfBase>();
  base->name = QString::fromStdString("Scenario " + std::filesystem::path(path).stem().string());
  if (file.runs.size() > 1) base->name += QString(", the first of %1 runs").arg(file.runs.size());
  base->scenario_json = first.json.dump();
  base->scenario_file = path;
  base->method = scenarios::method_label(first);
  base->knowledge = knowledge;
  return base;
}

}  // namespace gradwire::gui
