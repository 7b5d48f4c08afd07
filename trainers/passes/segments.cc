#include "trainers/passes/segments.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "trainers/passes/live_bytes.h"

namespace gradwire::trainers {
namespace {

using Tensors = std::vector<at::Tensor>;

/// A leaf with the same values, which asks for a gradient where the other does.
at::Tensor leaf_of(const at::Tensor& tensor) {
  at::Tensor leaf = tensor.detach();
  if (tensor.requires_grad()) leaf.set_requires_grad(true);
  return leaf;
}

/// Stages [first, end) of a network, as a function of what autograd does not see.
struct Segment {
  const Network& network;
  const LayerRules& rules;
  std::size_t first, end;
  Tensors parameters;  ///< all of the network's; the segment's own are leaves
  at::Tensor input;    ///< a leaf

  /// With gradients: operations choose their kernels by that, too.
  at::Tensor compute(const Statistics& statistics) const {
    const at::AutoGradMode gradients(true);
    const Layers layers(parameters, statistics, rules);
    at::Tensor x = input;
    for (std::size_t stage = first; stage < end; ++stage) x = network.stage(stage, x, layers);
    return x;
  }
  /// The input, then the segment's parameters.
  Tensors leaves() const {
    Tensors leaves = {input};
    leaves.insert(leaves.end(), parameters.begin() + from(), parameters.begin() + to());
    return leaves;
  }
  std::ptrdiff_t from() const {
    return static_cast<std::ptrdiff_t>(network.first_parameter(first));
  }
  std::ptrdiff_t to() const { return static_cast<std::ptrdiff_t>(network.first_parameter(end)); }
};

/// Where a backward pass goes through a segment.
class SegmentNode final : public torch::autograd::Node {
 public:
  SegmentNode(Segment segment, Statistics statistics)
      : segment_(std::move(segment)), statistics_(std::move(statistics)) {
    statistics_.record = false;  // the forward pass has
  }

  Tensors apply(Tensors&& gradients) override {
    LiveBytes* const live = LiveBytes::current();
    const std::int64_t before = live ? live->bytes() : 0;
    const at::Tensor result = segment_.compute(statistics_);
    if (live) live->add_recomputed(live->bytes() - before);
    const Tensors leaves = segment_.leaves();
    Tensors asking;
    for (const at::Tensor& leaf : leaves)
      if (leaf.requires_grad()) asking.push_back(leaf);
    const Tensors found = torch::autograd::grad({result}, asking, gradients);
    Tensors all;
    std::size_t next = 0;
    for (const at::Tensor& leaf : leaves)
      all.push_back(leaf.requires_grad() ? found[next++] : at::Tensor());
    return all;
  }
  void release_variables() override {
    segment_.parameters.clear();
    segment_.input.reset();
  }

 private:
  Segment segment_;
  Statistics statistics_;
};

at::Tensor forward(Segment segment, const Statistics& statistics, const Tensors& parameters,
                   const at::Tensor& input) {
  const at::Tensor result = segment.compute(statistics).detach();  // lets go of what it kept
  const Tensors own(parameters.begin() + segment.from(), parameters.begin() + segment.to());
  const std::shared_ptr<SegmentNode> node(new SegmentNode(std::move(segment), statistics),
                                          torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(input, own));
  torch::autograd::set_history(result, node);
  return result;
}

}  // namespace

at::Tensor forward_in_segments(const Network& network, const std::vector<at::Tensor>& parameters,
                               const at::Tensor& input, const Statistics& statistics,
                               const LayerRules& rules, std::size_t segments) {
  GRADWIRE_ASSERT(segments >= 1 && segments <= network.stages());
  at::Tensor x = input;
  for (std::size_t i = 0; i < segments; ++i) {
    Segment segment{network,
                    rules,
                    i * network.stages() / segments,
                    (i + 1) * network.stages() / segments,
                    parameters,
                    leaf_of(x)};
    for (auto p = static_cast<std::size_t>(segment.from());
         p < static_cast<std::size_t>(segment.to()); ++p)
      segment.parameters[p] = leaf_of(parameters[p]);
    x = forward(std::move(segment), statistics, parameters, x);
  }
  return x;
}

}  // namespace gradwire::trainers
