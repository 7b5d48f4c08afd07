#include "trainers/schedules/lossy_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/hash.h"
#include "base/serial.h"

namespace gradwire::trainers {
namespace {

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    const double difference = static_cast<double>(a[e]) - static_cast<double>(b[e]);
    sum += difference * difference;
  }
  return sum;
}

double squared(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

/// sqrt(part / whole); 0 where there is nothing to compare with.
double relative(double part, double whole) {
  return whole > 0 ? std::sqrt(part / whole) : 0;
}

std::int64_t bytes_of(std::span<const sim::MissingData> missing) {
  std::int64_t bytes = 0;
  for (const sim::MissingData& each : missing)
    for (const sim::ByteRange& range : each.ranges) bytes += range.count;
  return bytes;
}

}  // namespace

LossyTrainer::LossyTrainer(const scenarios::Scenario& scenario,
                           const scenarios::TrainerOptions& options, std::unique_ptr<DataSet> data,
                           std::unique_ptr<Model> model)
    : SynchronousTrainer(scenario, options, std::move(data), std::move(model),
                         ReplicaWeights::kPlaced),
      others_(losses_.size() - 1, std::vector<float>(weights_.begin(), weights_.end())) {
  GRADWIRE_ASSERT(!device_update_);
  for (std::size_t w = 0; w < others_.size(); ++w)
    other_updates_.emplace_back(this->scenario(), method(), layout());
}

std::span<float> LossyTrainer::weights_of(int worker) {
  if (worker == 0) return weights_;
  return others_[static_cast<std::size_t>(worker) - 1];
}

std::span<const float> LossyTrainer::weights_of(int worker) const {
  if (worker == 0) return weights_;
  return others_[static_cast<std::size_t>(worker) - 1];
}

std::span<const float> LossyTrainer::mean_of(int worker) const {
  return lost_ ? exchange_->replica(worker) : mean_;
}

SetUpdates& LossyTrainer::update_of(int worker) {
  return worker == 0 ? updates_ : other_updates_[static_cast<std::size_t>(worker) - 1];
}

const SetUpdates& LossyTrainer::update_of(int worker) const {
  return worker == 0 ? updates_ : other_updates_[static_cast<std::size_t>(worker) - 1];
}

void LossyTrainer::place_weights(int worker, int thread) {
  learner_.place(thread, weights_of(worker));
}

bool LossyTrainer::next(scenarios::StepPlan& plan) {
  GRADWIRE_ASSERT(template_ != nullptr);
  GRADWIRE_ASSERT(!under_way_);
  if (step_ == steps_total()) return false;
  before_.states.restore(learner_.states().all());
  before_.statistics.assign(learner_.statistics().begin(), learner_.statistics().end());
  before_.chain = chain_;
  run_step(plan);
  plan.alone = true;
  under_way_ = true;
  return true;
}

void LossyTrainer::exchange_again(std::span<const sim::MissingData> missing) {
  learner_.states().restore(before_.states.all());
  std::vector<Bytes> bytes;
  StepTraffic traffic(*template_, bytes, missing);
  if (exchange_->shares_scales()) exchange_->agree(traffic);
  encode_all();
  exchange_->combine(traffic, mean_);
}

std::vector<scenarios::Figure> LossyTrainer::on_step_ended(const scenarios::StepPlan& plan,
                                                           const scenarios::StepOutcome& outcome) {
  GRADWIRE_ASSERT(under_way_);
  lost_ = !outcome.missing.empty();
  complete_ = mean_;
  if (lost_) exchange_again(outcome.missing);
  std::vector<std::vector<float>> means(losses_.size());
  for (int w = 0; w < workers() && method().updates_at_server(); ++w) {
    const std::span<const float> own = mean_of(w);
    means[static_cast<std::size_t>(w)].assign(own.begin(), own.end());
    update_at_server(means[static_cast<std::size_t>(w)], w);
  }
  const double rate = learner_.rate(moment());
  learner_.pool().run(workers(), [&](int worker, int) {
    const std::vector<float>& changed = means[static_cast<std::size_t>(worker)];
    const std::span<const float> mean =
        changed.empty() ? mean_of(worker) : std::span<const float>(changed);
    update_of(worker).step(phase_, rate, mean, weights_of(worker));
  });
  under_way_ = false;
  ++step_;
  const Sums step{bytes_of(outcome.missing), plan.payload.count(), 1, gradient_error(),
                  weight_spread()};
  all_ = {all_.missing + step.missing, all_.payload + step.payload, all_.steps + 1,
          all_.gradient_error + step.gradient_error, step.weight_spread};
  return as_figures(step);
}

double LossyTrainer::gradient_error() const {
  double sum = 0;
  for (int w = 0; lost_ && w < workers(); ++w) sum += squared_distance(mean_of(w), complete_);
  return relative(sum / workers(), squared(complete_));
}

double LossyTrainer::weight_spread() const {
  std::vector<double> total(weights_.size());
  for (int w = 0; w < workers(); ++w) {
    const std::span<const float> own = weights_of(w);
    for (std::size_t e = 0; e < own.size(); ++e) total[e] += static_cast<double>(own[e]);
  }
  double norm = 0, apart = 0;
  for (std::size_t e = 0; e < total.size(); ++e) {
    const double mean = total[e] / workers();
    norm += mean * mean;
    for (int w = 0; w < workers(); ++w) {
      const double difference = static_cast<double>(weights_of(w)[e]) - mean;
      apart += difference * difference / workers();
    }
  }
  return relative(apart, norm);
}

std::vector<scenarios::Figure> LossyTrainer::as_figures(const Sums& sums) const {
  const auto share = [](double part, std::int64_t whole) {
    return whole > 0 ? part / static_cast<double>(whole) : 0;
  };
  return {{"missing_share", share(static_cast<double>(sums.missing), sums.payload)},
          {"gradient_error", share(sums.gradient_error, sums.steps)},
          {"weight_spread", sums.weight_spread}};
}

std::vector<scenarios::Figure> LossyTrainer::figures() const {
  std::vector<scenarios::Figure> figures = as_figures(all_);
  std::ranges::move(SynchronousTrainer::figures(), std::back_inserter(figures));
  return figures;
}

std::uint64_t LossyTrainer::learning_hash() const {
  Hasher hasher;
  hasher.add(chain_);
  hasher.add_bytes(std::as_bytes(weights_of(0)));
  const auto drifted = [&](const std::vector<float>& own) {
    return std::memcmp(own.data(), weights_.data(), 4 * own.size()) != 0;
  };
  if (std::ranges::any_of(others_, drifted))
    for (const std::vector<float>& own : others_)
      hasher.add_bytes(std::as_bytes(std::span<const float>(own)));
  return hasher.value();
}

/// A step that is under way is planned again when it is loaded.
void LossyTrainer::save_content(std::ostream& out) const {
  if (under_way_)
    save_content_with(out, before_.states, before_.statistics, before_.chain);
  else
    SynchronousTrainer::save_content(out);
  for (int w = 1; w < workers(); ++w) {
    put_span(out, weights_of(w));
    update_of(w).save(out);
  }
  put(out, all_);
  put(out, under_way_);
}

void LossyTrainer::load_content(std::istream& in) {
  SynchronousTrainer::load_content(in);
  for (int w = 1; w < workers(); ++w) {
    get_into(in, weights_of(w));
    update_of(w).load(in);
  }
  all_ = get<Sums>(in);
  under_way_ = false;
  if (!get<bool>(in)) return;
  GRADWIRE_ASSERT(template_ != nullptr);  // loaded once times are known
  scenarios::StepPlan plan;
  next(plan);
}

}  // namespace gradwire::trainers
