#pragma once
#include <string>

#include "bench/measured/constants.h"
#include "bench/measured/step_work.h"
#include "bench/measured/table.h"

/// Seconds of a training step from its kernels.
///
/// Model. A product [m, k] x [k, n], c of them, on a device of peak F, memory bandwidth W and S
/// multiprocessors takes
///
///   max( 2 m n k c / (F e u),  b x / (a W) ) + 2 us,      u = t / (t + g S)
///
/// e efficiency by kind and precision, t tiles of 128 x 128 (few tiles are split along k), g
/// kTile; x elements of b bytes read and written, a kMemory. Kernels that memory bounds take b x
/// times kTraffic / (a W). A backward pass has two products for each. The device and the host that
/// launches its kernels work side by side, so a pass takes
///
///   (G^3 + H^3)^(1/3),        G the kernels' sum, H = launches times kHost
///
/// and a step  accumulated passes + update + kStep + (several workers) kParallel + kExposed times
/// what of the reduction's 2 (n - 1) / n b P / B is behind the last gradient: all of it where local
/// steps end in an average, 0.3 of it where buckets go with the backward pass, 0.02 where weights
/// are sharded and fetched ahead.
///
/// Limits. Nothing is known of input pipelines that cannot keep up, clocks and power limits, and
/// kernels that a program fused by hand.
namespace gradwire::bench {

/// Why the row has no time in this form; empty if it has.
std::string why_no_step_form(const MeasuredStep& step);

/// The work and the device of a row, looked up once.
class StepForm {
 public:
  /// Precondition: why_no_step_form is empty.
  explicit StepForm(const MeasuredStep& step);
  Seconds time(const Constants& constants) const;

 private:
  struct Pass {
    double forward = 0, backward = 0;  // seconds of the device
    double launches = 0;
  };
  double product(const StepKernel& one, double m, double n, double k,
                 const Constants& constants) const;
  void add(const StepKernel& one, const Constants& constants, Pass& pass) const;
  double reduction(const Constants& constants) const;

  const MeasuredStep step_;
  const StepWork work_;
  bool tensor_cores_;
  double element_bytes_, flops_, memory_bytes_, multiprocessors_;
};

}  // namespace gradwire::bench
