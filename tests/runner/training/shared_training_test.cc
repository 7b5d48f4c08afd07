#include "runner/training/shared_training.h"

#include <catch2/catch.hpp>
#include <set>

#include "scenarios/diverged.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

using Sets = std::vector<std::pair<std::string, std::string>>;

scenarios::Scenario digits(const Sets& sets = {}) {
  return scenarios::read_scenario_text(
             R"({"schema_version": 1, "name": "d", "workload": {"model": "mlp",
                 "data": {"set": "digits"}, "batch_per_worker": 4, "steps": 3},
                 "cluster": {"workers": 4, "device": "reference-cpu"},
                 "network": {"topology": "star", "link": {"bandwidth": "1Gbps", "delay": "1ms"}},
                 "executor": "flow", "seeds": [1]})",
             scenarios::share_folder() + "/d.json", sets)
      .runs.at(0);
}

/// Three steps, each after the one before; step n loses n + 1/2 and is evaluated where n is even.
class ThreeSteps final : public scenarios::Trainer {
 public:
  explicit ThreeSteps(bool alone = false, std::int64_t diverges = -1)
      : alone_(alone), diverges_(diverges) {}
  const scenarios::ComputeProfile& prepare() override { return profile_; }
  void use_profile(const scenarios::ComputeProfile& profile) override { profile_ = profile; }
  bool next(scenarios::StepPlan& plan) override {
    if (step_ == diverges_)
      throw scenarios::Diverged("train step", "2", "a loss is not finite", "");
    if (step_ == 3) return false;
    plan.step = step_;
    plan.loss = static_cast<double>(step_) + 0.5;
    plan.bytes = {Bytes(100 + step_)};
    plan.alone = alone_;
    if (step_ > 0) plan.after = {{{last_, 0}, 0}};
    ++step_;
    return true;
  }
  void on_submitted(const scenarios::StepPlan&, sim::GraphId graph) override { last_ = graph; }
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome&) override {
    return {{"drift", static_cast<double>(plan.step) * 10}};
  }
  std::vector<scenarios::Figure> figures() const override { return {{"state_bytes", 64, "B"}}; }
  scenarios::Evaluation evaluate() override { return {0.25, static_cast<double>(step_) / 4}; }
  std::int64_t steps_total() const override { return 3; }
  std::int64_t parameters() const override { return 7; }
  std::uint64_t learning_hash() const override { return 4711; }
  void save(std::ostream&) const override {}
  void load(std::istream&) override {}

 private:
  bool alone_;
  std::int64_t diverges_, step_ = 0;
  sim::GraphId last_ = 0;
  scenarios::ComputeProfile profile_;
};

struct Seen {
  std::vector<double> losses, accuracies, drifts;
  std::vector<std::int64_t> bytes;
  std::vector<sim::GraphId> after;
  bool operator==(const Seen&) const = default;
};

/// Drives a trainer as the runner does; its graphs are numbered from `first` in steps of `stride`.
Seen drive(scenarios::Trainer& trainer, sim::GraphId first, sim::GraphId stride) {
  Seen seen;
  const sim::Timeline timeline;
  sim::GraphId graph = first;
  for (scenarios::StepPlan plan; trainer.next(plan); plan = {}, graph += stride) {
    seen.losses.push_back(plan.loss);
    seen.bytes.push_back(plan.bytes.at(0).count());
    for (const sim::CrossEdge& edge : plan.after) seen.after.push_back(edge.from.graph);
    trainer.on_submitted(plan, graph);
    if (plan.step % 2 == 0) seen.accuracies.push_back(trainer.evaluate().accuracy);
    seen.drifts.push_back(trainer.on_step_ended(plan, {timeline, Seconds(1), {}}).at(0).value);
  }
  return seen;
}

}  // namespace

TEST_CASE("What was trained is sent again as it was, after the graphs of its own run") {
  RecordingTrainer recording(std::make_unique<ThreeSteps>());
  const Seen first = drive(recording, 5, 1);
  CHECK(first.after == std::vector<sim::GraphId>{5, 6});
  const auto trained = recording.take(12);
  REQUIRE(trained);
  CHECK(trained->run == 12);

  TrainedAlready again(trained);
  CHECK(again.steps_total() == 3);
  CHECK(again.parameters() == 7);
  CHECK(again.learning_hash() != 4711);  // nothing of it is sent yet
  CHECK(again.figures().empty());
  Seen second = drive(again, 100, 10);
  CHECK(second.after == std::vector<sim::GraphId>{100, 110});
  second.after = first.after;
  CHECK(second == first);
  CHECK(again.learning_hash() == 4711);
  CHECK(again.figures().at(0).value == 64);
}

TEST_CASE("What is not whole, or heeds how steps end, is not sent again") {
  RecordingTrainer heeds(std::make_unique<ThreeSteps>(true));
  drive(heeds, 1, 1);
  CHECK_FALSE(heeds.take(1));

  RecordingTrainer early(std::make_unique<ThreeSteps>());
  scenarios::StepPlan plan;
  REQUIRE(early.next(plan));
  CHECK_FALSE(early.take(1));

  RecordingTrainer large(std::make_unique<ThreeSteps>(), 100);  // bytes, for three steps
  drive(large, 1, 1);
  CHECK_FALSE(large.take(1));

  RecordingTrainer resumed(std::make_unique<ThreeSteps>());
  std::istringstream nothing;
  resumed.load(nothing);
  drive(resumed, 1, 1);
  CHECK_FALSE(resumed.take(1));
}

TEST_CASE("Training that diverged does so again, after the same steps") {
  RecordingTrainer recording(std::make_unique<ThreeSteps>(false, 2));
  CHECK_THROWS_AS(drive(recording, 1, 1), scenarios::Diverged);
  TrainedAlready again(recording.take(1));
  scenarios::StepPlan plan;
  for (sim::GraphId graph = 1; graph <= 2; ++graph) {
    REQUIRE(again.next(plan));
    again.on_submitted(plan, graph);
  }
  CHECK_THROWS_AS(again.next(plan), scenarios::Diverged);
}

TEST_CASE("Runs learn alike where their network alone differs, and heeds nobody's time") {
  const std::string key = learning_key(digits());
  CHECK_FALSE(key.empty());
  const Sets alike[] = {{{"/network/link/bandwidth", "10Mbps"}},
                        {{"/network/link/loss", "0.01"}},
                        {{"/network/transport/congestion_control", "bbr"}},
                        {{"/executor", "packet"}},
                        {{"/workload/target_accuracy", "0.5"}},
                        {{"/name", "other"}}};
  for (const Sets& sets : alike) {
    INFO(sets[0].first);
    CHECK(learning_key(digits(sets)) == key);
  }
  const Sets apart[] = {{{"/workload/optimizer/lr", "0.5"}}, {{"/workload/evaluate_every", "2"}},
                        {{"/method/name", "terngrad"}},      {{"/exchange/collective", "tree"}},
                        {{"/cluster/workers", "8"}},         {{"/seeds", "[2]"}}};
  std::set<std::string> keys = {key};
  for (const Sets& sets : apart) {
    INFO(sets[0].first);
    CHECK(keys.insert(learning_key(digits(sets))).second);
  }
  const Sets heed[] = {
      {{"/exchange/collective", "auto"}},
      {{"/network/transport/protocol", "udp-lossy"}},
      {{"/schedule/kind", "asynchronous"}, {"/exchange/collective", "parameter-server"}}};
  for (const Sets& sets : heed) {
    INFO(sets[0].first);
    CHECK(learning_key(digits(sets)).empty());
  }
}

TEST_CASE("One of the runs that learn alike trains at a time, and the others take it") {
  const std::vector<scenarios::Scenario> runs = {
      digits(), digits({{"/network/link/bandwidth", "10Mbps"}}), digits({{"/seeds", "[2]"}})};
  SharedTraining shared(runs);
  REQUIRE(shared.begin(runs[0]));
  CHECK(shared.is_wanted(runs[0]));
  CHECK_FALSE(shared.begin(runs[1]));
  CHECK(shared.begin(runs[2]));  // it learns something else
  CHECK_FALSE(shared.is_wanted(runs[2]));

  SECTION("what was trained is kept for as long as somebody may take it") {
    const auto trained = std::make_shared<const TrainedSteps>();
    shared.keep(runs[0], trained);
    shared.end(runs[0]);
    REQUIRE(shared.begin(runs[1]));
    CHECK(shared.find(runs[1]) == trained);
    shared.end(runs[1]);
    CHECK(trained.use_count() == 1);
  }
  SECTION("where it failed, the next one trains") {
    shared.end(runs[0]);
    REQUIRE(shared.begin(runs[1]));
    CHECK_FALSE(shared.find(runs[1]));
    CHECK_FALSE(shared.is_wanted(runs[1]));  // it is the last
  }
}
