#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "results/reproductions/reproduction.h"

/// How much bandwidth training with local steps needs: arithmetic on one replica's compute, of two
/// replicas over one link.
///
/// Model. A model of P parameters takes c seconds a step, of which two thirds are the backward
/// pass. Every `period` steps a part of P / parts parameters, of so many bits each, is sent to the
/// other replica and received from it at once; the exchange may go on beside the last backward pass
/// and `overlap` steps more, and what is longer than that is waited for:
///
///   exposed     = max(0, bits P / parts / B - (2/3 + overlap) c)
///   utilisation = period c / (period c + exposed)
///
/// Plain data parallelism has a period of one step and one part; DiLoCo (arXiv 2311.08105) a period
/// of H steps and one part; Streaming DiLoCo (arXiv 2501.18512) as many parts as fragments, one
/// each H / parts steps.
///
/// Limits. Two replicas, one link each way, no delay, no loss, no contention; no replica is slower.
namespace gradwire::results {

struct LocalStepsPlan {
  double parameters = 0;
  Seconds step{0};     ///< compute of one step
  double period = 1;   ///< steps from one exchange to the next
  double parts = 1;    ///< of the model, one an exchange
  double bits = 16;    ///< of a parameter on the wire
  double overlap = 0;  ///< steps beside which an exchange may go on
};

/// Share of the time that is compute, at a bandwidth above 0.
double utilisation_of(const LocalStepsPlan& plan, BitsPerSecond bandwidth);
/// The least bandwidth for a utilisation in (0, 1).
BitsPerSecond bandwidth_for(const LocalStepsPlan& plan, double utilisation);

/// Streaming DiLoCo's tables of bandwidths (scenarios/published/streaming-diloco.csv), redrawn: the
/// share of entries within two steps of the authors' grid of 50 bandwidths, with negative controls.
/// `explained`: gets a line for each entry. Throws Error for a table that cannot be read.
std::vector<ReproductionRow> reproduce_streaming_diloco(std::string_view csv,
                                                        const std::string& file,
                                                        std::vector<std::string>& explained);

/// INTELLECT-1's utilisation (arXiv 2412.01152, table 2) from its all-reduces' times and 38 minutes
/// of local steps.
std::vector<ReproductionRow> reproduce_intellect(std::string_view csv, const std::string& file);

}  // namespace gradwire::results
