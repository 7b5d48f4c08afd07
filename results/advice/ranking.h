#pragma once
#include <optional>
#include <span>
#include <vector>

#include "results/advice/candidate.h"
#include "results/prediction/step_fit.h"

/// "Should I compress?": ways to exchange gradients, ranked by the time of a step.
///
/// Nothing in here knows which codec goes with which exchange, or when compression pays: an
/// all-gather whose messages are not small enough loses because its time is longer.
namespace gradwire::results {

/// Steps whose times differ by no more than this share are as good as each other.
inline constexpr double kTie = 0.03;

enum class Verdict {
  kDoNotCompress,  ///< fp32 is as fast as anything
  kHalves,         ///< fp16 pays, and nothing beats it: do not compress beyond it
  kCompress,
};
std::string_view name_of(Verdict verdict);

/// Times of the fastest of each kind decide: the least lossy that is within kTie of the fastest of
/// all. A kind without a candidate has no time.
Verdict verdict_of(std::optional<double> fp32_s, std::optional<double> fp16_s,
                   std::optional<double> compressed_s);

struct RankedCandidate {
  Candidate candidate;
  StepPrediction prediction;
  double seconds() const { return prediction.time.total_s; }
};

struct Advice {
  Verdict verdict = Verdict::kDoNotCompress;
  std::vector<RankedCandidate> ranked;  ///< the fastest first; never empty
  /// The candidate that the verdict takes.
  std::size_t chosen = 0;
  /// The fastest of each kind; empty where none is among the candidates.
  std::optional<std::size_t> fp32, fp16, compressed;
  /// Time of the fastest fp32 (fp16) step over that of the chosen one: 1.5 = half as fast again.
  std::optional<double> over_fp32, over_fp16;
};

/// Throws Error: no candidate.
Advice advise(std::span<const Candidate> candidates, const StepFit& fit);

/// The verdict in words a planner can use: what to do, by how much, and by what model.
std::string verdict_sentence(const Advice& advice);

}  // namespace gradwire::results
