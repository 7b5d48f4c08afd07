#pragma once
#include <functional>

#include "trainers/passes/network.h"
#include "trainers/passes/replica.h"

/// A pass of a model that is cut into stages, as workers of a pipeline make it: each has a graph of
/// its own for autograd, which starts at what it received. Includes LibTorch.
namespace gradwire::trainers {

using LossOfResults = std::function<at::Tensor(const at::Tensor& results)>;

/// The loss; leaves gradients at the parameters. Stage s goes back, by its own graph, from the
/// gradient that it is handed; activations are copied at boundaries and nowhere else. The gradient
/// is that of the loss times `loss_scale`. Arguments as Replica::train_stages takes them.
at::Tensor pass_stages(const Network& network, std::span<const std::size_t> ends,
                       const std::vector<at::Tensor>& parameters, const at::Tensor& input,
                       const Statistics& statistics, const LayerRules& rules,
                       StageBoundaries& boundaries, const LossOfResults& loss, float loss_scale);

}  // namespace gradwire::trainers
