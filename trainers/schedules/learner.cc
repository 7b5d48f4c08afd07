#include "trainers/schedules/learner.h"

#include <algorithm>
#include <cmath>

#include "base/huge_pages.h"
#include "base/serial.h"
#include "scenarios/diverged.h"
#include "scenarios/methods.h"
#include "trainers/routes/auto_collective.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/scenario_update.h"
#include "trainers/schedules/whole_model.h"
#include "trainers/timing/compute_times.h"
#include "trainers/trainer_error.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kScored = 200;  ///< samples of a batch of an evaluation

bool measured_here(const scenarios::Scenario& scenario) {
  return scenario.cluster.device == "cpu" || scenario.cluster.device == "cuda";
}

/// A GPU runs one pass at a time; more threads than workers would idle.
int threads_of(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options) {
  if (scenario.cluster.device == "cuda") return 1;
  return std::clamp(options.threads, 1, std::max(1, scenario.cluster.workers));
}

double root_mean_square_difference(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    const double difference = static_cast<double>(a[e]) - static_cast<double>(b[e]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// Of all parts of the held-out samples, in their order.
scenarios::Evaluation evaluation_of(std::span<const Score> scores) {
  Score total;
  for (const Score& score : scores) {
    total.loss += score.loss;
    total.right += score.right;
    total.count += score.count;
  }
  return {total.loss / total.count, total.right / total.count};
}

}  // namespace

Learner::Learner(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                 std::unique_ptr<DataSet> data, std::unique_ptr<Model> model,
                 ReplicaWeights replicas, std::unique_ptr<methods::Method> method)
    : data_(std::move(data)),
      model_(std::move(model)),
      method_(method ? std::move(method) : scenarios::training_method(scenario)),
      layout_(model_->parameters(), scenario.exchange.bucket,
              sets_of(*method_, model_->parameters())),
      choice_(choose_collective(scenario, layout_)),
      scenario_(with_choice(scenario, choice_)),
      weights_(zeros_in_huge_pages<float>(static_cast<std::size_t>(layout_.elements()))),
      statistics_(model_->initial_statistics()),
      options_(method_->passes()),
      sampler_(make_partition(*data_, scenario.workload.partition,
                              scenario.cluster.workers / method_->copies(), scenario.seed),
               scenario.workload.batch_per_worker, scenario.seed, method_->copies()),
      rates_(rate_schedule(scenario_, data_->train.size())),
      pool_(threads_of(scenario, options)),
      batches_(static_cast<std::size_t>(pool_.threads())) {
  options_.checkpoint_segments = scenario.workload.checkpoint_activations;
  scenario_.cluster.slowdown.resize(static_cast<std::size_t>(workers()), 1.0);
  initialise(model_->parameters(), layout_, scenario.seed, weights_);
  const UpdateInfo* const update = find_update(scenario.workload.optimizer);
  if (update && update->starts_at_zero) std::ranges::fill(weights_, 0.0f);
  if (replicas == ReplicaWeights::kPlaced) placed_.assign(batches_.size(), weights_);
  for (std::size_t thread = 0; thread < batches_.size(); ++thread) {
    std::vector<float>& weights = placed_.empty() ? weights_ : placed_[thread];
    replicas_.push_back(model_->make_replica(layout_, weights, statistics_));
    used_.push_back(replicas_.back().get());
  }
  kept_.resize(placed_.size());
}

Moment Learner::moment_at(std::int64_t step) const {
  return {.step = step, .round = step, .epoch = epochs_of(scenario_, data_->train.size(), step)};
}

void Learner::weights_changed() {
  for (const auto& replica : replicas_) replica->weights_changed();
}

void Learner::place(int thread, std::span<const float> weights) {
  const auto t = static_cast<std::size_t>(thread);
  std::ranges::copy(weights, placed_[t].begin());
  used_[t] = replicas_[t].get();
  weights_changed(thread);
}

void Learner::place_kept(int thread, std::span<const float> weights) {
  const auto t = static_cast<std::size_t>(thread);
  Places& places = kept_[t];
  const auto same = [&](const Place& place) { return place.source == weights.data(); };
  auto place = std::ranges::find_if(places, same);
  const bool there = place != places.end();
  if (!there) --place;  // in the place of the one that was not used for the longest time
  std::rotate(places.begin(), place, place + 1);
  Place& own = places.front();
  if (!own.replica) {
    own.weights.resize(weights_.size());
    own.replica = model_->make_replica(layout_, own.weights, statistics_);
  }
  used_[t] = own.replica.get();
  if (there) return;
  std::ranges::copy(weights, own.weights.begin());
  own.source = weights.data();
  weights_changed(thread);
}

void Learner::forget_places() {
  for (Places& places : kept_)
    for (Place& place : places) place.source = nullptr;
}

const Batch& Learner::batch_for_pass(std::span<const std::uint32_t> samples, int worker, int thread,
                                     std::int64_t step, bool record, PassOptions& options) {
  Batch& batch = batches_[static_cast<std::size_t>(thread)];
  gather(*data_, samples, batch);
  if (method_->augments() && !data_->is_text())
    method_->augment({batch.count, data_->channels, data_->height, data_->width, batch.inputs},
                     {scenario_.seed, static_cast<std::uint32_t>(step),
                      static_cast<std::uint32_t>(worker), kAugmentStream});
  options = options_;
  options.record_statistics = record;
  options.draws = {.seed = scenario_.seed,
                   .step = static_cast<std::uint32_t>(step),
                   .worker = static_cast<std::uint32_t>(worker)};
  if (!layer_memory_.empty())
    options.layer_memory = layer_memory_[static_cast<std::size_t>(worker)];
  return batch;
}

double Learner::train_pass(std::span<const std::uint32_t> samples, int worker, int thread,
                           std::int64_t step, bool record, Gradients& gradients) {
  PassOptions options;
  const Batch& batch = batch_for_pass(samples, worker, thread, step, record, options);
  return replica(thread).train_pass(batch, options, gradients);
}

double Learner::pass_stages(std::span<const std::uint32_t> samples, int worker, int thread,
                            std::int64_t step, bool record, std::span<const std::size_t> ends,
                            StageBoundaries& boundaries, Gradients& gradients) {
  PassOptions options;
  const Batch& batch = batch_for_pass(samples, worker, thread, step, record, options);
  const double loss = replica(thread).train_stages(batch, options, ends, boundaries, gradients);
  check_finite(worker, step, loss, !gradients.on_host() || all_finite(gradients));
  return loss;
}

double Learner::pass(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
                     Gradients& gradients) {
  return pass_over(sampler_.batch(worker, draw), worker, thread, step, record, gradients);
}

double Learner::pass_over(std::span<const std::uint32_t> samples, int worker, int thread,
                          std::int64_t step, bool record, Gradients& gradients) {
  const double loss = train_pass(samples, worker, thread, step, record, gradients);
  const bool any = !gradients.on_host() || method_->takes_any_gradient();
  check_finite(worker, step, loss, any || all_finite(gradients));
  return loss;
}

double Learner::local_pass(int worker, int thread, std::int64_t draw, std::int64_t step,
                           bool record, Gradients& gradients) {
  const double loss =
      train_pass(sampler_.batch(worker, draw), worker, thread, step, record, gradients);
  check_finite(worker, step, loss, true);
  return loss;
}

void Learner::check_local(int worker, std::int64_t step, bool finite) const {
  if (!finite) diverge("gradient", worker, step);
}

void Learner::diverge(const char* what, int worker, std::int64_t step) const {
  std::string reason =
      std::string("the ") + what + " of worker " + std::to_string(worker) + " is not finite";
  // An update of finite values leaves no weight infinite.
  if (!all_finite(std::span<const float>(weights_))) reason += ", nor are its weights";
  throw scenarios::Diverged("train", "step " + std::to_string(step + 1), reason,
                            scenarios::diverged_remedy(scenario_));
}

void Learner::check_finite(int worker, std::int64_t step, double loss, bool gradients_are) const {
  if (!std::isfinite(loss)) diverge("loss", worker, step);
  if (!gradients_are) diverge("gradient", worker, step);
}

double Learner::pass_into(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
                          Gradients& gradients, std::span<float> flat) {
  return pass_into(worker, thread, draw, step, record, gradients,
                   [&](const Gradients& own) { return copy_finite(own, layout_, flat); });
}

double Learner::pass_into(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
                          Gradients& gradients, const TakeGradient& take) {
  const double loss =
      train_pass(sampler_.batch(worker, draw), worker, thread, step, record, gradients);
  check_finite(worker, step, loss, take(gradients));
  return loss;
}

scenarios::Evaluation Learner::evaluate() {
  return placed_.empty() ? score() : evaluate(weights_);
}

scenarios::Evaluation Learner::evaluate(std::span<const float> weights) {
  GRADWIRE_ASSERT(!placed_.empty());
  for (int thread = 0; thread < pool_.threads(); ++thread) place(thread, weights);
  return score();
}

scenarios::Evaluation Learner::evaluate_with(std::span<float> weights,
                                             std::span<float> statistics) {
  const auto exchange = [&] {
    std::ranges::swap_ranges(weights, weights_);
    std::ranges::swap_ranges(statistics, statistics_);
    weights_changed();
  };
  exchange();
  const scenarios::Evaluation evaluation = evaluate();
  exchange();
  return evaluation;
}

/// A batch of a pass's size, of some training samples.
Batch Learner::some_batch() const {
  std::vector<std::uint32_t> samples(static_cast<std::size_t>(samples_of_pass(scenario_.workload)));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = data_->train[i % data_->train.size()];
  Batch batch;
  gather(*data_, samples, batch);
  return batch;
}

std::optional<std::int64_t> Learner::activation_bytes() const {
  PassOptions options = options_;
  std::vector<float> memory;
  if (!layer_memory_.empty()) memory.assign(layer_memory_[0].begin(), layer_memory_[0].end());
  options.layer_memory = memory;
  options.watch_layers = false;
  return replicas_[0]->activation_bytes(some_batch(), options);
}

std::vector<std::int64_t> Learner::stage_activation_bytes(std::span<const std::size_t> ends) const {
  return replicas_[0]->stage_activation_bytes(some_batch(), options_, ends);
}

Learner::WatchedPass Learner::watched_pass() const {
  GRADWIRE_ASSERT(!layer_memory_.empty());
  WatchedPass pass;
  pass.layer_memory.assign(layer_memory_[0].begin(), layer_memory_[0].end());
  std::vector<float> nothing(pass.layer_memory.size());
  PassOptions plain = options_, watched = options_;
  plain.layer_memory = nothing;
  plain.watch_layers = false;
  watched.layer_memory = pass.layer_memory;
  watched.watch_layers = true;
  const Batch batch = some_batch();
  std::vector<float> with(weights_.size()), without(weights_.size());
  for (const auto& [options, flat] : {std::pair(&plain, &without), std::pair(&watched, &with)}) {
    const std::unique_ptr<Gradients> gradients = make_gradients();
    replicas_[0]->train_pass(batch, *options, *gradients);
    copy_finite(*gradients, layout_, *flat);
  }
  for (std::size_t t = 0; t < layout_.tensors().size(); ++t) {
    const TensorSlot& slot = layout_.tensors()[layout_.tensor_of(static_cast<int>(t))];
    pass.errors.push_back(root_mean_square_difference(slice(with, slot), slice(without, slot)));
  }
  return pass;
}

std::vector<double> Learner::accuracy_by_worker() {
  GRADWIRE_ASSERT(!placed_.empty());
  for (int thread = 0; thread < pool_.threads(); ++thread) place(thread, weights_);
  std::vector<double> shares(static_cast<std::size_t>(workers()));
  pool_.run(workers(), [&](int worker, int thread) {
    const std::span<const std::uint32_t> own = sampler_.shard(worker);
    double right = 0, count = 0;
    for (std::size_t at = 0; at < own.size(); at += kScored) {
      const Score score = score_of(own.subspan(at, std::min(kScored, own.size() - at)), thread);
      right += score.right;
      count += score.count;
    }
    shares[static_cast<std::size_t>(worker)] = right / count;
  });
  return shares;
}

Score Learner::score_of(std::span<const std::uint32_t> samples, int thread) {
  const auto t = static_cast<std::size_t>(thread);
  gather(*data_, samples, batches_[t]);
  return replica(thread).evaluate(batches_[t], options_);
}

scenarios::Evaluation Learner::score() {
  const std::span<const std::uint32_t> all = data_->held_out;
  const std::size_t parts = (all.size() + kScored - 1) / kScored;
  std::vector<Score> scores(parts);
  pool_.run(static_cast<int>(parts), [&](int part, int thread) {
    const auto p = static_cast<std::size_t>(part), at = p * kScored;
    scores[p] = score_of(all.subspan(at, std::min(kScored, all.size() - at)), thread);
  });
  return evaluation_of(scores);
}

scenarios::Evaluation Learner::evaluate_on(Replica& replica) const {
  const std::span<const std::uint32_t> all = data_->held_out;
  std::vector<Score> scores;
  Batch batch;
  for (std::size_t at = 0; at < all.size(); at += kScored) {
    gather(*data_, all.subspan(at, std::min(kScored, all.size() - at)), batch);
    scores.push_back(replica.evaluate(batch, options_));
  }
  return evaluation_of(scores);
}

const scenarios::ComputeProfile& Learner::prepare(Exchange& timed, DeviceUpdate* device) {
  GRADWIRE_ASSERT(!has_profile_);
  if (!measured_here(scenario_)) {
    use_profile(times_from_profile(scenario_, *method_, layout_, timed));
    return profile_;
  }
  const auto samples = static_cast<std::size_t>(samples_of_pass(scenario_.workload));
  gather(*data_, sampler_.batch(0, 0).first(samples), batches_[0]);
  const bool applies = method_->plan(0, timed_phase(*method_)).update_momentum;
  use_profile(measure_times({layout_, *replicas_[0], timed, batches_[0], options_, weights_,
                             update_settings(scenario_, applies), model_->device_name(), device}));
  return profile_;
}

void Learner::use_profile(const scenarios::ComputeProfile& profile) {
  if (&profile != &profile_) profile_ = profile;
  has_profile_ = true;
}

void Learner::save(std::ostream& out, const StateStore& states,
                   std::span<const float> statistics) const {
  put(out, scenario_.seed);
  put(out, layout_.elements());
  put_span(out, weights());
  put_span(out, statistics);
  states.save(out);
}

void Learner::load(std::istream& in) {
  if (get<std::uint64_t>(in) != scenario_.seed || get<std::int64_t>(in) != layout_.elements())
    throw TrainerError("load", "checkpoint", "it belongs to another seed or model",
                       "start the run afresh");
  get_into(in, std::span<float>(weights_));
  get_into(in, std::span<float>(statistics_));
  states_.load(in);
  weights_changed();
}

}  // namespace gradwire::trainers
