#include "runner/training/trained_steps.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "scenarios/diverged.h"

namespace gradwire::runner {
namespace {

using scenarios::StepPlan;

std::int64_t bytes_of(const StepPlan& plan) {
  return static_cast<std::int64_t>(sizeof(TrainedSteps::Step) + plan.bytes.size() * sizeof(Bytes) +
                                   plan.seconds.size() * sizeof(Seconds) +
                                   plan.after.size() * sizeof(sim::CrossEdge));
}

}  // namespace

RecordingTrainer::RecordingTrainer(std::unique_ptr<scenarios::Trainer> inner,
                                   std::int64_t most_bytes)
    : inner_(std::move(inner)),
      trained_(std::make_shared<TrainedSteps>()),
      most_bytes_(most_bytes) {
  if (inner_->schedule()) give_up();
}

void RecordingTrainer::give_up() {
  trained_.reset();
  steps_of_graphs_.clear();
}

const scenarios::ComputeProfile& RecordingTrainer::prepare() {
  const scenarios::ComputeProfile& profile = inner_->prepare();
  if (trained_) trained_->profile = profile;
  return profile;
}

void RecordingTrainer::use_profile(const scenarios::ComputeProfile& profile) {
  inner_->use_profile(profile);
}

scenarios::CollectiveChoice RecordingTrainer::collective_choice() const {
  return inner_->collective_choice();
}

bool RecordingTrainer::next(StepPlan& plan) {
  try {
    if (!inner_->next(plan)) return false;
  } catch (const scenarios::Diverged&) {
    if (trained_) trained_->diverged = std::current_exception();
    throw;
  }
  if (trained_) keep(plan);
  return true;
}

void RecordingTrainer::keep(const StepPlan& plan) {
  bytes_ += bytes_of(plan);
  const bool in_order = plan.step == static_cast<std::int64_t>(trained_->steps.size());
  if (plan.alone || plan.deadline || !in_order || bytes_ > most_bytes_) return give_up();
  StepPlan kept = plan;
  for (sim::CrossEdge& edge : kept.after) {
    const auto found = steps_of_graphs_.find(edge.from.graph);
    if (found == steps_of_graphs_.end()) return give_up();
    edge.from.graph = static_cast<sim::GraphId>(found->second);
  }
  trained_->steps.push_back({std::move(kept), {}, {}});
}

void RecordingTrainer::on_submitted(const StepPlan& plan, sim::GraphId graph) {
  inner_->on_submitted(plan, graph);
  if (!trained_) return;
  // Edges lead to the step before, and two steps are in flight at most.
  constexpr std::size_t kNamed = 8;
  steps_of_graphs_[graph] = plan.step;
  if (steps_of_graphs_.size() > kNamed) steps_of_graphs_.erase(steps_of_graphs_.begin());
}

std::vector<scenarios::Figure> RecordingTrainer::on_step_ended(
    const StepPlan& plan, const scenarios::StepOutcome& outcome) {
  std::vector<scenarios::Figure> figures = inner_->on_step_ended(plan, outcome);
  if (trained_) trained_->steps.at(static_cast<std::size_t>(plan.step)).figures = figures;
  return figures;
}

scenarios::Evaluation RecordingTrainer::evaluate() {
  const scenarios::Evaluation evaluation = inner_->evaluate();
  if (trained_ && !trained_->steps.empty()) trained_->steps.back().evaluation = evaluation;
  return evaluation;
}

std::vector<std::byte> RecordingTrainer::model_file() {
  std::vector<std::byte> file = inner_->model_file();
  if (trained_) trained_->model = file;
  return file;
}

void RecordingTrainer::load(std::istream& in) {
  inner_->load(in);
  give_up();
}

std::shared_ptr<const TrainedSteps> RecordingTrainer::take(results::RunId run) {
  if (!trained_) return nullptr;
  trained_->steps_total = inner_->steps_total();
  const bool whole = static_cast<std::int64_t>(trained_->steps.size()) == trained_->steps_total;
  if (!whole && !trained_->diverged) return nullptr;
  trained_->parameters = inner_->parameters();
  trained_->figures = inner_->figures();
  trained_->notes = inner_->notes();
  trained_->learning_hash = inner_->learning_hash();
  trained_->run = run;
  return std::exchange(trained_, nullptr);
}

bool TrainedAlready::next(StepPlan& plan) {
  if (whole()) {
    if (trained_->diverged) std::rethrow_exception(trained_->diverged);
    return false;
  }
  plan = trained_->steps[sent_++].plan;
  for (sim::CrossEdge& edge : plan.after) edge.from.graph = graphs_.at(edge.from.graph);
  return true;
}

void TrainedAlready::on_submitted(const StepPlan& plan, sim::GraphId graph) {
  GRADWIRE_ASSERT(plan.step == static_cast<std::int64_t>(graphs_.size()));
  graphs_.push_back(graph);
}

std::vector<scenarios::Figure> TrainedAlready::on_step_ended(const StepPlan& plan,
                                                             const scenarios::StepOutcome&) {
  return trained_->steps.at(static_cast<std::size_t>(plan.step)).figures;
}

std::vector<scenarios::Figure> TrainedAlready::figures() const {
  return whole() ? trained_->figures : std::vector<scenarios::Figure>{};
}

scenarios::Evaluation TrainedAlready::evaluate() {
  GRADWIRE_ASSERT(sent_ > 0 && trained_->steps[sent_ - 1].evaluation);
  return *trained_->steps[sent_ - 1].evaluation;
}

std::uint64_t TrainedAlready::learning_hash() const {
  if (whole()) return trained_->learning_hash;
  Hasher hasher;
  for (std::size_t step = 0; step < sent_; ++step) {
    hasher.add(trained_->steps[step].plan.loss);
    hasher.add(static_cast<std::uint64_t>(trained_->steps[step].plan.payload.count()));
  }
  return hasher.value();
}

void TrainedAlready::save(std::ostream&) const {
  GRADWIRE_ASSERT(false);
}
void TrainedAlready::load(std::istream&) {
  GRADWIRE_ASSERT(false);
}

}  // namespace gradwire::runner
