#pragma once
#include <optional>
#include <span>
#include <vector>

#include "results/advice/choice.h"
#include "results/prediction/step_fit.h"

/// "Should I compress?": ways to exchange gradients, ranked by the time of a step.
///
/// Nothing in here knows which codec goes with which exchange, or when compression pays: an
/// all-gather whose messages are not small enough loses because its time is longer.
namespace gradwire::results {

struct RankedCandidate {
  Candidate candidate;
  StepPrediction prediction;
  AccuracyEvidence accuracy;
  double seconds() const { return prediction.time.total_s; }
};

struct Advice {
  std::vector<RankedCandidate> ranked;  ///< the fastest first; never empty
  /// Of `ranked`. The verdict is kNothing and nothing chosen where all lose too much accuracy.
  Choice choice;
  /// Time of the fastest fp32 (fp16) step over that of the chosen one: 1.5 = half as fast again.
  std::optional<double> over_fp32, over_fp16;
  double tolerance = kUsualTolerance;

  Verdict verdict() const { return choice.verdict; }
  const RankedCandidate* chosen() const {
    return choice.chosen ? &ranked[*choice.chosen] : nullptr;
  }
};

/// What accuracy is judged by: nothing is known without `knowledge`.
struct AccuracyQuestion {
  const AccuracyKnowledge* knowledge = nullptr;
  std::string model;  ///< that is to be trained
};

/// Throws Error: no candidate.
Advice advise(std::span<const Candidate> candidates, const StepFit& fit,
              const AccuracyQuestion& question = {});

/// The advice if codecs took so many times as long as was assumed.
struct CodecCostAdvice {
  double factor = 1;
  Advice advice;
};
inline constexpr double kCodecCostFactors[] = {1, 10, 100};

/// At each of kCodecCostFactors; codec times that were measured stay. Empty where none is assumed.
std::vector<CodecCostAdvice> advice_by_codec_cost(std::span<const Candidate> candidates,
                                                  const StepFit& fit,
                                                  const AccuracyQuestion& question = {});

/// recommendation() of it.
std::string verdict_sentence(const Advice& advice);
/// "The codecs' times are assumed. With 10 times them: fp16 by ring. ..."; empty for none.
std::string codec_cost_sentence(std::span<const CodecCostAdvice> by_cost);
/// "topk 1% +ef by ring in buckets of 25.0 MB"
std::string way_of(const Candidate& candidate);

}  // namespace gradwire::results
