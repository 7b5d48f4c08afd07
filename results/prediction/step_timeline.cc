#include "results/prediction/step_timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "results/prediction/exchange_form.h"

namespace gradwire::results {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// What a bucket takes, seconds.
struct Stages {
  double available = 0;  ///< when its gradients are there
  double code = 0, before = 0, again = 0, exchange = 0, decode = 0;
  bool twice = false;  ///< there is something before, and coding again
};

class Timeline {
 public:
  Timeline(const StepSummary& step, const StepConstants& constants, double slow)
      : step_(step),
        constants_(constants),
        exchange_(step, step.exchange, constants),
        other_(step, second_kind(step.exchange), constants),
        ready_(slow * step.forward_s) {
    buckets_.reserve(step.buckets.size());
    coded_at_.reserve(step.buckets.size());
    arrived_.reserve(step.buckets.size());
    for (const BucketSummary& bucket : step.buckets) {
      ready_ += slow * bucket.backward_s;
      buckets_.push_back(stages_of(bucket));
    }
    if (!step.overlap)
      for (Stages& bucket : buckets_) bucket.available = ready_;
    finite_ = is_finite();
    if (!finite_) return;
    while (decoded_ < buckets_.size()) advance();
    if (!step.buckets.empty() && step.exchange_of(step.buckets.back()) == step.exchange)
      lead_ = exchange_.lead(step.buckets.back().message_bytes);
  }

  StepTime time() const {
    if (!finite_) return {kNever, kNever, kNever, kNever, kNever, kNever};
    const double end = std::max(ready_, lane_);
    StepTime time;
    time.exchange_s = exchanged_;
    const double update = step_.slowest * step_.update_s;
    time.compute_s = ready_ + update;
    time.encode_s = exposed_encode_;
    time.decode_s = exposed_decode_;
    // As results/runs/exposed.h has it: neither compute nor codec works, something is under way.
    time.exposed_s = std::max(0.0, end - ready_ - exposed_encode_ - exposed_decode_);
    time.total_s = end + update;
    // A link that is slower than the others works on while the next step begins.
    const double hidden = std::min({lead_, time.exposed_s, time.total_s - exchanged_});
    if (hidden <= 0) return time;
    time.exposed_s -= hidden;
    time.total_s -= hidden;
    return time;
  }

 private:
  /// Whether the constants are in the model's domain: a fit tries others, which have no order of
  /// events.
  bool is_finite() const {
    return std::isfinite(ready_) &&
           std::all_of(buckets_.begin(), buckets_.end(), [](const auto& b) {
             return std::isfinite(b.available + b.code + b.before + b.again + b.exchange +
                                  b.decode);
           });
  }

  /// The correction was found for the way of most bytes.
  double time_of(ExchangeKind kind, double message_bytes) const {
    if (kind == step_.exchange)
      return step_.correction.at(message_bytes) * exchange_.time(message_bytes);
    return ExchangeForm(step_, kind, constants_).time(message_bytes);
  }

  Stages stages_of(const BucketSummary& bucket) {
    const ExchangeKind kind = step_.exchange_of(bucket);
    const double n = step_.workers;
    // A straggler codes as slowly as it computes; a server does not.
    const double slow = step_.slowest, encode = slow * bucket.encode_s;
    const double added = additions_of(kind, step_.workers, step_.group) * bucket.add_s *
                         (kind == ExchangeKind::kParameterServer ? 1 : slow);
    const double exchange = time_of(kind, bucket.message_bytes);
    Stages stages{.available = ready_,
                  .code = encode,
                  .exchange = exchange + added,
                  .decode = slow * decodes_of(kind, step_.workers) * bucket.decode_s};
    exchanged_ += exchange;
    if (bucket.prelude_bytes > 0) {
      stages.twice = true;
      stages.code = slow * bucket.scale_s;
      stages.before =
          kind == step_.exchange
              ? step_.prelude_correction.at(bucket.prelude_bytes) *
                    other_.time(bucket.prelude_bytes)
              : ExchangeForm(step_, second_kind(kind), constants_).time(bucket.prelude_bytes);
      stages.again = encode - stages.code;
      exchanged_ += stages.before;
    } else if (kind == ExchangeKind::kScatterReduce) {
      stages.twice = true;
      stages.code = encode * (n - 1) / n;
      stages.again = encode / n + added;
      stages.exchange = std::min(other_.time(bucket.message_bytes / n), exchange);
      stages.before = exchange - stages.exchange;
    }
    return stages;
  }

  /// The next thing that a worker codes, or the bucket's exchange where that ends before it.
  void advance() {
    const double first = coding_ < buckets_.size() ? buckets_[coding_].available : kNever;
    const double decode = decoded_ < sent_buckets_ ? arrived_[decoded_] : kNever;
    const double next = std::min({first, decode, again_});
    const double sent = exchange_end();
    if (sent <= next) return end_exchange(sent);
    if (decode <= next) {
      work(decode, buckets_[decoded_++].decode, exposed_decode_);
    } else if (again_ <= next) {
      work(again_, buckets_[sent_buckets_].again, exposed_encode_);
      waiting_ = lane_;
      again_ = kNever;
    } else {
      work(first, buckets_[coding_].code, exposed_encode_);
      coded_at_.push_back(lane_);
      ++coding_;
    }
  }

  /// The lane works once it can; what of that is not hidden behind compute counts.
  void work(double from, double seconds, double& exposed) {
    const double start = std::max(lane_, from);
    lane_ = start + seconds;
    exposed += std::max(0.0, lane_ - std::max(start, ready_));
  }

  /// When the exchange that is under way or next ends; never, where it waits for coding.
  double exchange_end() const {
    if (sent_buckets_ == buckets_.size() || again_ < kNever) return kNever;
    const Stages& bucket = buckets_[sent_buckets_];
    if (before_done_) return std::max(sent_, waiting_) + bucket.exchange;
    if (sent_buckets_ >= coded_at_.size()) return kNever;
    const double begin = std::max(sent_, coded_at_[sent_buckets_]);
    return begin + (bucket.twice ? bucket.before : bucket.exchange);
  }

  void end_exchange(double end) {
    sent_ = end;
    if (buckets_[sent_buckets_].twice && !before_done_) {
      before_done_ = true;
      again_ = end;
      return;
    }
    before_done_ = false;
    arrived_.push_back(end);
    ++sent_buckets_;
  }

  const StepSummary& step_;
  const StepConstants& constants_;
  ExchangeForm exchange_, other_;
  bool finite_ = false;
  double ready_, lane_ = 0, sent_ = 0, exchanged_ = 0;
  double lead_ = 0;  ///< of the last bucket's exchange
  double exposed_encode_ = 0, exposed_decode_ = 0;
  double waiting_ = 0;     ///< when the bucket under way was coded again
  double again_ = kNever;  ///< when it can be
  bool before_done_ = false;
  std::size_t coding_ = 0, sent_buckets_ = 0, decoded_ = 0;
  std::vector<Stages> buckets_;
  std::vector<double> coded_at_, arrived_;
};

}  // namespace

StepTime step_timeline(const StepSummary& step, const StepConstants& constants, double slow) {
  return Timeline(step, constants, slow).time();
}

}  // namespace gradwire::results
