#include "results/runs/gradient_loss.h"

#include <map>

#include "results/statistics/percent.h"

namespace gradwire::results {
namespace {

constexpr const char* kDigits = "%.3g";  // losses of a tenth of a percent count

}  // namespace

std::optional<GradientLoss> gradient_loss_of(std::span<const MetricRow> metrics) {
  std::map<std::string, double> finals;
  for (const MetricRow& row : metrics)
    if (row.step == -1) finals[row.name] = row.value;
  for (const char* name : {"missing_share", "gradient_error", "weight_spread"})
    if (!finals.contains(name)) return std::nullopt;
  return GradientLoss{finals["missing_share"], finals["gradient_error"], finals["weight_spread"]};
}

std::optional<GradientLoss> mean_of(std::span<const GradientLoss> losses) {
  if (losses.empty()) return std::nullopt;
  GradientLoss mean;
  const double share = 1.0 / static_cast<double>(losses.size());
  for (const GradientLoss& loss : losses) {
    mean.missing += loss.missing * share;
    mean.error += loss.error * share;
    mean.spread += loss.spread * share;
  }
  return mean;
}

std::string in_words(const GradientLoss& loss) {
  if (loss.missing == 0) return "no byte of the gradients was lost";
  return percent_by(kDigits, loss.missing) +
         " of the gradients' bytes never arrived; a worker's mean gradient was " +
         percent_by(kDigits, loss.error) + " off the complete one, and weights ended " +
         percent_by(kDigits, loss.spread) + " apart";
}

}  // namespace gradwire::results
