#include "trainers/schedules/pipeline/pipeline_trainer.h"

#include <algorithm>
#include <iterator>

#include "base/hash.h"
#include "base/serial.h"
#include "scenarios/methods.h"
#include "trainers/replays/pipeline_figures.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/scenario_update.h"
#include "trainers/schedules/checkpoint.h"
#include "trainers/schedules/kept_model.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

PipelineTrainer::PipelineTrainer(const scenarios::Scenario& scenario,
                                 const scenarios::TrainerOptions& options,
                                 std::unique_ptr<DataSet> data, std::unique_ptr<Model> model)
    : scenario_(scenario),
      keeps_payloads_(options.keeps_payloads),
      cut_(stage_cut(scenario, *model)),
      learner_(of_replicas(scenario, cut_), options, std::move(data), std::move(model),
               ReplicaWeights::kShared, by_stage(scenarios::training_method(scenario), cut_)),
      updates_(learner_.scenario(), learner_.method(), learner_.layout()),
      mean_(static_cast<std::size_t>(learner_.layout().elements())),
      losses_(static_cast<std::size_t>(cut_.replicas)) {
  exchange_ =
      make_set_exchange(learner_.scenario(), learner_.method(), 0, layout(), learner_.states());
  check_samples();
  make_channels(options);
  for (int r = 0; r < cut_.replicas; ++r) {
    boundaries_.emplace_back(channels_, cut_, r, keeps_payloads_);
    gradients_.push_back(learner_.make_gradients());
    sums_.emplace_back(micro_batches() > 1 ? mean_.size() : 0);
    sum_tensors_.emplace_back();
    for (const TensorSlot& slot : layout().tensors())
      if (micro_batches() > 1) sum_tensors_.back().push_back(slice(sums_.back(), slot));
  }
}

void PipelineTrainer::make_channels(const scenarios::TrainerOptions& options) {
  const std::size_t boundaries = cut_.ends.size() - 1;
  StateLimits limits{options.memory, options.states_folder};
  if (limits.memory && boundaries > 0)  // two ends each
    limits.memory = Bytes(limits.memory->count() / (2 * static_cast<std::int64_t>(boundaries)));
  for (std::size_t b = 0; b < boundaries; ++b)
    channels_.push_back(std::make_unique<BoundaryChannel>(boundary(), b, scenario_.seed, limits));
}

/// A batch that crosses an epoch's end may have a sample twice, whose buffer a micro-batch can
/// change once: found out here, not in the middle of a run.
void PipelineTrainer::check_samples() {
  if (!boundary().differences || cut_.ends.size() < 2) return;
  const auto batch = static_cast<std::int64_t>(scenario_.workload.batch_per_worker);
  for (int r = 0; r < cut_.replicas; ++r) {
    const auto all = static_cast<std::int64_t>(learner_.sampler().shard(r).size());
    for (std::int64_t step = 0; step < steps_total(); ++step) {
      if (step * batch % all + batch <= all) continue;
      const std::span<const std::uint32_t> samples = learner_.batch(r, step);
      for (int k = 0; k < micro_batches(); ++k) {
        const auto own = slice(samples, sim::chunk_range(batch, micro_batches(), k));
        std::vector<std::uint32_t> sorted(own.begin(), own.end());
        std::ranges::sort(sorted);
        const auto twice = std::ranges::adjacent_find(sorted);
        if (twice == sorted.end()) continue;
        throw TrainerError("train with buffers of samples", "replica " + std::to_string(r),
                           "sample " + std::to_string(*twice) + " comes twice in micro-batch " +
                               std::to_string(k + 1) + " of step " + std::to_string(step + 1) +
                               ", where an epoch of its " + std::to_string(all) + " samples ends",
                           "a batch that divides that number, another seed, or more micro-batches");
      }
    }
  }
}

void PipelineTrainer::use_profile(const scenarios::ComputeProfile& profile) {
  learner_.use_profile(profile);
  make_graph();
}

void PipelineTrainer::make_graph() {
  scenarios::ComputeProfile profile = learner_.profile();
  const BoundaryTimes times = times_of_boundaries();
  profile.buckets.resize(std::min(profile.buckets.size(), layout().buckets().size()));
  among_replicas_ = make_step_template(learner_.scenario(), layout(), *exchange_, profile);
  graph_ = std::make_unique<PipelineGraph>(scenario_, cut_, layout(), *exchange_, *among_replicas_,
                                           profile, times);
}

GradientSpans PipelineTrainer::gradients_of(int replica) const {
  const auto r = static_cast<std::size_t>(replica);
  return micro_batches() > 1 ? GradientSpans(sum_tensors_[r]) : gradients_[r]->tensors();
}

void PipelineTrainer::add_pass(int replica, float share) {
  const auto r = static_cast<std::size_t>(replica);
  const auto gradients = gradients_[r]->tensors();
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    const std::span<float> to = slice(sums_[r], layout().tensors()[t]);
    for (std::size_t e = 0; e < to.size(); ++e) to[e] += share * gradients[t][e];
  }
}

void PipelineTrainer::pass_of(int replica, int thread) {
  const auto r = static_cast<std::size_t>(replica);
  const std::span<const std::uint32_t> batch = learner_.batch(replica, step_);
  boundaries_[r].begin_step(step_);
  std::ranges::fill(sums_[r], 0.0f);
  losses_[r] = 0;
  for (int k = 0; k < micro_batches(); ++k) {
    const auto own = sim::chunk_range(std::ssize(batch), micro_batches(), k);
    const auto share = static_cast<float>(own.count) / static_cast<float>(batch.size());
    const std::span<const std::uint32_t> samples = slice(batch, own);
    boundaries_[r].begin(static_cast<std::size_t>(k), samples, static_cast<std::size_t>(own.first));
    losses_[r] += share * learner_.pass_stages(samples, replica, thread, step_, replica == 0,
                                               cut_.ends, boundaries_[r], *gradients_[r]);
    if (micro_batches() > 1) add_pass(replica, share);
  }
  if (exchange_->shares_scales())
    exchange_->propose(replica, gradients_of(replica));
  else
    exchange_->encode(replica, gradients_of(replica), step_);
}

bool PipelineTrainer::next(scenarios::StepPlan& plan) {
  GRADWIRE_ASSERT(graph_ != nullptr);
  if (step_ == steps_total()) return false;
  run_step(plan);
  ++step_;
  return true;
}

void PipelineTrainer::run_step(scenarios::StepPlan& plan) {
  std::vector<Bytes> exchanged;
  StepTraffic traffic(*among_replicas_, exchanged);
  sim::Payloads kept;
  if (keeps_payloads_) traffic.keep_in(&kept);
  learner_.pool().run(cut_.replicas, [this](int replica, int thread) { pass_of(replica, thread); });
  if (exchange_->shares_scales()) {
    exchange_->agree(traffic);
    learner_.pool().run(cut_.replicas, [this](int replica, int) {
      exchange_->encode(replica, gradients_of(replica), step_);
    });
  }
  exchange_->combine(traffic, mean_);
  updates_.step(0, learner_.rate(learner_.moment_at(step_)), GradientView(mean_),
                learner_.weights());
  learner_.weights_changed();
  std::vector<BoundaryMessage> messages;
  for (const ReplicaBoundaries& own : boundaries_)
    messages.insert(messages.end(), own.messages().begin(), own.messages().end());
  graph_->fill(messages, exchanged, keeps_payloads_ ? &kept : nullptr, plan);
  fill(plan, cut_.replicas > 1 ? traffic.payload() : Bytes(0), exchanged);
}

std::int64_t PipelineTrainer::epoch_of(std::int64_t step) const {
  return step * scenario_.workload.batch_per_worker * cut_.replicas /
         std::ssize(learner_.data().train);
}

void PipelineTrainer::fill(scenarios::StepPlan& plan, Bytes payload,
                           std::span<const Bytes> exchanged) {
  Row row;
  Hasher hasher;
  hasher.add(chain_);
  Bytes plain{0};
  for (std::size_t r = 0; r < boundaries_.size(); ++r) {
    row.loss += losses_[r] / static_cast<double>(losses_.size());
    hasher.add(losses_[r]);
    for (const BoundaryMessage& message : boundaries_[r].messages()) {
      (message.back ? row.gradient_bytes : row.activation_bytes) += message.bytes.count();
      hasher.add(static_cast<std::uint64_t>(message.bytes.count()));
    }
    row.error.add(boundaries_[r].loss());
    plain += boundaries_[r].plain_bytes();
  }
  row.steps = 1;
  plan.step = step_;
  plan.loss = row.loss;
  plan.payload = payload + Bytes(row.activation_bytes + row.gradient_bytes);
  plan.encoded_values = plain;
  if (cut_.replicas > 1) {
    plain += dense_bytes(exchange_settings(learner_.scenario()), layout());
    *plan.encoded_values += Bytes(4 * layout().elements() * cut_.replicas);
  }
  plan.dense_payload = plain;
  hasher.add(static_cast<std::uint64_t>(plan.payload.count()));
  for (const Bytes bytes : exchanged) hasher.add(static_cast<std::uint64_t>(bytes.count()));
  chain_ = hasher.value();
  plan.after = graph_->edges_from(last_graph_);
  plan.steady = !boundary().differences || epoch_of(step_) > 0;  // the first epoch goes as fp32
  rows_[step_] = row;
  Row& epoch = epochs_[epoch_of(step_)];
  epoch.loss += row.loss;
  epoch.steps += 1;
  epoch.error.add(row.error);
}

void PipelineTrainer::on_submitted(const scenarios::StepPlan&, sim::GraphId graph) {
  last_graph_ = graph;
}

std::vector<scenarios::Figure> PipelineTrainer::on_step_ended(
    const scenarios::StepPlan& plan, const scenarios::StepOutcome& outcome) {
  const Row row = rows_.at(plan.step);
  rows_.erase(plan.step);
  std::vector<scenarios::Figure> figures;
  if (outcome.timeline.ops.size() == graph_->graph()->size()) {
    figures = pipeline_figures(*graph_->graph(), outcome.timeline, cut_.workers());
    waits_.bubble += figures[0].value;
    waits_.exposed += figures[1].value;
    ++waits_.steps;
  }
  figures.push_back({"activation_bytes", static_cast<double>(row.activation_bytes), "B"});
  figures.push_back({"activation_gradient_bytes", static_cast<double>(row.gradient_bytes), "B"});
  if (boundary().forward) {
    figures.push_back({"buffer_error", row.error.buffer_error()});
    figures.push_back({"quantiser_error", row.error.quantiser_error()});
  }
  return figures;
}

std::vector<std::byte> PipelineTrainer::model_file() {
  return keep_model(learner_, weights());
}

scenarios::Evaluation PipelineTrainer::evaluate_file(std::span<const std::byte> file,
                                                     std::string_view subject) {
  return evaluate_kept(learner_, file, subject);
}

std::uint64_t PipelineTrainer::learning_hash() const {
  Hasher hasher;
  hasher.add(chain_);
  hasher.add_bytes(std::as_bytes(learner_.weights()));
  return hasher.value();
}

void PipelineTrainer::save(std::ostream& out) const {
  save_checked(out, [this](std::ostream& content) {
    put<std::uint64_t>(content, channels_.size());
    learner_.save(content);
    updates_.save(content);
    for (const auto& channel : channels_) channel->save(content);
    put(content, step_);
    put(content, chain_);
    put(content, last_graph_.value_or(0));
    put(content, waits_);
    for (const auto* rows : {&rows_, &epochs_}) {
      put<std::uint64_t>(content, rows->size());
      for (const auto& [number, row] : *rows) {
        put(content, number);
        put(content, row);
      }
    }
  });
}

void PipelineTrainer::load(std::istream& in) {
  load_checked(in, [this](std::istream& content) {
    if (get<std::uint64_t>(content) != channels_.size())
      refuse_checkpoint("its model is cut into another number of stages");
    learner_.load(content);
    updates_.load(content);
    for (const auto& channel : channels_) channel->load(content);
    step_ = get<std::int64_t>(content);
    chain_ = get<std::uint64_t>(content);
    last_graph_ = get<sim::GraphId>(content);
    if (last_graph_ == 0) last_graph_.reset();
    waits_ = get<Waits>(content);
    for (auto* rows : {&rows_, &epochs_}) {
      rows->clear();
      for (auto left = get<std::uint64_t>(content); left > 0; --left) {
        const auto number = get<std::int64_t>(content);
        (*rows)[number] = get<Row>(content);
      }
    }
  });
}

}  // namespace gradwire::trainers
