#include "trainers/schedules/pipeline/stage_cut.h"

#include <numeric>
#include <string>
#include <utility>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

class ByStage final : public methods::Method {
 public:
  ByStage(std::unique_ptr<methods::Method> method, const StageCut& cut)
      : method_(std::move(method)), stages_(cut.ends.size()), stage_of_(cut.stage_of_name) {}
  std::size_t sets() const override { return stages_ * method_->sets(); }
  std::size_t set_of(const methods::TensorInfo& info) const override {
    return stage_of_.find(info.name)->second * method_->sets() + method_->set_of(info);
  }
  methods::SetPlan plan(std::size_t set, std::size_t phase) const override {
    return method_->plan(set % method_->sets(), phase);
  }
  PassOptions passes() const override { return method_->passes(); }
  methods::BoundaryPlan boundary() const override { return method_->boundary(); }

 private:
  std::unique_ptr<methods::Method> method_;
  std::size_t stages_;
  std::map<std::string, std::size_t, std::less<>> stage_of_;
};

}  // namespace

StageCut stage_cut(const scenarios::Scenario& scenario, const Model& model) {
  const std::vector<std::size_t> starts = model.part_starts();
  const scenarios::PipelineCut found =
      scenarios::pipeline_cut(scenario, static_cast<int>(starts.size()));
  if (!found.problem.empty())
    throw TrainerError("cut into stages", scenario.workload.model, found.problem, found.instead);
  StageCut cut;
  cut.replicas = found.replicas;
  cut.ends.resize(found.parts.size());
  std::partial_sum(found.parts.begin(), found.parts.end(), cut.ends.begin());
  for (std::size_t stage = 0, p = 0; stage < cut.ends.size(); ++stage) {
    const bool last = stage + 1 == cut.ends.size();
    const std::size_t end = last ? model.parameters().size() : starts[cut.ends[stage]];
    for (; p < end; ++p) {
      cut.stage_of.push_back(stage);
      cut.stage_of_name[model.parameters()[p].name] = stage;
    }
  }
  return cut;
}

scenarios::Scenario of_replicas(const scenarios::Scenario& scenario, const StageCut& cut) {
  scenarios::Scenario own = scenario;
  own.cluster.workers = cut.replicas;
  own.cluster.slowdown.assign(static_cast<std::size_t>(cut.replicas), 1.0);
  own.schedule = {};
  return own;
}

std::unique_ptr<methods::Method> by_stage(std::unique_ptr<methods::Method> method,
                                          const StageCut& cut) {
  return std::make_unique<ByStage>(std::move(method), cut);
}

}  // namespace gradwire::trainers
