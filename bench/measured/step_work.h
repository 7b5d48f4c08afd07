#pragma once
#include <string>
#include <vector>

#include "bench/measured/table.h"
#include "scenarios/kernels/kernel.h"

/// What a training step of a table's row computes, kernel by kernel.
namespace gradwire::bench {

struct StepWork {
  std::vector<scenarios::Kernel> kernels;
  double parameters = 0;
  double update_bytes = 0;  ///< that the optimiser moves for a parameter
};

/// Why the row's workload has no kernels here; empty if it has.
std::string why_no_work(const MeasuredStep& step);

/// Of one forward and backward pass of `step.batch` samples. Convolutional networks come from the
/// shipped layer tables, transformers (gpt, bert-large, llama-8b) from their shape: unfused
/// dropout, normalisation and softmax, and with llama fused attention, grouped keys and values (a
/// quarter), SwiGLU of 3.5 hidden. Precondition: why_no_work is empty.
StepWork work_of(const MeasuredStep& step);

}  // namespace gradwire::bench
