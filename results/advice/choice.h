#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "results/advice/accuracy_evidence.h"
#include "results/advice/candidate.h"

/// Which way of exchanging gradients to take: the one rule of `advise`, the report of runs and the
/// scalability report.
///
/// Of the steps that are as fast as the fastest, the least lossy: fp32, then fp16, then compressed.
/// Among compressed ones that are as fast as the fastest of them: one whose accuracy is better
/// known, then the one that sends most, since it leaves least out.
/// A method that loses more accuracy than is accepted is not taken, however fast.
namespace gradwire::results {

/// Steps whose times differ by no more than this share are as good as each other.
inline constexpr double kTie = 0.03;

enum class Verdict {
  kDoNotCompress,  ///< fp32 is as fast as anything
  kHalves,         ///< fp16 pays, and nothing beats it: do not compress beyond it
  kCompress,
  kNothing,  ///< all that there is loses too much accuracy
};
std::string_view name_of(Verdict verdict);

/// fp32 and fp16 (or bf16) as they are, without error feedback; else compressed. `method_json`:
/// /method of a scenario; anything but an object with a name is taken for compressed.
Baseline baseline_of(const std::string& method_json);
/// /method of a resolved scenario (both JSON); "{}" where it has none.
std::string method_of_scenario(const std::string& scenario_json);

/// A way to exchange gradients that may be chosen.
struct Option {
  Baseline baseline = Baseline::kNone;
  double seconds = 0;        ///< of a step
  double doubt_s = 0;        ///< half the interval of that time; 0 = exact, or not known
  double message_bytes = 0;  ///< of a worker in a step; 0 = not known
  AccuracyEvidence accuracy;
  std::string name;         ///< "topk 1% +ef by ring in buckets of 25.0 MB"
  std::string method_json;  ///< /method of a scenario
};

/// Within kTie of each other, or within what their intervals allow.
bool as_fast(const Option& a, const Option& b);

/// Indices of options.
struct Choice {
  Verdict verdict = Verdict::kNothing;
  std::optional<std::size_t> chosen;
  /// The fastest of each kind that may be taken.
  std::optional<std::size_t> fp32, fp16, compressed;
  /// The fastest of those that lose too much accuracy; only where it is faster than the chosen one.
  std::optional<std::size_t> refused;
  /// As fast as the chosen one, of those that may be taken: "no difference" in time.
  std::vector<std::size_t> ties;
};

/// Precondition: there is one.
Choice choose(std::span<const Option> options);

/// Goes before the command that ends a recommendation.
inline constexpr std::string_view kToFindOut = " To find out: ";

/// What to do, by how much it is faster, what is known of its accuracy or how to find out, what is
/// as fast, and what is faster but loses more than `tolerance` (a share). `where`: " on 16
/// workers", or empty.
std::string recommendation(const Choice& choice, std::span<const Option> options,
                           const std::string& where, double tolerance);

/// By times alone. A kind without a candidate has no time.
Verdict verdict_of(std::optional<double> fp32_s, std::optional<double> fp16_s,
                   std::optional<double> compressed_s);

}  // namespace gradwire::results
