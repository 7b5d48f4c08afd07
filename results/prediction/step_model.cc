#include "results/prediction/step_model.h"

#include <algorithm>
#include <cmath>

#include "results/prediction/step_timeline.h"

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

double uncorrected_time(ExchangeKind kind, const StepSummary& step, double message_bytes,
                        const StepConstants& constants) {
  double time = 0;
  for (const Hops& hops : hops_of(kind, step.workers, step.group))
    time += hops.count * hop_time(step, constants, hops, hops.share * message_bytes);
  return time;
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
  return step.correction.at(message_bytes) *
         uncorrected_time(step.exchange, step, message_bytes, constants);
}

double prelude_time(const StepSummary& step, const BucketSummary& bucket,
                    const StepConstants& constants) {
  if (bucket.prelude_bytes <= 0) return 0;
  ExchangeKind kind = ExchangeKind::kDirectAllGather;
  if (step.exchange == ExchangeKind::kParameterServer) kind = step.exchange;
  if (step.exchange == ExchangeKind::kRingAllReduce) kind = ExchangeKind::kRingAllGather;
  return uncorrected_time(kind, step, bucket.prelude_bytes, constants);
}

StepTime step_time(const StepSummary& step, const StepConstants& constants) {
  const double slow =
      slowest_of(step.workers, at(constants, StepConstant::kSpread) * step.compute_spread);
  return step_timeline(step, constants, slow);
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
