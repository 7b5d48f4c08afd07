#pragma once
#include "trainers/passes/network.h"

/// Activation checkpointing (Chen, Xu, Zhang, Guestrin: "Training deep nets with sublinear memory
/// cost", arXiv 1604.06174): a forward pass keeps what goes from a segment of the network to the
/// next one; the backward pass computes a segment once more from its input, goes back through it,
/// and lets go of it. The same operations on the same values, so the gradients are bit-equal.
/// Includes LibTorch.
namespace gradwire::trainers {

/// Segment i of k has the stages from floor(i n / k) to floor((i + 1) n / k), of n.
/// Preconditions: 1 <= segments <= network.stages(); all arguments outlive the backward pass.
at::Tensor forward_in_segments(const Network& network, const std::vector<at::Tensor>& parameters,
                               const at::Tensor& input, const Statistics& statistics,
                               const LayerRules& rules, std::size_t segments);

}  // namespace gradwire::trainers
