#include "results/prediction/exchange_form.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

constexpr double kUsualPayload = 1448.0 / 1538;  ///< of a full segment on the wire: e's
constexpr double kMathis = 1.22;                 ///< sqrt(3 / 2)
constexpr double kTailSegments = 3;              ///< without duplicate acknowledgements behind them
/// Of a window: what most messages find open beside what they take in round trips. By simulation.
constexpr double kOpen = 0.15;
/// Deviation of a window over its mean, for messages shorter than the distance of losses: cubic's
/// windows go from .7 of their largest to it.
constexpr double kWindowSpread = 0.29;
/// Of events on the longest of chains, sqrt(x) times: by simulating the recursion, whose events the
/// form then has within 7 % for 2 to 1,024 workers.
constexpr double kBusy = 0.97;
constexpr double kNearNormal = 100;  ///< mean of a Poisson law from which it is a normal one
constexpr double kEnough = 1e-6;     ///< of a sum, as its last term
constexpr double kFewer = 1.2;       ///< exponent: how soon few workers wait as many do; simulated

double at(const StepConstants& constants, StepConstant which) {
  return constants[static_cast<std::size_t>(which)];
}

/// Near the larger of the two.
double norm4(double a, double b) {
  const auto square = [](double y) { return y * y; };
  return std::sqrt(std::sqrt(square(square(a)) + square(square(b))));
}

/// What rare delays, `x` a transfer, cost a hop of `n` workers who each wait for a neighbour and
/// for themselves: how many there are a hop on the chain that has most. With few, each delays all:
/// n x. With many, the chain picks its way among them (last-passage percolation): x + c sqrt(x).
double delays_on_chain(double n, double x) {
  if (x <= 0) return 0;
  const double few = n * x, many = x + kBusy * std::sqrt(x);
  return few * many / std::hypot(few, many);
}

/// What the unluckiest of `flows` transfers has of rare delays, `x` a transfer: the mean of the
/// largest of as many Poisson numbers, sum over k >= 0 of 1 - P(at most k)^flows.
double delays_of_unluckiest(double flows, double x) {
  if (x <= 0) return 0;
  if (x > kNearNormal) return x + std::sqrt(2 * x * std::log(flows));
  double sum = 0, term = std::exp(-x), at_most = term;
  for (int k = 1; at_most < 1; ++k) {
    const double more = -std::expm1(flows * std::log(at_most));
    sum += more;
    if (more < kEnough) break;
    term *= x / k;
    at_most += term;
  }
  return sum;
}

/// Share of the links' rate spread that delays all. A correction already has in it what slow links
/// cost; it is over the form with usual constants, so that no other may change with the workers.
double waiting_share(const StepSummary& step, const StepConstants& constants) {
  return at(step.correction.value.empty() ? constants : usual_constants(), StepConstant::kRates);
}

/// s, between a worker's last message of a step and its first of the next.
double pause_of(const StepSummary& step) {
  double seconds = step.forward_s + step.update_s;
  for (const BucketSummary& bucket : step.buckets)
    seconds += bucket.backward_s + bucket.encode_s + bucket.decode_s;
  return seconds;
}

/// A tree's levels are one where all links are alike.
void join_alike(std::vector<Hops>& hops) {
  std::size_t last = 0;
  for (std::size_t h = 1; h < hops.size(); ++h) {
    const Hops& next = hops[h];
    Hops& joined = hops[last];
    if (next.share == joined.share && next.least == joined.least && next.flows == joined.flows &&
        !next.same_connections && !joined.same_connections && next.both_ways == joined.both_ways)
      joined.count += next.count;
    else
      hops[++last] = next;
  }
  if (!hops.empty()) hops.resize(last + 1);
}

}  // namespace

ExchangeForm::ExchangeForm(const StepSummary& step, ExchangeKind kind,
                           const StepConstants& constants)
    : step_(step),
      constants_(constants),
      hops_(hops_of(kind, step.workers, step.group)),
      slow_(slowest_of(step.workers, waiting_share(step, constants) * step.rate_spread)),
      growth_(std::pow(step.workers / 2.0, at(constants, StepConstant::kCongestion))),
      headers_(step.wire_segment_bytes - step.segment_bytes),
      acknowledgements_(headers_ / (2 * step.wire_segment_bytes)),
      efficiency_(at(constants, StepConstant::kEfficiency) *
                  (step.segment_bytes / step.wire_segment_bytes) / kUsualPayload),
      common_(path_of({})) {
  if (step.server_bandwidth > 0) common_.shared = step.server_bandwidth;
  const auto* paths = step.paths_of(kind);
  if (paths == nullptr || paths->size() != hops_.size()) {
    join_alike(hops_);
    return;
  }
  begin_.push_back(0);
  for (const std::vector<HopPath>& of_hop : *paths) {
    for (const HopPath& factors : of_hop) paths_.push_back(path_of(factors));
    begin_.push_back(paths_.size());
  }
}

ExchangeForm::Path ExchangeForm::path_of(const HopPath& factors) const {
  const double loss = factors.loss * step_.loss, n = std::max(1.0, factors.alike * step_.workers);
  return {factors.bandwidth * step_.bandwidth,
          factors.shared * step_.bandwidth,
          factors.latency * step_.delay_s,
          factors.latency * step_.forwarding_s,
          factors.delay * step_.delay_s,
          loss,
          n,
          std::sqrt(loss),
          loss > 0 ? 1 - std::pow(n, -kFewer) : 0};
}

std::span<const ExchangeForm::Path> ExchangeForm::paths_of(std::size_t hop) const {
  if (paths_.empty()) return {&common_, 1};
  return std::span(paths_).subspan(begin_[hop], begin_[hop + 1] - begin_[hop]);
}

double ExchangeForm::time(double message_bytes) const {
  double time = 0;
  for (std::size_t h = 0; h < hops_.size(); ++h) {
    const Hops& hops = hops_[h];
    double longest = 0;
    for (const Path& path : paths_of(h)) {
      double its = hops.count * hop_time(hops, path, hops.bytes_of(message_bytes));
      if (path.loss > 0 && hops.same_connections) its += last_timeouts(hops, path, message_bytes);
      if (!(its <= longest)) longest = its;  // what is no number, too
    }
    time += longest;
  }
  return time;
}

double ExchangeForm::lead(double message_bytes) const {
  if (paths_.empty() || !hops_.back().same_connections || step_.workers < 3) return 0;
  const Hops& hops = hops_.back();
  double longest = 0, lead = 0;
  for (const Path& path : paths_of(hops_.size() - 1)) {
    const double its = hop_time(hops, path, hops.bytes_of(message_bytes));
    if (its <= longest) continue;
    longest = its;
    const bool stays = path.latency == 0;  // on its link, whose latency is then none of the hop's
    lead = stays ? (step_.workers / path.workers - 1) * its : 0;
  }
  return std::max(0.0, lead);
}

double ExchangeForm::hop_time(const Hops& hops, const Path& path, double bytes) const {
  const double flows = hops.flows;
  const double efficiency = hops.both_ways ? efficiency_ / (1 + acknowledgements_) : efficiency_;
  const double of_all = bytes / (efficiency * (flows > 1 ? path.shared : path.bandwidth));
  const double own = slow_ * bytes / flows / (efficiency * path.bandwidth);
  double moving = std::max(of_all, own);
  if (path.loss > 0) {
    const double segments = bytes / flows / step_.segment_bytes;
    // While one of several flows waits, the others use the link that they share.
    moving = flows > 1 ? norm4(of_all, lossy_hop(hops, path, segments, own))
                       : lossy_hop(hops, path, segments, moving);
  }
  // A message shorter than a segment is forwarded sooner.
  const double shorter = 1 - std::min(1.0, (bytes / flows + headers_) / step_.wire_segment_bytes);
  return at(constants_, StepConstant::kLatency) * (path.latency - shorter * path.forwarding) +
         moving * growth_;
}

double ExchangeForm::lossy_hop(const Hops& hops, const Path& path, double segments,
                               double fluid) const {
  if (segments <= 0) return fluid;
  const double loss = path.loss;
  const double round_trip = 2 * path.delay + step_.segment_bytes / path.bandwidth;
  const double windows =
      at(constants_, StepConstant::kWindows) * segments * path.root_loss / kMathis;
  const double limited = round_trip * windows * windows / (windows + kOpen);
  const auto square = [](double y) { return y * y; };
  const double moving = norm4(fluid, limited);
  // The slowest connection's windows, where windows decide.
  const double losses = segments * loss;
  const double spread = kWindowSpread / std::sqrt(1 + losses / 3);
  const double slowest = limited * square(limited / moving) * limited / moving * spread * path.many;
  const double tail = std::min(kTailSegments, segments);
  // On the same connections, what is lost at the end is noticed once the next hops' segments come.
  const double noticed =
      hops.same_connections ? fluid * tail / segments * std::max(1.0, kTailSegments / segments) : 0;
  const auto delays = [&](double x) {
    return hops.flows > 1 ? delays_of_unluckiest(std::min(hops.flows, path.workers), x)
                          : delays_on_chain(path.workers, x);
  };
  const double waiting = (round_trip + noticed) * delays(losses) + slowest;
  const double rare = losses * loss + (hops.same_connections ? 0 : tail * loss);
  const double passed = moving + at(constants_, StepConstant::kStraggle) * waiting;
  const double stall =
      hops.same_connections ? stall_of_ring(path, passed, tail * loss) : step_.timeout_s;
  return passed + stall * delays(at(constants_, StepConstant::kTimeouts) * rare);
}

double ExchangeForm::stall_of_ring(const Path& path, double moving, double lost_tails) const {
  const double hop = at(constants_, StepConstant::kLatency) * path.latency + moving;
  const double waiting = std::min(path.workers - 1, step_.timeout_s / hop);
  return step_.timeout_s - step_.delayed_ack_s * std::expm1(-lost_tails * waiting);
}

double ExchangeForm::last_timeouts(const Hops& hops, const Path& path, double message_bytes) const {
  const double sent = hops.count * hops.share * message_bytes / step_.segment_bytes;
  const double tail = std::min(kTailSegments, sent) * path.loss;
  const double longest = std::min(step_.timeout_s, pause_of(step_));
  return longest * -std::expm1(-at(constants_, StepConstant::kTimeouts) * path.workers * tail);
}

}  // namespace gradwire::results
