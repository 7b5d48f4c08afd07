#include "results/prediction/step_model.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

constexpr double kSegment = 1448;    ///< bytes of payload
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

double hop_time(const StepSummary& step, const StepConstants& constants, double bytes,
                double flows) {
  const double slow =
      slowest_of(step.workers, at(constants, StepConstant::kRates) * step.rate_spread);
  const double efficiency = at(constants, StepConstant::kEfficiency);
  const double shared =
      step.server_bandwidth > 0 && flows > 1 ? step.server_bandwidth : step.bandwidth;
  double moving =
      std::max(bytes / (efficiency * shared), slow * bytes / flows / (efficiency * step.bandwidth));
  if (step.loss > 0) moving = lossy_hop(step, constants, bytes, flows, moving);
  return at(constants, StepConstant::kLatency) * step.delay_s +
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
    {StepConstant::kLatency, "latency of a hop in one-way delays", 1.05, 0.4, true},
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
    time += hops.count * hop_time(step, constants, hops.share * message_bytes, hops.flows);
  return time;
}

double exchange_time(const StepSummary& step, const BucketSummary& bucket,
                     const StepConstants& constants) {
  const double time = exchange_time(step, bucket.message_bytes, constants);
  if (bucket.prelude_bytes <= 0) return time;
  StepSummary prelude = step;
  if (step.exchange != ExchangeKind::kParameterServer)
    prelude.exchange = ExchangeKind::kRingAllGather;
  return time + exchange_time(prelude, bucket.prelude_bytes, constants);
}

StepTime step_time(const StepSummary& step, const StepConstants& constants) {
  const double slow =
      slowest_of(step.workers, at(constants, StepConstant::kSpread) * step.compute_spread);
  const double decodes = decodes_of(step.exchange, step.workers);
  const double additions = additions_of(step.exchange, step.workers, step.group);
  const double backward = slow * backward_time(step);
  double ready = slow * step.forward_s, coded = 0, sent = 0, done = 0, all_coded = ready + backward;
  for (const BucketSummary& bucket : step.buckets) all_coded += bucket.encode_s;
  if (!step.overlap) sent = all_coded;
  StepTime time;
  for (const BucketSummary& bucket : step.buckets) {
    ready += slow * bucket.backward_s;
    coded = std::max(ready, coded) + bucket.encode_s;
    const double exchange = exchange_time(step, bucket, constants);
    sent = std::max(coded, sent) + exchange;
    done = std::max(sent, done) + decodes * bucket.decode_s + additions * bucket.add_s;
    time.exchange_s += exchange;
  }
  const double end = std::max(ready, done);
  time.compute_s = ready + step.update_s;
  time.encode_s = std::max(0.0, coded - ready);
  time.exposed_s = std::max(0.0, sent - std::max(coded, ready));
  time.decode_s = end - ready - time.encode_s - time.exposed_s;
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
