#include "results/prediction/exchange_form.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

constexpr double kSegment = 1448;  ///< bytes of payload
constexpr double kWireSegment = 1538;
constexpr double kHeaders = 90;      ///< of a segment, with the frame's
constexpr double kMathis = 1.22;     ///< sqrt(3 / 2)
constexpr double kTailSegments = 3;  ///< without duplicate acknowledgements behind them
/// Of a window: what most messages find open beside what they take in round trips. By simulation.
constexpr double kOpen = 0.15;
/// Deviation of a window over its mean, for messages shorter than the distance of losses: cubic's
/// windows go from .7 of their largest to it.
constexpr double kWindowSpread = 0.29;
constexpr double kBusy = 1.05;  ///< of events on the longest of chains, sqrt(x) times; simulated
constexpr double kFewer = 1.2;  ///< exponent: how soon few workers wait as many do; simulated

double at(const StepConstants& constants, StepConstant which) {
  return constants[static_cast<std::size_t>(which)];
}

/// What rare delays, `x` a transfer, cost a hop of `n` workers who each wait for a neighbour and
/// for themselves: how many there are a hop on the chain that has most. With few, each delays all:
/// n x. With many, the chain picks its way among them (last-passage percolation): x + c sqrt(x).
double delays_on_chain(double n, double x) {
  if (x <= 0) return 0;
  const double few = n * x, many = x + kBusy * std::sqrt(x);
  // The exponent 2.5, of between few and many, by simulation.
  const auto power = [](double y) { return 1 / (y * y * std::sqrt(y)); };
  return std::pow(power(few) + power(many), -0.4);
}

}  // namespace

ExchangeForm::ExchangeForm(const StepSummary& step, ExchangeKind kind,
                           const StepConstants& constants)
    : step_(step),
      constants_(constants),
      hops_(hops_of(kind, step.workers, step.group)),
      slow_(slowest_of(step.workers, at(constants, StepConstant::kRates) * step.rate_spread)),
      growth_(std::pow(step.workers / 2.0, at(constants, StepConstant::kCongestion))),
      root_loss_(std::sqrt(step.loss)),
      many_(step.loss > 0 ? 1 - std::pow(step.workers, -kFewer) : 0) {}

double ExchangeForm::time(double message_bytes) const {
  double time = 0;
  for (const Hops& hops : hops_) {
    time += hops.count * hop_time(hops, hops.share * message_bytes);
    if (step_.loss > 0 && hops.same_connections) time += last_timeouts(hops, message_bytes);
  }
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
  if (step_.loss > 0) moving = lossy_hop(hops, bytes / flows / kSegment, moving);
  // A message shorter than a segment is forwarded sooner.
  const double shorter = 1 - std::min(1.0, (bytes / flows + kHeaders) / kWireSegment);
  return at(constants_, StepConstant::kLatency) * (step_.delay_s - shorter * step_.forwarding_s) +
         moving * growth_;
}

double ExchangeForm::lossy_hop(const Hops& hops, double segments, double fluid) const {
  if (segments <= 0) return fluid;
  const double loss = step_.loss;
  const double n = step_.workers;
  const double round_trip = 2 * step_.delay_s + kSegment / step_.bandwidth;
  const double windows = at(constants_, StepConstant::kWindows) * segments * root_loss_ / kMathis;
  const double limited = round_trip * windows * windows / (windows + kOpen);
  const auto square = [](double y) { return y * y; };
  const double moving = std::sqrt(std::sqrt(square(square(fluid)) + square(square(limited))));
  // The slowest connection's windows, where windows decide.
  const double losses = segments * loss;
  const double spread = kWindowSpread / std::sqrt(1 + losses / 3);
  const double slowest = limited * square(limited / moving) * limited / moving * spread * many_;
  const double tail = std::min(kTailSegments, segments);
  // On the same connections, what is lost at the end is noticed once the next hops' segments come.
  const double noticed =
      hops.same_connections ? fluid * tail / segments * std::max(1.0, kTailSegments / segments) : 0;
  const double waiting = (round_trip + noticed) * delays_on_chain(n, losses) + slowest;
  const double rare = losses * loss + (hops.same_connections ? 0 : tail * loss);
  return moving + at(constants_, StepConstant::kStraggle) * waiting +
         kTimeout * delays_on_chain(n, at(constants_, StepConstant::kTimeouts) * rare);
}

double ExchangeForm::last_timeouts(const Hops& hops, double message_bytes) const {
  const double sent = hops.count * hops.share * message_bytes / kSegment;
  const double tail = std::min(kTailSegments, sent) * step_.loss;
  return kTimeout * -std::expm1(-at(constants_, StepConstant::kTimeouts) * step_.workers * tail);
}

}  // namespace gradwire::results
