#pragma once
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "scenarios/trainer.h"

namespace gradwire::trainers {

/// Pairs of operations: the end of one step, the start of the next that waits for it.
using Chain = std::vector<std::pair<sim::OpIndex, sim::OpIndex>>;

/// A step graph that is submitted a number of times, with nothing learnt.
class RepeatedStep : public scenarios::Trainer {
 public:
  RepeatedStep(scenarios::StepPlan plan, std::int64_t repetitions, Chain chain)
      : plan_(std::move(plan)), repetitions_(repetitions), chain_(std::move(chain)) {
    profile_.provenance = "none";
    profile_.device = "none (no training)";
  }

  /// The steps compute, for as long as the scenario says; `forward`: a worker before its exchange.
  void set_given_compute(Seconds forward) {
    profile_.provenance = "given";
    profile_.forward = forward;
  }

  const scenarios::ComputeProfile& prepare() override { return profile_; }
  void use_profile(const scenarios::ComputeProfile&) override {}

  bool next(scenarios::StepPlan& plan) override {
    if (done_ == repetitions_) return false;
    plan = plan_;
    plan.step = done_;
    if (done_ > 0)
      for (const auto& [from, to] : chain_) plan.after.push_back({{previous_, from}, to});
    ++done_;
    return true;
  }

  void on_submitted(const scenarios::StepPlan&, sim::GraphId graph) override { previous_ = graph; }
  scenarios::Evaluation evaluate() override { return {}; }
  std::int64_t steps_total() const override { return repetitions_; }
  std::int64_t parameters() const override { return 0; }
  std::uint64_t learning_hash() const override { return 0; }
  void save(std::ostream&) const override {}
  void load(std::istream&) override {}

 private:
  scenarios::StepPlan plan_;
  std::int64_t repetitions_;
  Chain chain_;
  std::int64_t done_ = 0;
  sim::GraphId previous_ = 0;
  scenarios::ComputeProfile profile_;
};

/// Hosts 0 to workers - 1.
inline std::vector<std::int32_t> all_workers(int workers) {
  std::vector<std::int32_t> members(static_cast<std::size_t>(workers));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

}  // namespace gradwire::trainers
