#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/advice/candidate.h"
#include "scenarios/scenario.h"

/// "Should I compress?" for scenarios: every way to exchange a model's gradients that its codecs,
/// collectives and network allow, as candidates for results/advice/ranking.h.
namespace gradwire::runner {

/// What to choose from.
struct AdviceChoices {
  /// /method objects as JSON; empty = usual_methods() that the device's profile knows.
  std::vector<std::string> methods;
  /// Names of /exchange/collective; empty = ring, tree, halving-doubling, two-level, direct,
  /// scatter-reduce, parameter-server. Pairs that a codec cannot take are left out.
  std::vector<std::string> collectives;
  std::vector<Bytes> buckets;  ///< empty = 4, 25 and 100 MB
  /// Hold the closed form of each exchange against a few simulations of it alone on this network,
  /// and correct it (runner/prediction/exchange_correction.h): tenths of a second a number of
  /// workers.
  bool simulate_exchanges = true;
  /// Told the number of each method before its turn, and how many there are; may be empty.
  std::function<void(std::size_t number, std::size_t all)> on_method = {};
};

/// none, fp16, int8, qsgd, terngrad, sign, powersgd, topk 1 % and 0.1 %, dgc 0.1 %; the biased ones
/// with error feedback.
std::vector<std::string> usual_methods();

/// "topk", "topk:ratio=0.001", "sign:error_feedback=true": a codec's name and fields of /method, as
/// JSON. Throws Error where it has another form.
std::string method_of_text(const std::string& text);

/// The scenario's model, devices and network on `workers` workers (its stragglers are left out
/// where the number differs). The scenario's own method, collective and bucket do not matter, nor
/// its overlap: true. Candidates that cannot be summed up are named in `left_out`, with the reason.
/// Throws Error: no layer table (only those can be exchanged in every way without a run), a method
/// or collective that no scenario allows, nothing left.
std::vector<results::Candidate> advice_candidates(const scenarios::Scenario& scenario,
                                                  const AdviceChoices& choices, int workers,
                                                  std::vector<std::string>& left_out);

/// The scenario with the candidate's method, collective, bucket and workers.
scenarios::Scenario with_candidate(const scenarios::Scenario& scenario,
                                   const results::Candidate& candidate);

/// Time of the candidate's second step (the first one's connections are fresh) on executor `flow`.
double flow_seconds(const scenarios::Scenario& scenario, const results::Candidate& candidate);

}  // namespace gradwire::runner
