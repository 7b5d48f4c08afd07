#include "trainers/schedules/synchronous/synchronous_trainer.h"

#include <algorithm>
#include <iterator>

#include "base/hash.h"
#include "base/huge_pages.h"
#include "scenarios/methods.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/kept_model.h"
#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/whole_model.h"
#include "trainers/timing/compute_times.h"

namespace gradwire::trainers {

DeviceCodecSettings device_codec_settings(const scenarios::Scenario& scenario) {
  const auto method = scenarios::training_method(scenario);
  const methods::SetPlan last = method->plan(0, method->phases() - 1);
  const compressors::CodecPlan& plan = last.up;
  const bool several = method->sets() > 1 || method->phases() > 1 || method->updates_at_server() ||
                       last.down || last.weights_down || method->buffers() > 0 ||
                       method->decides_every() > 0 || method->acts_on_model();
  return {plan.codec.name, plan.codec.options, plan.error_feedback, scenario.seed,
          plan.decorated() || several};
}

namespace {

bool remembers_errors(const methods::Method& method) {
  for (std::size_t set = 0; set < method.sets(); ++set)
    if (method.plan(set, method.phases() - 1).up.error_feedback) return true;
  return false;
}

}  // namespace

SynchronousTrainer::SynchronousTrainer(const scenarios::Scenario& scenario,
                                       const scenarios::TrainerOptions& options,
                                       std::unique_ptr<DataSet> data, std::unique_ptr<Model> model)
    : learner_(scenario, options, std::move(data), std::move(model), replica_weights(scenario)),
      keeps_payloads_(options.keeps_payloads),
      weights_(learner_.weights()),
      mean_(zeros_in_huge_pages<float>(weights_.size())),
      exchange_settings_(exchange_settings(learner_.scenario())),
      updates_(learner_.scenario(), method(), layout()),
      acts_(learner_, updates_),
      tensors_(tensors_in_layout()),
      arrivals_(make_arrivals(learner_, updates_)),
      losses_(static_cast<std::size_t>(workers())) {
  if (const DeviceMemory memory = learner_.replica(0).device_memory(); memory.weights) {
    set_up_device(memory);
  }
  phase_ = method().phase(moment());
  exchange_ = exchange_in(phase_);
  if (remembers_errors(method()))
    require_memory(learner_, "gradients and residuals", 2);
  else
    require_memory(learner_, "gradients");
  for (std::size_t w = 0; w < losses_.size(); ++w) gradients_.push_back(learner_.make_gradients());
  if (sends_own()) make_local_sums();
  memory_.assign(method().buffers(), std::vector<float>(weights_.size()));
  if (method().decides_every() > 0) sums_.resize(weights_.size());
  if (zero() > 0) {
    gather_ = std::make_unique<WeightGather>(layout(), workers(), gathers_in(zero()));
    gather_->take(weights_);
  }
  GRADWIRE_ASSERT(!device_update_ || !arrivals_->workers_differ());
}

void SynchronousTrainer::make_local_sums() {
  local_sums_.assign(losses_.size(), std::vector<float>(weights_.size()));
  for (const std::vector<float>& sum : local_sums_) {
    local_tensors_.emplace_back();
    for (const TensorSlot& slot : layout().tensors())
      local_tensors_.back().push_back(slice(sum, slot));
  }
}

GradientSpans SynchronousTrainer::gradients_of(int worker) const {
  const auto w = static_cast<std::size_t>(worker);
  return local_tensors_.empty() ? gradients_[w]->tensors() : GradientSpans(local_tensors_[w]);
}

std::unique_ptr<Exchange> SynchronousTrainer::exchange_in(std::size_t phase) {
  const auto plan_of = [&](std::size_t set) {
    return decided_.empty() ? method().plan(set, phase)
                            : method().decided_plan(set, phase, tensors_, decided_);
  };
  return make_set_exchange(scenario(), method(), plan_of, layout(), learner_.states(),
                           [this](ExchangeSettings& settings) {
                             settings.device = encoder_.get();
                             if (!settings.kept.empty()) settings.mask = acts_.remembered();
                           });
}

void SynchronousTrainer::enter_phase() {
  const std::size_t phase = method().phase(moment());
  if (phase == phase_) return;
  phase_ = phase;
  exchange_ = exchange_in(phase_);
  make_template();
}

void SynchronousTrainer::set_up_device(DeviceMemory memory) {
  GRADWIRE_ASSERT(learner_.pool().threads() == 1);
  encoder_ = make_device_encoder(device_codec_settings(scenario()), layout(), memory.stream);
  const std::optional<DeviceRule> rule = updates_.only().rule().on_device();
  GRADWIRE_ASSERT(rule);  // make_trainer keeps weights on the host where there is none
  device_update_ = make_device_update(*rule, memory, mean_);
}

std::span<const float> SynchronousTrainer::weights() const {
  if (device_update_) device_update_->download(weights_, updates_.only());
  return weights_;
}

std::vector<scenarios::Figure> SynchronousTrainer::figures() const {
  std::vector<scenarios::Figure> figures = arrivals_->figures();
  std::ranges::move(acts_.figures(), std::back_inserter(figures));
  std::ranges::move(memory_of_ranks(), std::back_inserter(figures));
  return figures;
}

const scenarios::ComputeProfile& SynchronousTrainer::prepare() {
  if (template_) return learner_.profile();  // frozen times were given
  learner_.prepare(*exchange_in(timed_phase(method())), device_update_.get());
  make_template();
  return learner_.profile();
}

void SynchronousTrainer::use_profile(const scenarios::ComputeProfile& profile) {
  learner_.use_profile(profile);
  make_template();
}

void SynchronousTrainer::make_template() {
  const scenarios::ComputeProfile now = times_of_steps();
  template_ = make_step_template(scenario(), layout(), *exchange_, now);
  seconds_ = template_->seconds(now, scenario().cluster.slowdown);
}

void SynchronousTrainer::pass_of(int worker, int thread) {
  const auto w = static_cast<std::size_t>(worker);
  if (arrivals_->workers_differ() || local_steps() > 1)
    learner_.place(thread, arrivals_->weights_of(worker));
  if (method().computes())
    compute_of(worker, thread);
  else if (local_steps() > 1)
    local_steps_of(worker, thread);
  else if (micro_batches() > 1)
    micro_batches_of(worker, thread);
  else if (encoders_look(w))
    return pass_and_send(worker, thread);
  else
    losses_[w] = learner_.pass(worker, thread, step_, step_, worker == 0, *gradients_[w]);
  send(worker);
}

void SynchronousTrainer::send(int worker) {
  if (exchange_->shares_scales()) {
    exchange_->propose(worker, gradients_of(worker));
  } else {
    exchange_->encode(worker, gradients_of(worker), step_);
  }
}

/// Codecs refuse what is not finite, so that gradients need no look beforehand.
bool SynchronousTrainer::encoders_look(std::size_t worker) const {
  return workers() > 1 && gradients_[worker]->on_host() && !method().takes_any_gradient();
}

void SynchronousTrainer::pass_and_send(int worker, int thread) {
  const auto w = static_cast<std::size_t>(worker);
  losses_[w] = learner_.pass_into(worker, thread, step_, step_, worker == 0, *gradients_[w],
                                  [&](const Gradients& own) {
                                    try {
                                      send(worker);
                                    } catch (const compressors::CodecError&) {
                                      if (all_finite(own)) throw;
                                      return false;
                                    }
                                    return true;
                                  });
}

void SynchronousTrainer::local_steps_of(int worker, int thread) {
  const auto w = static_cast<std::size_t>(worker);
  const std::span<float> own = learner_.placed(thread);
  const auto rate = static_cast<float>(learner_.rate(moment()));
  std::vector<float>& sum = local_sums_[w];
  std::ranges::fill(sum, 0.0f);
  losses_[w] = 0;
  for (int h = 0; h < local_steps(); ++h) {
    losses_[w] += learner_.pass(worker, thread, step_ * local_steps() + h, step_, worker == 0,
                                *gradients_[w]) /
                  local_steps();
    const auto gradients = gradients_[w]->tensors();
    for (std::size_t t = 0; t < gradients.size(); ++t) {
      const auto first = static_cast<std::size_t>(layout().tensors()[t].first);
      for (std::size_t e = 0; e < gradients[t].size(); ++e) {
        sum[first + e] += gradients[t][e];
        own[first + e] -= rate * gradients[t][e];
      }
    }
    learner_.weights_changed(thread);
  }
}

bool SynchronousTrainer::next(scenarios::StepPlan& plan) {
  GRADWIRE_ASSERT(template_ != nullptr);
  if (step_ == steps_total()) return false;
  plan.alone = arrivals_->waits();
  if (plan.alone) arrivals_->begin(chain_);
  run_step(plan);
  if (plan.alone) return true;  // on_step_ended makes the update
  ++step_;
  decide();
  return true;
}

std::vector<scenarios::Figure> SynchronousTrainer::on_step_ended(
    const scenarios::StepPlan& plan, const scenarios::StepOutcome& outcome) {
  if (!arrivals_->waits()) return {};
  lost_ = !outcome.missing.empty();
  std::vector<scenarios::Figure> figures = arrivals_->end(
      {.phase = phase_,
       .moment = moment(),
       .exchange = *exchange_,
       .mean = mean_,
       .missing = outcome.missing,
       .payload = plan.payload,
       .exchange_again = [&] { exchange_again(outcome.missing); },
       .update_at_server = [this](std::span<float> mean, int w) { update_at_server(mean, w); }});
  ++step_;
  return figures;
}

void SynchronousTrainer::exchange_again(std::span<const sim::MissingData> missing) {
  std::vector<Bytes> bytes;
  StepTraffic traffic(*template_, bytes, missing);
  if (exchange_->shares_scales()) exchange_->agree(traffic);
  encode_all();
  exchange_->combine(traffic, mean_);
}

std::span<const float> SynchronousTrainer::weights_of(int worker) const {
  return arrivals_->weights_of(worker);
}

std::span<const float> SynchronousTrainer::mean_of(int worker) const {
  return lost_ ? exchange_->replica(worker) : std::span<const float>(mean_);
}

void SynchronousTrainer::run_step(scenarios::StepPlan& plan) {
  enter_phase();
  acts_.begin_step(moment());
  StepTraffic traffic(*template_, plan.bytes);
  const auto payloads = keeps_payloads_ ? std::make_shared<sim::Payloads>() : nullptr;
  traffic.keep_in(payloads.get());
  plan.payloads = payloads;
  gather_before(traffic);
  learner_.forget_places();
  learner_.pool().run(workers(), [this](int worker, int thread) { pass_of(worker, thread); });
  if (exchange_->shares_scales()) {
    exchange_->agree(traffic);
    encode_all();
  }
  exchange_->combine(traffic, mean_);
  if (!plan.alone) end_step(traffic);
  fill(plan, traffic.payload());
}

void SynchronousTrainer::encode_all() {
  learner_.pool().run(workers(), [this](int worker, int) {
    exchange_->encode(worker, gradients_of(worker), step_);
  });
}

void SynchronousTrainer::fill(scenarios::StepPlan& plan, Bytes payload) {
  plan.step = step_;
  plan.graph = template_->graph();
  plan.seconds = seconds_;
  plan.payload = payload;
  plan.dense_payload = dense_bytes(exchange_settings_, layout());
  plan.dense_messages = dense_messages(exchange_settings_, layout());
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
  plan.after = template_->edges_from(last_graph_, last_ends_);
  last_ends_.assign(template_->ends().begin(), template_->ends().end());
  plan.steady = phase_ + 1 == method().phases();
}

void SynchronousTrainer::on_submitted(const scenarios::StepPlan&, sim::GraphId graph) {
  last_graph_ = graph;
}

scenarios::Evaluation SynchronousTrainer::evaluate() {
  // Weights that are not finite make no model: their loss says so.
  const bool made = method().makes_model() && all_finite(learner_.weights());
  return made ? evaluate_file(model_file(), "of this run") : learner_.evaluate();
}

std::vector<std::byte> SynchronousTrainer::model_file() {
  if (method().makes_model()) return keep_model(learner_, acts_.made_model(moment()));
  return keep_model(learner_, weights());
}

scenarios::Evaluation SynchronousTrainer::evaluate_file(std::span<const std::byte> file,
                                                        std::string_view subject) {
  return evaluate_kept(learner_, file, subject);
}

std::string SynchronousTrainer::warm_up_note() const {
  if (method().phases_alternate()) return "";
  std::int64_t steps = 0;
  while (steps < steps_total() && method().phase(learner_.moment_at(steps)) + 1 < method().phases())
    ++steps;
  if (steps == 0) return "";
  return "the first " + std::to_string(steps) + " of " + std::to_string(steps_total()) +
         " steps are a warm-up, whose messages have other sizes; predictions are of the steps "
         "after "
         "it";
}

std::vector<std::string> SynchronousTrainer::notes() const {
  std::vector<std::string> notes = learner_.notes();
  if (const std::string note = warm_up_note(); !note.empty()) notes.push_back(note);
  if (const std::string note = scenarios::policy_note(scenario()); !note.empty())
    notes.push_back(note);
  const bool sums = exchange_settings_.codec->policy() == compressors::AggregatePolicy::kSum;
  if (encoder_ && sums && device_codec_settings(scenario()).error_feedback)
    notes.emplace_back(
        "device cuda computes the passes and updates the weights, but gradients are encoded on the "
        "host: error feedback of sums has no CUDA version");
  return notes;
}

std::uint64_t SynchronousTrainer::learning_hash() const {
  weights();  // those of a device
  Hasher hasher;
  hasher.add(chain_);
  arrivals_->add_weights(hasher);
  return hasher.value();
}

}  // namespace gradwire::trainers
