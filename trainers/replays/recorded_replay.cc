#include "trainers/replays/recorded_replay.h"

#include <algorithm>

#include "base/error.h"
#include "bridge/alike.h"
#include "scenarios/share.h"
#include "trainers/replays/recorded_graph.h"

namespace gradwire::trainers {
namespace {

using scenarios::ComputeProfile;
using scenarios::Scenario;
using scenarios::StepPlan;

std::string path_of(const Scenario& scenario) {
  return scenarios::relative_to_file(scenario.workload.recording, scenario.file);
}

/// Where seconds stand for operations, a scale of 1 has not been thought about.
void require_times(const Scenario& scenario, const bridge::Header& header,
                   const std::string& path) {
  if (header.counted == 0 || scenario.workload.compute_scale != 1) return;
  throw Error(ErrorKind::kScenario, "replay", path,
              std::to_string(header.counted) +
                  " of its computing nodes have operations (num_ops) and no duration",
              "set /workload/compute_scale to 1 over the device's operations a second: 1e-14 for "
              "100 Tflop/s");
}

bridge::Recording recording_of(const Scenario& scenario) {
  const std::string path = path_of(scenario);
  bridge::Recording recording = bridge::read_recording(path);
  require_times(scenario, recording.header, path);
  if (!scenario.workload.alike) return recording;
  return bridge::with_ranks(std::move(recording), scenario.cluster.workers, path);
}

class RecordedReplay final : public scenarios::Trainer {
 public:
  explicit RecordedReplay(const Scenario& scenario)
      : scale_(scenario.workload.compute_scale),
        most_(scenario.workload.most_recorded_steps),
        slowdown_(scenario.cluster.slowdown),
        recording_(recording_of(scenario)),
        steps_(recording_, path_of(scenario)),
        graph_(steps_, scenario.workload.backend == "gloo" ? RecordedGraph::Backend::kGloo
                                                           : RecordedGraph::Backend::kNccl) {
    slowdown_.resize(static_cast<std::size_t>(scenario.cluster.workers), 1.0);
    profile_.provenance = scale_ == 1 ? "measured" : "given";
    profile_.device = "recorded: " + recording_.header.clock;
  }

  const ComputeProfile& prepare() override { return profile_; }
  void use_profile(const ComputeProfile&) override {}

  bool next(StepPlan& plan) override {
    if (step_ == steps_total()) return false;
    RecordedStep made = graph_.next();
    plan.graph = std::move(made.graph);
    plan.bytes = std::move(made.bytes);
    plan.seconds = scaled(*plan.graph, std::move(made.seconds));
    plan.payload = plan.dense_payload = made.payload;
    plan.step = step_++;
    plan.steady = plan.step > 0 || steps_total() == 1;
    for (const RecordedStep::Edge& edge : made.after)
      plan.after.push_back(
          {{graphs_[static_cast<std::size_t>(edge.from.step)], edge.from.op}, edge.to});
    return true;
  }

  void on_submitted(const StepPlan&, sim::GraphId graph) override { graphs_.push_back(graph); }
  scenarios::Evaluation evaluate() override { return {}; }

  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = recording_.notes;
    if (!recording_.whole)
      notes.push_back("the recorded script was cut off; these are its whole steps");
    if (!steps_.told())
      notes.push_back("no optimiser told where steps end, so that the script is one step");
    return notes;
  }

  std::int64_t steps_total() const override {
    return most_ > 0 ? std::min<std::int64_t>(most_, steps_.size()) : steps_.size();
  }
  scenarios::StepRange usual_steps() const override {
    const std::int64_t whole = steps_.size() - (steps_.has_tail() ? 1 : 0);
    const std::int64_t last = std::min(whole, steps_total());
    return {last > 1 ? 1 : 0, last};
  }
  std::int64_t parameters() const override { return 0; }
  std::uint64_t learning_hash() const override { return 0; }
  void save(std::ostream&) const override {}
  void load(std::istream&) override {}

 private:
  std::vector<Seconds> scaled(const sim::GraphTemplate& graph, std::vector<Seconds> seconds) const {
    for (std::size_t op = 0; op < seconds.size(); ++op)
      if (graph.lane[op] != sim::Lane::kNone)
        seconds[op] =
            seconds[op] * (scale_ * slowdown_[static_cast<std::size_t>(graph.worker[op])]);
    return seconds;
  }

  double scale_;
  int most_;
  std::vector<double> slowdown_;
  bridge::Recording recording_;
  RecordedSteps steps_;
  RecordedGraph graph_;
  ComputeProfile profile_;
  std::vector<sim::GraphId> graphs_;  ///< by step
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<scenarios::Trainer> make_recorded_replay(const Scenario& scenario) {
  return std::make_unique<RecordedReplay>(scenario);
}

}  // namespace gradwire::trainers
