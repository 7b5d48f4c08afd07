#pragma once
#include <vector>

#include "scenarios/kernels/kernel.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::scenarios {

/// The kernels of a layer that has counts, for `batch` samples. Kinds of layers: convolution,
/// linear (tied, too: without a weight of its own), lstm (products of all inputs, then one of the
/// state a step), matrix-product (of two activations), causal-attention (one kernel), embedding
/// (the rows that are looked up), operations of transformers (operations.h), batch-norm, relu, add
/// and others, which memory bounds.
std::vector<Kernel> layer_kernels(const WorkloadProfile::Layer& layer, double batch);

}  // namespace gradwire::scenarios
