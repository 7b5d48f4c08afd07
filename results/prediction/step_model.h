#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "results/prediction/step_summary.h"

/// Closed forms for the time of a training step.
///
/// `overlap` (after S. Agarwal et al., "On the Utility of Gradient Compression in Distributed
/// Training Systems", arXiv 2103.00543, section 4): buckets become ready one after the other in the
/// backward pass, are encoded, sent one after the other, and decoded:
///
///     ready_k = ready_(k-1) + backward_k           ready_0 = forward S(n)
///     coded_k = max(ready_k, lane) + encode_k       without overlap: the last ready instead of
///     ready_k sent_k  = max(coded_k, sent_(k-1)) + X_k + additions add_k done_k  = max(sent_k,
///     lane) + decodes decode_k T       = max(ready, done of the last) + update
///
/// where lane is the end of what the worker encoded or decoded before: one thing at a time, in the
/// order in which they can begin. Additions are made on the way: a hop waits for them. Between two
/// exchanges of a bucket (scales, then gradients; chunks to their owners, then their sums) the
/// worker codes again, on the same lane (step_timeline.h),
///
/// with X_k the time of its exchange, S(n) = 1 + s v sqrt(2 ln n) the slowest of n workers whose
/// times vary by v. The exchange is the sum over the collective's hops (exchange_shape.h), b bytes
/// each over f flows on a link:
///
/// and on links that carry messages both ways e is less by the share of acknowledgements, 2.9 %:
///
///     hop     = a d + u (n / 2)^c                no loss
///     hop     = a d + h                          loss, one flow on a link
///     hop     = a d + (q^4 + h^4)^(1/4)          several flows on it: while one waits, the others
///                                                 use what they share
///       u = max(q, o)
///       q = b / (e B_s)                           the shared link (a server's, else a worker's
///       own) o = b w / (f e B)                         the slowest worker's: w = 1 + v sqrt(2 ln
///       n) h = (y^4 + l^4)^(1/4) + k ((R + N) E(M p) + V) + (RTO + D) E(t z)
///                                                 y = u, of several flows o
///       M = b / (f m)                             segments of a transfer
///       l = R s^2 / (s + .15), s = r M / W        round trips, W = 1.22 sqrt(1 / p): Mathis et
///                                                 al., CCR 27(3), 1997, eq. 3
///       E(x) = ((n x)^-2 + (x + .97 sqrt(x))^-2)^(-1/2)
///                                                 rare delays, x a transfer, on the chain that has
///                                                 most of them: each worker waits for a neighbour
///                                                 (last-passage percolation on a ring of n; its
///                                                 numbers by simulation)
///       E(x) = sum over k >= 0 of 1 - P(at most k of mean x)^f
///                                                 of several flows: the unluckiest's
///       V = l (l / moving)^3 .29 / sqrt(1 + M p / 3) (1 - n^-1.2)
///                                                 the slowest of n connections, whose windows vary
///       z = M p^2 + min(3, M) p                   timeouts: a segment lost twice, and a loss among
///                                                 the last three, which has no duplicate
///                                                 acknowledgements. In rings the next hop's data
///                                                 bring those: then z = M p^2, N = the time of
///                                                 three segments' hops, and once an exchange
///                                                 min(RTO, c) (1 - exp(-t n min(3, M) p)): c is
///                                                 the worker's own time between its steps, after
///                                                 which the next step's data come
///       D = A (1 - exp(-min(3, M) p min(n - 1, RTO / h0)))
///                                                 rings: whom a timeout makes wait has lost one
///                                                 of its own last three segments at times. Its
///                                                 timeout ends beside the first one's, but leaves
///                                                 a window of one segment, whose acknowledgement
///                                                 is delayed (A). h0: a hop without timeouts
///
/// d: one-way delay; R = 2 d + m / B: round trip; m = 1,448 bytes a segment; RTO: the least
/// timeout.
///
/// `fitted` is the same with its constants fitted; `overlap` has them at their usual values.
///
/// Steps follow one another as in a run: a worker begins its next one as soon as it has what it
/// waits for, whoever else has not.
///
/// Where links differ a hop has several paths (HopPath), and takes the longest of
///
///     the rate that its slowest transfer has beside the others, with that one's latency;
///     the longest latency, with that transfer's rate; the lossiest path;
///     in rings: all links' mean rate, latency and loss, as a chunk that goes round has them, or
///     2 (n - 1) transfers one after the other on the slowest link, without latency.
///
/// Where k of a ring's n links are slower than the others, the last transfers that a worker waits
/// for have come by them n / k - 1 hops earlier, so that the next step's compute goes on beside
/// them, as far as there is any (ExchangeForm::lead). Which rank of a tree, of halving-doubling or
/// of two levels waits for which link the form does not have: simulations correct it where there is
/// time for them (runner/prediction/exchange_correction.h), and elsewhere its band is wide.
///
/// It breaks down where hops of different buckets share a link unequally, where incast overflows
/// queues (a server of 16 workers and more under loss takes up to 18 % longer), and where
/// halving-doubling crosses links between sites that several of its hops need at different times.
namespace gradwire::results {

/// Acknowledgements over data on the wire: 90 bytes for every second segment of 1,538.
inline constexpr double kAcknowledgements = 90.0 / (2 * 1538);

enum class StepConstant : std::size_t {
  kEfficiency,  ///< e: payload over line rate
  kLatency,     ///< a: time of a hop without bytes, in one-way delays
  kCongestion,  ///< c: exponent of growth with workers
  kWindows,     ///< r: of the loss-limited rate's formula
  kStraggle,    ///< k: of what a loss delays those that wait
  kTimeouts,    ///< t: timeouts over those that the form expects
  kSpread,      ///< s: of what compute spread delays all
  kRates,       ///< share of the links' rate spread that delays all
};
inline constexpr std::size_t kStepConstants = 8;
using StepConstants = std::array<double, kStepConstants>;

/// Name, unit, usual value, and how far from it the constant is expected (log scale; the congestion
/// exponent's on its own scale).
struct StepConstantInfo {
  StepConstant constant;
  std::string_view name;
  double usual;
  double spread;
  bool logarithmic;
};
extern const std::array<StepConstantInfo, kStepConstants> kStepConstantTable;
StepConstants usual_constants();

/// How many times a worker's mean the slowest of them takes, whose times are normal: S(n).
double slowest_of(int workers, double deviation);

/// Seconds that one worker's `message_bytes` take to be exchanged among all.
double exchange_time(const StepSummary& step, double message_bytes, const StepConstants& constants);
/// Where a step's time goes; the parts add up to the step.
struct StepTime {
  double compute_s = 0;  ///< forward, backward, update, waiting for slower workers
  double encode_s = 0;   ///< not hidden behind compute
  double exposed_s = 0;  ///< communication hidden behind neither compute nor codec
  double decode_s = 0;   ///< decoding and adding, not hidden behind compute
  double total_s = 0;
  double exchange_s = 0;  ///< communication in all, hidden or not
};
StepTime step_time(const StepSummary& step, const StepConstants& constants);

/// TernGrad's two forms over the same summary (chart_models.h): one exchange of all messages after
/// the backward pass, bandwidth times efficiency, delay times latency a doubling.
double terngrad_tree_time(const StepSummary& step, const StepConstants& constants);
double terngrad_plateau_time(const StepSummary& step, const StepConstants& constants);

}  // namespace gradwire::results
