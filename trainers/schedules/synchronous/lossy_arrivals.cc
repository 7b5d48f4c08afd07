#include "trainers/schedules/synchronous/lossy_arrivals.h"

#include <algorithm>
#include <cmath>
#include <cstring>

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

std::span<const float> mean_of(const EndedStep& step, int worker) {
  return step.missing.empty() ? step.mean : step.exchange.replica(worker);
}

}  // namespace

LossyArrivals::LossyArrivals(Learner& learner, SetUpdates& updates)
    : learner_(learner),
      updates_(updates),
      others_(static_cast<std::size_t>(workers()) - 1,
              std::vector<float>(learner.weights().begin(), learner.weights().end())) {
  for (std::size_t w = 0; w < others_.size(); ++w)
    other_updates_.emplace_back(learner.scenario(), learner.method(), learner.layout());
}

std::span<float> LossyArrivals::weights_of(int worker) {
  if (worker == 0) return learner_.weights();
  return others_[static_cast<std::size_t>(worker) - 1];
}

std::span<const float> LossyArrivals::weights_of(int worker) const {
  if (worker == 0) return learner_.weights();
  return others_[static_cast<std::size_t>(worker) - 1];
}

SetUpdates& LossyArrivals::update_of(int worker) {
  return worker == 0 ? updates_ : other_updates_[static_cast<std::size_t>(worker) - 1];
}

void LossyArrivals::begin(std::uint64_t chain) {
  GRADWIRE_ASSERT(!under_way_);
  before_.states.restore(learner_.states().all());
  before_.statistics.assign(learner_.statistics().begin(), learner_.statistics().end());
  before_.chain = chain;
  under_way_ = true;
}

std::vector<scenarios::Figure> LossyArrivals::end(const EndedStep& step) {
  GRADWIRE_ASSERT(under_way_);
  const std::vector<float> complete(step.mean.begin(), step.mean.end());
  if (!step.missing.empty()) {
    learner_.states().restore(before_.states.all());
    step.exchange_again();
  }
  std::vector<std::vector<float>> changed(static_cast<std::size_t>(workers()));
  for (int w = 0; w < workers() && learner_.method().updates_at_server(); ++w) {
    std::vector<float>& own = changed[static_cast<std::size_t>(w)];
    const std::span<const float> mean = mean_of(step, w);
    own.assign(mean.begin(), mean.end());
    step.update_at_server(own, w);
  }
  const double rate = learner_.rate(step.moment);
  learner_.pool().run(workers(), [&](int worker, int) {
    const std::vector<float>& own = changed[static_cast<std::size_t>(worker)];
    const GradientView gradient(own.empty() ? mean_of(step, worker) : own);
    update_of(worker).step(step.phase, rate, gradient, weights_of(worker));
  });
  under_way_ = false;
  const Sums sums{bytes_of(step.missing), step.payload.count(), 1, gradient_error(step, complete),
                  weight_spread()};
  all_ = {all_.missing + sums.missing, all_.payload + sums.payload, all_.steps + 1,
          all_.gradient_error + sums.gradient_error, sums.weight_spread};
  return as_figures(sums);
}

double LossyArrivals::gradient_error(const EndedStep& step, std::span<const float> complete) const {
  double sum = 0;
  for (int w = 0; !step.missing.empty() && w < workers(); ++w)
    sum += squared_distance(mean_of(step, w), complete);
  return relative(sum / workers(), squared(complete));
}

double LossyArrivals::weight_spread() const {
  std::vector<double> total(learner_.weights().size());
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

std::vector<scenarios::Figure> LossyArrivals::as_figures(const Sums& sums) const {
  const auto share = [](double part, std::int64_t whole) {
    return whole > 0 ? part / static_cast<double>(whole) : 0;
  };
  return {{"missing_share", share(static_cast<double>(sums.missing), sums.payload)},
          {"gradient_error", share(sums.gradient_error, sums.steps)},
          {"weight_spread", sums.weight_spread}};
}

std::vector<scenarios::Figure> LossyArrivals::figures() const {
  return as_figures(all_);
}

void LossyArrivals::add_weights(Hasher& hasher) const {
  const std::span<const float> first = weights_of(0);
  hasher.add_bytes(std::as_bytes(first));
  const auto drifted = [&](const std::vector<float>& own) {
    return std::memcmp(own.data(), first.data(), first.size_bytes()) != 0;
  };
  if (std::ranges::any_of(others_, drifted))
    for (const std::vector<float>& own : others_)
      hasher.add_bytes(std::as_bytes(std::span<const float>(own)));
}

void LossyArrivals::save(std::ostream& out) const {
  for (std::size_t w = 0; w < others_.size(); ++w) {
    put_span(out, std::span<const float>(others_[w]));
    other_updates_[w].save(out);
  }
  put(out, all_);
  put(out, under_way_);
}

bool LossyArrivals::load(std::istream& in) {
  for (std::size_t w = 0; w < others_.size(); ++w) {
    get_into(in, std::span<float>(others_[w]));
    other_updates_[w].load(in);
  }
  all_ = get<Sums>(in);
  under_way_ = false;
  return get<bool>(in);
}

}  // namespace gradwire::trainers
