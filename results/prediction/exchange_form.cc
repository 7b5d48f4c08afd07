#include "results/prediction/exchange_form.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

constexpr double kSegment = 1448;  ///< bytes of payload
constexpr double kWireSegment = 1538;
constexpr double kHeaders = 90;   ///< of a segment, with the frame's
constexpr double kTimeout = 0.2;  ///< s, least retransmission timeout
/// Of the segments of a message, in what losses delay it: found by simulating rings and all-gathers
/// of 2 to 64 workers. (1/2 would be the spread of the losses' number.)
constexpr double kSegmentsExponent = 0.4;
/// Where more workers add no more waiting for timeouts; found likewise.
constexpr double kMostWaiting = 8;
constexpr double kMathis = 1.22;     ///< sqrt(3 / 2)
constexpr double kTailSegments = 3;  ///< without duplicate acknowledgements behind them

double at(const StepConstants& constants, StepConstant which) {
  return constants[static_cast<std::size_t>(which)];
}

}  // namespace

ExchangeForm::ExchangeForm(const StepSummary& step, ExchangeKind kind,
                           const StepConstants& constants)
    : step_(step),
      constants_(constants),
      hops_(hops_of(kind, step.workers, step.group)),
      slow_(slowest_of(step.workers, at(constants, StepConstant::kRates) * step.rate_spread)),
      growth_(std::pow(step.workers / 2.0, at(constants, StepConstant::kCongestion))) {}

double ExchangeForm::time(double message_bytes) const {
  double time = 0;
  for (const Hops& hops : hops_) time += hops.count * hop_time(hops, hops.share * message_bytes);
  return time;
}

double ExchangeForm::hop_time(const Hops& hops, double bytes) const {
  const double flows = hops.flows;
  const double efficiency =
      at(constants_, StepConstant::kEfficiency) / (hops.both_ways ? 1 + kAcknowledgements : 1);
  const double shared =
      step_.server_bandwidth > 0 && flows > 1 ? step_.server_bandwidth : step_.bandwidth;
  double moving = std::max(bytes / (efficiency * shared),
                           slow_ * bytes / flows / (efficiency * step_.bandwidth));
  if (step_.loss > 0) moving = lossy_hop(bytes, flows, moving);
  // A message shorter than a segment is forwarded sooner.
  const double shorter = 1 - std::min(1.0, (bytes / flows + kHeaders) / kWireSegment);
  return at(constants_, StepConstant::kLatency) * (step_.delay_s - shorter * step_.forwarding_s) +
         moving * growth_;
}

double ExchangeForm::lossy_hop(double bytes, double flows, double fluid) const {
  const double round_trip = 2 * step_.delay_s + kSegment / step_.bandwidth;
  const double window = kMathis / std::sqrt(step_.loss);
  const double segments = bytes / flows / kSegment;
  const double windows = at(constants_, StepConstant::kWindows) * segments * round_trip / window;
  const double limited = std::pow(std::pow(fluid, 4) + std::pow(windows, 4), 0.25);
  const double straggle = at(constants_, StepConstant::kStraggle) * window * round_trip *
                          std::sqrt(step_.loss) * std::pow(segments, kSegmentsExponent) *
                          (1 - 1.0 / step_.workers);
  const double tail = std::min(1.0, kTailSegments * step_.loss);
  const double timeouts = at(constants_, StepConstant::kTimeouts) *
                          std::min(step_.workers * tail, kMostWaiting * std::sqrt(tail)) * kTimeout;
  return limited + straggle + timeouts;
}

}  // namespace gradwire::results
