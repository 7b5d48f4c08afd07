#include "trainers/passes/stage_passes.h"

#include <torch/csrc/autograd/autograd.h>

namespace gradwire::trainers {
namespace {

/// What the other side of a boundary has of `values`: a tensor of its own on the same device.
template <class Pass>
at::Tensor passed(const at::Tensor& values, const Pass& pass) {
  // Never the sender's memory: autograd may hold on to that.
  at::Tensor host = values.detach().to(at::kCPU, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  host = host.contiguous();
  pass(std::span<const std::int64_t>(host.sizes().data(), host.sizes().size()),
       std::span<float>(host.data_ptr<float>(), static_cast<std::size_t>(host.numel())));
  return host.to(values.device());
}

}  // namespace

at::Tensor pass_stages(const Network& network, std::span<const std::size_t> ends,
                       const std::vector<at::Tensor>& parameters, const at::Tensor& input,
                       const Statistics& statistics, const LayerRules& rules,
                       StageBoundaries& boundaries, const LossOfResults& loss_of,
                       float loss_scale) {
  const Layers layers(parameters, statistics, rules);
  std::vector<at::Tensor> sent, received;  // by boundary
  at::Tensor x = input;
  std::size_t part = 0;
  for (std::size_t stage = 0; stage < ends.size(); ++stage) {
    const bool last = stage + 1 == ends.size();
    for (; part < ends[stage] - (last ? 0 : 1); ++part) x = network.stage(part, x, layers);
    if (last) break;
    sent.push_back(network.before_activation(part, x, layers));
    received.push_back(passed(sent.back(), [&](auto shape, auto values) {
                         boundaries.activations(stage, shape, values);
                       }).set_requires_grad(true));
    x = network.activation(part++, received.back(), layers);
  }
  const at::Tensor loss = loss_of(x);
  x.reset();  // autograd has what it needs
  boundaries.turn();
  (loss_scale == 1 ? loss : loss * loss_scale).backward();
  for (std::size_t b = sent.size(); b-- > 0;) {
    const at::Tensor gradient = passed(received[b].grad(), [&](auto shape, auto values) {
      boundaries.gradients(b, shape, values);
    });
    torch::autograd::backward({sent[b]}, {gradient});
  }
  return loss;
}

}  // namespace gradwire::trainers
