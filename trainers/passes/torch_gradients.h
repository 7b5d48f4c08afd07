#pragma once
#include "trainers/passes/aten.h"

#include <span>
#include <utility>
#include <vector>

#include "trainers/passes/replica.h"

/// Where the gradients of a pass lie. Includes LibTorch.
namespace gradwire::trainers {

/// Of a pass on the CPU: the tensors that autograd made.
class TorchGradients final : public Gradients {
 public:
  void take(std::vector<at::Tensor> tensors) {
    held_ = std::move(tensors);
    tensors_.clear();
    for (const at::Tensor& tensor : held_) {
      tensors_.emplace_back(tensor.const_data_ptr<float>(),
                            static_cast<std::size_t>(tensor.numel()));
    }
  }

 private:
  std::vector<at::Tensor> held_;
};

/// All gradients of a pass in one flat device buffer; each bucket is a range of it. Autograd adds
/// into views of it. `on_host`: a copy that each pass fills, for codecs that have no CUDA twin.
class FlatGradients final : public Gradients {
 public:
  FlatGradients(const Layout& layout, std::span<const Parameter> parameters, at::Device device,
                bool keep_on_device)
      : flat_(at::zeros({layout.elements()}, at::TensorOptions(device).dtype(at::kFloat))) {
    if (!keep_on_device) host_ = at::empty({layout.elements()}, at::kFloat);
    const float* base = (keep_on_device ? flat_ : host_).const_data_ptr<float>();
    for (const TensorSlot& slot : layout.tensors()) {
      tensors_.emplace_back(base + slot.first, static_cast<std::size_t>(slot.count));
    }
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const TensorSlot& slot = layout.tensors()[layout.tensor_of(static_cast<int>(p))];
      views_.push_back(flat_.narrow(0, slot.first, slot.count).view(parameters[p].shape));
    }
  }
  bool on_host() const override { return host_.defined(); }

  /// Called before the backward pass: what it leaves is added to these zeros.
  void bind(std::vector<at::Tensor>& parameters) {
    flat_.zero_();
    for (std::size_t p = 0; p < parameters.size(); ++p) parameters[p].mutable_grad() = views_[p];
  }
  void finish(std::vector<at::Tensor>& parameters) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      at::Tensor& gradient = parameters[p].mutable_grad();
      GRADWIRE_ASSERT(gradient.is_same(views_[p]));  // autograd wrote in place
      gradient.reset();
    }
    if (host_.defined()) host_.copy_(flat_);
  }

 private:
  at::Tensor flat_, host_;
  std::vector<at::Tensor> views_;  ///< by parameter
};

}  // namespace gradwire::trainers
