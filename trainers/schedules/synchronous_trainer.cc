#include "trainers/schedules/synchronous_trainer.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "scenarios/methods.h"
#include "trainers/routes/auto_collective.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/timing/compute_times.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

bool measured_here(const scenarios::Scenario& scenario) {
  return scenario.cluster.device == "cpu" || scenario.cluster.device == "cuda";
}

/// A GPU runs one pass at a time; more threads than workers would idle.
int threads_of(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options) {
  if (scenario.cluster.device == "cuda") return 1;
  return std::clamp(options.threads, 1, std::max(1, scenario.cluster.workers));
}

}  // namespace

DeviceCodecSettings device_codec_settings(const scenarios::Scenario& scenario) {
  const auto method = scenarios::training_method(scenario);
  const compressors::CodecPlan plan = method->plan(0, method->phases() - 1).up;
  const bool several = method->sets() > 1 || method->phases() > 1 || method->updates_at_server();
  return {plan.codec.name, plan.codec.options, plan.error_feedback, scenario.seed,
          plan.decorated() || several};
}

SynchronousTrainer::SynchronousTrainer(const scenarios::Scenario& scenario,
                                       const scenarios::TrainerOptions& options,
                                       std::unique_ptr<DataSet> data, std::unique_ptr<Model> model)
    : data_(std::move(data)),
      model_(std::move(model)),
      method_(scenarios::training_method(scenario)),
      layout_(model_->parameters(), scenario.exchange.bucket,
              sets_of(*method_, model_->parameters())),
      choice_(choose_collective(scenario, layout_)),
      scenario_(with_choice(scenario, choice_)),
      weights_(static_cast<std::size_t>(layout_.elements())),
      mean_(weights_.size()),
      statistics_(model_->initial_statistics()),
      sampler_(data_->train, scenario.cluster.workers, scenario.workload.batch_per_worker,
               scenario.seed),
      exchange_settings_(exchange_settings(scenario_)),
      updates_(scenario_, *method_, layout_),
      rates_(rate_schedule(scenario_, data_->train.size())),
      pool_(threads_of(scenario, options)),
      batches_(static_cast<std::size_t>(pool_.threads())),
      losses_(static_cast<std::size_t>(scenario.cluster.workers)) {
  scenario_.cluster.slowdown.resize(losses_.size(), 1.0);
  initialise(model_->parameters(), layout_, scenario.seed, weights_);
  for (int thread = 0; thread < pool_.threads(); ++thread) {
    replicas_.push_back(model_->make_replica(layout_, weights_, statistics_));
  }
  if (const DeviceMemory memory = replicas_[0]->device_memory(); memory.weights) {
    set_up_device(memory);
  }
  phase_ = method_->phase(moment());
  exchange_ = exchange_in(phase_);
  for (std::size_t w = 0; w < losses_.size(); ++w) {
    gradients_.push_back(replicas_[0]->make_gradients());
  }
}

Moment SynchronousTrainer::moment_at(std::int64_t step) const {
  return {.step = step, .round = step, .epoch = epochs_of(scenario_, data_->train.size(), step)};
}

std::unique_ptr<Exchange> SynchronousTrainer::exchange_in(std::size_t phase) {
  return make_set_exchange(
      scenario_, *method_, phase, layout_, states_,
      [this](ExchangeSettings& settings) { settings.device = encoder_.get(); });
}

void SynchronousTrainer::enter_phase() {
  const std::size_t phase = method_->phase(moment());
  if (phase == phase_) return;
  phase_ = phase;
  exchange_ = exchange_in(phase_);
  use_profile(profile_);
}

void SynchronousTrainer::update_at_server(std::span<float> mean, int owner) {
  if (!method_->updates_at_server()) return;
  const auto infos = tensor_infos(model_->parameters());
  for (const TensorSlot& slot : layout_.tensors()) {
    const auto& info = infos[static_cast<std::size_t>(slot.parameter)];
    const std::span<std::byte> bytes =
        states_.at({owner, slot.parameter, Direction::kDown}, 4 * method_->server_state(info));
    method_->at_server(
        info, moment(),
        mean.subspan(static_cast<std::size_t>(slot.first), static_cast<std::size_t>(slot.count)),
        {reinterpret_cast<float*>(bytes.data()), bytes.size() / 4});
  }
}

void SynchronousTrainer::set_up_device(DeviceMemory memory) {
  GRADWIRE_ASSERT(pool_.threads() == 1);
  encoder_ = make_device_encoder(device_codec_settings(scenario_), layout_, memory.stream);
  const std::optional<DeviceRule> rule = updates_.only().rule().on_device();
  GRADWIRE_ASSERT(rule);  // make_trainer keeps weights on the host where there is none
  device_update_ = make_device_update(*rule, memory, mean_);
}

void SynchronousTrainer::update() {
  const double rate = rate_at(rates_, moment());
  if (device_update_) return device_update_->step(rate, mean_);
  updates_.step(phase_, rate, mean_, weights_);
  for (const auto& replica : replicas_) replica->weights_changed();
}

std::span<const float> SynchronousTrainer::weights() const {
  if (device_update_) device_update_->download(weights_, updates_.only());
  return weights_;
}

const scenarios::ComputeProfile& SynchronousTrainer::prepare() {
  if (template_) return profile_;  // frozen times were given
  const auto timed = exchange_in(timed_phase(*method_));
  if (!measured_here(scenario_)) {
    use_profile(times_from_profile(scenario_, *method_, layout_, *timed));
    return profile_;
  }
  gather(*data_, sampler_.batch(0, 0), batches_[0]);
  const bool applies = method_->plan(0, timed_phase(*method_)).update_momentum;
  use_profile(measure_times({layout_, *replicas_[0], *timed, batches_[0], weights_,
                             update_settings(scenario_, applies), model_->device_name(),
                             device_update_.get()}));
  return profile_;
}

void SynchronousTrainer::use_profile(const scenarios::ComputeProfile& profile) {
  if (&profile != &profile_) profile_ = profile;
  const scenarios::ComputeProfile now = in_phase(profile_, *method_, phase_, layout_);
  template_ = make_step_template(scenario_, layout_, *exchange_, now);
  seconds_ = template_->seconds(now, scenario_.cluster.slowdown);
}

void SynchronousTrainer::pass_of(int worker, int thread) {
  const auto w = static_cast<std::size_t>(worker), t = static_cast<std::size_t>(thread);
  gather(*data_, sampler_.batch(worker, step_), batches_[t]);
  place_weights(worker, thread);
  losses_[w] = replicas_[t]->train_pass(batches_[t], *gradients_[w], worker == 0);
  if (!std::isfinite(losses_[w])) {
    throw TrainerError("train", "step " + std::to_string(step_),
                       "the loss of worker " + std::to_string(worker) + " is not finite",
                       "lower the learning rate");
  }
  if (exchange_->shares_scales()) {
    exchange_->propose(worker, gradients_[w]->tensors());
  } else {
    exchange_->encode(worker, gradients_[w]->tensors(), step_);
  }
}

bool SynchronousTrainer::next(scenarios::StepPlan& plan) {
  GRADWIRE_ASSERT(template_ != nullptr);
  if (step_ == steps_total()) return false;
  run_step(plan);
  update_at_server(mean_);
  update();
  ++step_;
  return true;
}

void SynchronousTrainer::run_step(scenarios::StepPlan& plan) {
  enter_phase();
  StepTraffic traffic(*template_, plan.bytes);
  pool_.run(workers(), [this](int worker, int thread) { pass_of(worker, thread); });
  if (exchange_->shares_scales()) {
    exchange_->agree(traffic);
    encode_all();
  }
  exchange_->combine(traffic, mean_);
  fill(plan, traffic.payload());
}

void SynchronousTrainer::encode_all() {
  pool_.run(workers(), [this](int worker, int) {
    exchange_->encode(worker, gradients_[static_cast<std::size_t>(worker)]->tensors(), step_);
  });
}

void SynchronousTrainer::fill(scenarios::StepPlan& plan, Bytes payload) {
  plan.step = step_;
  plan.graph = template_->graph();
  plan.seconds = seconds_;
  plan.payload = payload;
  plan.dense_payload = dense_bytes(exchange_settings_, layout_);
  plan.loss = 0;
  Hasher hasher;
  hasher.add(chain_);
  for (const double loss : losses_) {
    plan.loss += loss / static_cast<double>(losses_.size());
    hasher.add(loss);
  }
  hasher.add(static_cast<std::uint64_t>(payload.count()));
  for (const Bytes bytes : plan.bytes) hasher.add(static_cast<std::uint64_t>(bytes.count()));
  chain_ = hasher.value();
  plan.after = template_->edges_from(last_graph_, last_updates_);
  last_updates_.assign(template_->updates().begin(), template_->updates().end());
  plan.steady = phase_ + 1 == method_->phases();
}

void SynchronousTrainer::on_submitted(const scenarios::StepPlan&, sim::GraphId graph) {
  last_graph_ = graph;
}

scenarios::Evaluation SynchronousTrainer::evaluate() {
  constexpr std::size_t kPart = 200;
  const std::span<const std::uint32_t> all = data_->held_out;
  const std::size_t parts = (all.size() + kPart - 1) / kPart;
  std::vector<Score> scores(parts);
  pool_.run(static_cast<int>(parts), [&](int part, int thread) {
    const auto p = static_cast<std::size_t>(part), t = static_cast<std::size_t>(thread);
    gather(*data_, all.subspan(p * kPart, std::min(kPart, all.size() - p * kPart)), batches_[t]);
    scores[p] = replicas_[t]->evaluate(batches_[t]);
  });
  Score total;
  for (const Score& score : scores) {
    total.loss += score.loss;
    total.right += score.right;
    total.count += score.count;
  }
  return {total.loss / total.count, total.right / total.count};
}

std::string SynchronousTrainer::warm_up_note() const {
  std::int64_t steps = 0;
  while (steps < steps_total() && method_->phase(moment_at(steps)) + 1 < method_->phases()) ++steps;
  if (steps == 0) return "";
  return "the first " + std::to_string(steps) + " of " + std::to_string(steps_total()) +
         " steps are a warm-up, whose messages have other sizes; predictions are of the steps "
         "after "
         "it";
}

std::vector<std::string> SynchronousTrainer::notes() const {
  std::vector<std::string> notes = notes_;
  if (const std::string note = warm_up_note(); !note.empty()) notes.push_back(note);
  if (const std::string note = scenarios::policy_note(scenario_); !note.empty())
    notes.push_back(note);
  const bool sums = exchange_settings_.codec->policy() == compressors::AggregatePolicy::kSum;
  if (encoder_ && sums && device_codec_settings(scenario_).error_feedback)
    notes.emplace_back(
        "device cuda computes the passes and updates the weights, but gradients are encoded on the "
        "host: error feedback of sums has no CUDA version");
  return notes;
}

std::uint64_t SynchronousTrainer::learning_hash() const {
  Hasher hasher;
  hasher.add(chain_);
  hasher.add_bytes(std::as_bytes(weights()));
  return hasher.value();
}

}  // namespace gradwire::trainers
