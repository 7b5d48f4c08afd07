#pragma once
#include <optional>
#include <span>
#include <string>

#include "results/store/store.h"

/// What runs lost that trained over udp-lossy (docs/network.md): shares, of the run.
namespace gradwire::results {

struct GradientLoss {
  double missing = 0;  ///< of the gradients' bytes
  double error = 0;    ///< of a worker's mean gradient, against the complete one
  double spread = 0;   ///< of the workers' weights at the end
};

/// From a run's figures missing_share, gradient_error and weight_spread; nothing for other runs.
std::optional<GradientLoss> gradient_loss_of(std::span<const MetricRow> metrics);

/// Of the runs that have it; nothing for none.
std::optional<GradientLoss> mean_of(std::span<const GradientLoss> losses);

/// "3.96 % of the gradients' bytes never arrived; a worker's mean gradient was 34 % off the
/// complete one, and weights ended 0.9 % apart".
std::string in_words(const GradientLoss& loss);

}  // namespace gradwire::results
