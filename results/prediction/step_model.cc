#include "results/prediction/step_model.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

constexpr double kSegment = 1448;  ///< bytes of payload
constexpr double kWireSegment = 1538;
constexpr double kHeaders = 90;      ///< of a segment, with the frame's
constexpr double kTimeout = 0.2;     ///< s, least retransmission timeout
constexpr double kMathis = 1.22;     ///< sqrt(3 / 2)
constexpr double kTailSegments = 3;  ///< without duplicate acknowledgements behind them

double at(const StepConstants& constants, StepConstant which) {
  return constants[static_cast<std::size_t>(which)];
}

/// How many times a worker's mean the slowest of n takes, whose times are normal with deviation v.
double slowest_of(int n, double v) {
  return 1 + v * std::sqrt(2 * std::log(std::max(n, 1)));
}

/// What losses add to a hop of `bytes`, over `fluid` seconds of it.
double lossy_hop(const StepSummary& step, const StepConstants& constants, double bytes,
                 double flows, double fluid) {
  const double round_trip = 2 * step.delay_s + kSegment / step.bandwidth;
  const double window = kMathis / std::sqrt(step.loss);
  const double segments = bytes / flows / kSegment;
  const double windows = at(constants, StepConstant::kWindows) * segments * round_trip / window;
  const double limited = std::pow(std::pow(fluid, 4) + std::pow(windows, 4), 0.25);
  const double straggle = at(constants, StepConstant::kStraggle) * window * round_trip *
                          std::sqrt(step.loss * segments) * (1 - 1.0 / step.workers);
  const double tail = std::min(1.0, kTailSegments * step.loss);
  const double timeouts = at(constants, StepConstant::kTimeouts) *
                          std::min(step.workers * tail, 2 * std::sqrt(tail)) * kTimeout;
  return limited + straggle + timeouts;
}

double hop_time(const StepSummary& step, const StepConstants& constants, const Hops& hops,
                double bytes) {
  const double flows = hops.flows;
  const double slow =
      slowest_of(step.workers, at(constants, StepConstant::kRates) * step.rate_spread);
  const double efficiency =
      at(constants, StepConstant::kEfficiency) / (hops.both_ways ? 1 + kAcknowledgements : 1);
  const double shared =
      step.server_bandwidth > 0 && flows > 1 ? step.server_bandwidth : step.bandwidth;
  double moving =
      std::max(bytes / (efficiency * shared), slow * bytes / flows / (efficiency * step.bandwidth));
  if (step.loss > 0) moving = lossy_hop(step, constants, bytes, flows, moving);
  // A message shorter than a segment is forwarded sooner.
  const double shorter = 1 - std::min(1.0, (bytes / flows + kHeaders) / kWireSegment);
  return at(constants, StepConstant::kLatency) * (step.delay_s - shorter * step.forwarding_s) +
         moving * std::pow(step.workers / 2.0, at(constants, StepConstant::kCongestion));
}

double backward_time(const StepSummary& step) {
  double sum = 0;
  for (const BucketSummary& bucket : step.buckets) sum += bucket.backward_s;
  return sum;
}

/// Compute with stragglers, coding outside of it, latency a doubling, and `times` messages at e B.
double terngrad_time(const StepSummary& step, const StepConstants& constants, double doublings,
                     double times) {
  double coding = 0;
  for (const BucketSummary& bucket : step.buckets) coding += bucket.encode_s + bucket.decode_s;
  const double slow = slowest_of(step.workers, step.compute_spread);
  return slow * (step.forward_s + backward_time(step)) + coding + step.update_s +
         doublings * at(constants, StepConstant::kLatency) * step.delay_s +
         times * step.message_bytes() / (at(constants, StepConstant::kEfficiency) * step.bandwidth);
}

}  // namespace

const std::array<StepConstantInfo, kStepConstants> kStepConstantTable = {{
    {StepConstant::kEfficiency, "bandwidth efficiency", 0.94, 0.05, true},
    {StepConstant::kLatency, "latency of a hop in one-way delays", 1, 0.4, true},
    {StepConstant::kCongestion, "congestion exponent", 0, 0.001, false},
    {StepConstant::kWindows, "windows under loss", 1, 0.4, true},
    {StepConstant::kStraggle, "waiting for losses", 0.6, 0.5, true},
    {StepConstant::kTimeouts, "timeouts", 0.005, 0.7, true},
    {StepConstant::kSpread, "waiting for slow workers", 1, 0.3, true},
    {StepConstant::kRates, "waiting for slow links", 0.3, 0.7, true},
}};

StepConstants usual_constants() {
  StepConstants constants{};
  for (const StepConstantInfo& info : kStepConstantTable)
    constants[static_cast<std::size_t>(info.constant)] = info.usual;
  return constants;
}

double exchange_time(const StepSummary& step, double message_bytes,
                     const StepConstants& constants) {
  double time = 0;
  for (const Hops& hops : hops_of(step.exchange, step.workers, step.group))
    time += hops.count * hop_time(step, constants, hops, hops.share * message_bytes);
  return time;
}

double exchange_time(const StepSummary& step, const BucketSummary& bucket,
                     const StepConstants& constants) {
  const double time = exchange_time(step, bucket.message_bytes, constants);
  if (bucket.prelude_bytes <= 0) return time;
  StepSummary prelude = step;
  if (step.exchange != ExchangeKind::kParameterServer)
    prelude.exchange = step.exchange == ExchangeKind::kRingAllReduce
                           ? ExchangeKind::kRingAllGather
                           : ExchangeKind::kDirectAllGather;
  return time + exchange_time(prelude, bucket.prelude_bytes, constants);
}

namespace {

/// When the buckets of a step are there, coded, sent and decoded. A worker encodes and decodes on
/// one lane, in the order in which there is something to do.
class Timeline {
 public:
  Timeline(const StepSummary& step, const StepConstants& constants, double slow)
      : step_(step), ready_(slow * step.forward_s) {
    const double additions = additions_of(step.exchange, step.workers, step.group);
    for (const BucketSummary& bucket : step.buckets) {
      ready_ += slow * bucket.backward_s;
      available_.push_back(ready_);
      const double exchange = exchange_time(step, bucket, constants);
      exchanged_ += exchange;
      exchange_.push_back(exchange + additions * bucket.add_s);
    }
    if (!step.overlap) std::fill(available_.begin(), available_.end(), ready_);
    const double decodes = decodes_of(step.exchange, step.workers);
    const std::size_t count = step.buckets.size();
    for (std::size_t encoded = 0, decoded = 0; decoded < count;) {
      if (encoded < count && (decoded == encoded || available_[encoded] < arrived_[decoded])) {
        encode(encoded++);
      } else {
        lane_ = std::max(lane_, arrived_[decoded]) + decodes * step.buckets[decoded].decode_s;
        ++decoded;
      }
    }
  }

  double ready() const { return ready_; }
  double coded() const { return coded_; }
  double sent() const { return sent_; }
  double done() const { return lane_; }
  double exchanged() const { return exchanged_; }

 private:
  void encode(std::size_t b) {
    coded_ = lane_ = std::max(lane_, available_[b]) + step_.buckets[b].encode_s;
    sent_ = std::max(coded_, sent_) + exchange_[b];
    arrived_.push_back(sent_);
  }

  const StepSummary& step_;
  double ready_, lane_ = 0, coded_ = 0, sent_ = 0, exchanged_ = 0;
  std::vector<double> available_, exchange_, arrived_;  ///< by bucket
};

}  // namespace

StepTime step_time(const StepSummary& step, const StepConstants& constants) {
  const double slow =
      slowest_of(step.workers, at(constants, StepConstant::kSpread) * step.compute_spread);
  const Timeline line(step, constants, slow);
  const double end = std::max(line.ready(), line.done());
  StepTime time;
  time.exchange_s = line.exchanged();
  time.compute_s = line.ready() + step.update_s;
  time.encode_s = std::max(0.0, line.coded() - line.ready());
  time.exposed_s = std::max(0.0, line.sent() - std::max(line.coded(), line.ready()));
  time.decode_s = end - line.ready() - time.encode_s - time.exposed_s;
  time.total_s = end + step.update_s;
  return time;
}

double terngrad_tree_time(const StepSummary& step, const StepConstants& constants) {
  const double doublings = std::log2(step.workers);
  return terngrad_time(step, constants, doublings, doublings);
}

double terngrad_plateau_time(const StepSummary& step, const StepConstants& constants) {
  const double doublings = std::log2(step.workers);
  return terngrad_time(step, constants, doublings, std::min(doublings, 2.0));
}

}  // namespace gradwire::results
