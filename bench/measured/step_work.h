#pragma once
#include <string>
#include <vector>

#include "bench/measured/table.h"
#include "scenarios/kernels/kernel.h"

/// What a training step of a table's row computes, kernel by kernel.
namespace gradwire::bench {

/// Of one worker; of a transformer in stages, one of those that have a full share of the layers.
struct StepWork {
  std::vector<scenarios::Kernel> kernels;
  /// What a transformer has beside its layers: of the last stage, where there are several.
  std::vector<scenarios::Kernel> head;
  double parameters = 0;
  double tensors = 0;          ///< that the parameters stand in
  double update_bytes = 0;     ///< that the optimiser moves for a parameter
  double update_launches = 0;  ///< of its kernels, where each tensor has its own; else 0
  double boundary = 0;         ///< elements of the activation between two layers of a transformer
};

/// Why the row's workload has no kernels here; empty if it has.
std::string why_no_work(const MeasuredStep& step);

/// Of one forward and backward pass of `step.batch` samples. Convolutional networks come from the
/// shipped layer tables, transformers from their shape: BERT and GPT-2 as PyTorch ran them in 2019,
/// every operation a kernel (BERT's pre-training: with a head over the vocabulary for every token);
/// GPT with the fused kernels of Megatron-LM; Llama with fused attention, grouped keys and values,
/// SwiGLU. Adam is one kernel but in fp32. Precondition: why_no_work is empty.
StepWork work_of(const MeasuredStep& step);

}  // namespace gradwire::bench
