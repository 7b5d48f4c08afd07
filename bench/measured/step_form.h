#pragma once
#include <string>

#include "bench/measured/constants.h"
#include "bench/measured/step_work.h"
#include "bench/measured/table.h"
#include "scenarios/kernels/kernel_time.h"

/// Seconds of a training step from its kernels.
///
/// Model. A pass takes the time of its kernels (scenarios/kernels/kernel_time.h), with the
/// constants of kernels in place of the device profile's; a step takes  accumulated passes + update
/// + kStep + (several workers) kParallel + kExposed times what of the reduction's 2 (n - 1) / n b P
/// / B is behind the last gradient: 0.3 of it where buckets go with the backward pass, 1.5 layers
/// of it where weights are sharded and fetched ahead; and never less than what the links take at
/// their rate beyond the passes that can hide it: the last backward pass, or, where weights are
/// sharded, all of them (each gathers twice and scatters once, 2 of those reductions). After k
/// local steps everything is averaged, tensor by tensor, five kernels each (the change since the
/// last average, the reduction, its share, the sum, a copy for the next change): a step takes 1 / k
/// of kParallel and of the reduction side by side with the host that launches those.
///
/// A layer shared out by tensor parallelism adds two all-reduces of its activation to each pass
/// (NCCL's time, collective_form.h, without constants of its own), which nothing hides. m passes
/// through p stages take  m L + (p - 1) S + 2 (m + p - 1) T:  S a stage's pass, L the last one's
/// with the head, T the activation's way to the next stage (one forward, one backward, no
/// interleaving). Which links those take: rank_layout.h.
///
/// Full checkpointing runs the forward pass again; selective checkpointing runs again, of each
/// layer, what memory bounds and every second product. A board that may draw P watts of the P0 of
/// its data sheet computes at (P / P0)^(1/3) of the peak: power grows with the cube of the clock.
///
/// Limits. Nothing is known of input pipelines that cannot keep up, clocks and power limits, and
/// kernels that a program fused by hand.
namespace gradwire::bench {

/// tf32's share of its peak over fp16's of its own: assumed.
inline constexpr double kTf32OfFp16 = 0.6;

/// Why the row has no time in this form; empty if it has.
std::string why_no_step_form(const MeasuredStep& step);

/// The work and the device of a row, looked up once.
class StepForm {
 public:
  /// Precondition: why_no_step_form is empty.
  explicit StepForm(const MeasuredStep& step);
  Seconds time(const Constants& constants) const;

 private:
  scenarios::KernelRoof roof_with(const Constants& constants) const;
  struct Pass {
    double time = 0, backward = 0;  ///< s; of it the backward half
  };
  struct Passes {
    double time = 0, last_backward = 0;
  };
  Pass pass(const Constants& constants, const scenarios::KernelRoof& roof, bool with_head) const;
  Passes passes(const Constants& constants) const;
  double reduction(const Constants& constants, const Passes& passes) const;
  double average(const Constants& constants, double whole) const;
  double computed_again(const scenarios::Kernel& one) const;  ///< share of its forward pass
  double tensor_reductions() const;                           ///< of a pass through a stage
  double hand_over() const;  ///< of an activation to the next stage

  const MeasuredStep step_;
  const StepWork work_;
  bool tensor_cores_;
  scenarios::KernelRoof roof_;  ///< of the data sheet, or of what the row says of its board
  double plain_flops_ = 0;      ///< peak in fp32
  double tensor_reductions_ = 0, hand_over_ = 0;
};

}  // namespace gradwire::bench
