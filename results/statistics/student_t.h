#pragma once

namespace gradwire::results {

/// Quantile of Student's t with `freedom` >= 1 degrees of freedom: what such a variable is below
/// with this probability (0..1, both excluded). A two-sided 90 % interval takes 0.95, one of 95 %
/// 0.975.
double student_quantile(double probability, int freedom);

}  // namespace gradwire::results
