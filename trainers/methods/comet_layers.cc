#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <algorithm>
#include <cmath>

#include "base/exact_text.h"
#include "trainers/methods/comet.h"
#include "trainers/methods/comet_packing.h"
#include "trainers/passes/layer_rules.h"

/// What COMET (arXiv 2111.09562) keeps between forward and backward pass. Layers compute what they
/// always do; what autograd has saved of them is packed as soon as a layer is done, and unpacked
/// when its backward pass asks for it:
///
///   convolution  its input x, by codec sz: x' with |x - x'| <= eb, x' = 0 where x = 0. The
///                gradient of weights sees x', those of input and bias do not
///   ReLU         a bit an element: whether a gradient passes
///   max pooling  2 bits an element: which of the four was the largest; of its input, the shape
///
/// LibTorch's own save a ReLU's result, which is the next convolution's input: as long as one of
/// the two keeps it, compressing it elsewhere frees nothing.
namespace gradwire::trainers {
namespace {

using methods::CometMemory;
using torch::autograd::SavedVariable;
namespace nodes = torch::autograd::generated;

/// Where nothing is known of a layer, as when passes are timed before the first step.
constexpr double kUnknownBound = 0.01;  ///< of the input's range

template <class T>
std::span<T> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

std::span<std::byte> bytes_of(const at::Tensor& tensor) {
  return std::as_writable_bytes(values_of<std::uint8_t>(tensor));
}

at::Tensor host_bytes(std::size_t count) {
  return at::empty({static_cast<std::int64_t>(count)}, at::kByte);
}

/// A saved tensor in another form, which lies where the tensor did.
class Packed : public torch::autograd::SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) final {
    shape_ = tensor.sizes().vec();
    options_ = tensor.options().requires_grad(false);
    const at::Tensor host = tensor.detach().cpu();
    bytes_ = pack(host).to(tensor.device());
  }
  at::Tensor call_unpack_hook() final {
    const at::Tensor host = at::empty(shape_, options_.device(at::kCPU));
    unpack(bytes_.cpu(), host);
    return host.to(options_.device());
  }

 protected:
  virtual at::Tensor pack(const at::Tensor& host) = 0;
  virtual void unpack(const at::Tensor& bytes, const at::Tensor& host) = 0;

 private:
  std::vector<std::int64_t> shape_;
  at::TensorOptions options_;
  at::Tensor bytes_;
};

class PackedInput final : public Packed {
 public:
  PackedInput(compressors::CodecPtr codec, std::span<float> memory, bool watch)
      : codec_(std::move(codec)), memory_(memory), watch_(watch) {}

 private:
  at::Tensor pack(const at::Tensor& host) override {
    columns_ = host.size(-1);
    const std::span<const float> values = values_of<float>(host);
    const auto blocks = methods::pack_blocks(*codec_, values, columns_);
    at::Tensor bytes = host_bytes(blocks.size());
    std::ranges::copy(blocks, bytes_of(bytes).begin());
    if (!memory_.empty()) memory_[CometMemory::kStored] = static_cast<float>(blocks.size());
    if (watch_) memory_[CometMemory::kError] = largest_error(values, bytes);
    return bytes;
  }
  void unpack(const at::Tensor& bytes, const at::Tensor& host) override {
    methods::unpack_blocks(*codec_, bytes_of(bytes), columns_, values_of<float>(host));
  }
  float largest_error(std::span<const float> values, const at::Tensor& bytes) const {
    std::vector<float> kept(values.size());
    methods::unpack_blocks(*codec_, bytes_of(bytes), columns_, kept);
    float largest = 0;
    for (std::size_t e = 0; e < kept.size(); ++e)
      largest = std::max(largest, std::fabs(kept[e] - values[e]));
    return largest;
  }

  compressors::CodecPtr codec_;
  std::span<float> memory_;
  bool watch_;
  std::int64_t columns_ = 1;
};

class PackedMask final : public Packed {
  at::Tensor pack(const at::Tensor& host) override {
    at::Tensor bits = host_bytes((values_of<float>(host).size() + 7) / 8);
    methods::pack_passed(values_of<float>(host), bytes_of(bits));
    return bits;
  }
  void unpack(const at::Tensor& bits, const at::Tensor& host) override {
    methods::unpack_passed(bytes_of(bits), values_of<float>(host));
  }
};

class PackedPlaces final : public Packed {
 public:
  explicit PackedPlaces(methods::Pooling pooling) : pooling_(pooling) {}

 private:
  at::Tensor pack(const at::Tensor& host) override {
    at::Tensor bits = host_bytes((values_of<std::int64_t>(host).size() + 3) / 4);
    methods::pack_places(pooling_, values_of<std::int64_t>(host), bytes_of(bits));
    return bits;
  }
  void unpack(const at::Tensor& bits, const at::Tensor& host) override {
    methods::unpack_places(pooling_, bytes_of(bits), values_of<std::int64_t>(host));
  }
  methods::Pooling pooling_;
};

/// Of a tensor whose values nobody looks at again.
class ShapeAlone final : public Packed {
  at::Tensor pack(const at::Tensor&) override { return host_bytes(0); }
  void unpack(const at::Tensor&, const at::Tensor&) override {}
};

template <class Node>
Node* node_of(const at::Tensor& output) {
  return dynamic_cast<Node*>(output.grad_fn().get());
}

/// What is counted of a convolution besides: the share of its input that is not 0, and, when the
/// backward pass comes by, its loss map.
void watch(const at::Tensor& input, const at::Tensor& output, std::span<float> memory) {
  memory[CometMemory::kError] = 0;
  const auto others = input.detach().ne(0).sum().item<std::int64_t>();
  memory[CometMemory::kShare] =
      static_cast<float>(static_cast<double>(others) / static_cast<double>(input.numel()));
  output.register_hook([memory](const at::Tensor& loss_map) {
    const double squares = loss_map.detach().square().sum(at::kDouble).item<double>();
    memory[CometMemory::kLossSquares] =
        static_cast<float>(squares / static_cast<double>(loss_map.size(1)));
  });
}

class CompressedLayers final : public LayerRule {
 public:
  explicit CompressedLayers(const std::map<std::string, double>& options)
      : radius_(static_cast<int>(options.at("radius"))),
        masks_(options.at("masks") != 0),
        batch_(options.at("batch") != 0) {
    constexpr const char* kPredictors[] = {"none", "1d", "2d", "auto"};
    predictor_ = kPredictors[static_cast<std::size_t>(options.at("predictor"))];
  }

  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    const at::Tensor output = compute(input, weights);
    if (!layer.training || !output.requires_grad()) return output;
    if (layer.kind == LayerKind::kConvolution && (batch_ || layer.first_parameter > 0))
      pack_input(layer, input, output);
    else if (layer.kind == LayerKind::kActivation && masks_)
      pack_mask(output);
    else if (layer.kind == LayerKind::kPooling && masks_)
      pack_places(input, output);
    return output;
  }

 private:
  void pack_input(const Layer& layer, const at::Tensor& input, const at::Tensor& output) const {
    auto* const node = node_of<nodes::ConvolutionBackward0>(output);
    if (!node || !input.is_contiguous()) return;
    const bool known = !layer.memory.empty();
    if (known) {
      layer.memory[CometMemory::kElements] = static_cast<float>(input.numel());
      layer.memory[CometMemory::kStored] = 4 * layer.memory[CometMemory::kElements];
    }
    if (layer.watch) watch(input, output, layer.memory);
    const double bound = known ? layer.memory[CometMemory::kBound] : kUnknownBound;
    if (bound == 0) return;
    auto codec = compressors::make_codec("sz", {{"bound", exact_text(bound)},
                                                {"mode", known ? "absolute" : "relative"},
                                                {"predictor", predictor_},
                                                {"radius", std::to_string(radius_)}});
    node->input_.register_hooks(
        std::make_unique<PackedInput>(std::move(codec), layer.memory, layer.watch));
  }

  void pack_mask(const at::Tensor& output) const {
    auto* const node = node_of<nodes::ReluBackward0>(output);
    if (node && output.is_contiguous())
      node->result_.register_hooks(std::make_unique<PackedMask>());
  }

  void pack_places(const at::Tensor& input, const at::Tensor& output) const {
    auto* const node = node_of<nodes::MaxPool2DWithIndicesBackward0>(output);
    const std::vector<std::int64_t> two = {2, 2};
    if (!node || !input.is_contiguous() || node->kernel_size != two ||
        (!node->stride.empty() && node->stride != two))
      return;
    node->self_.register_hooks(std::make_unique<ShapeAlone>());
    node->result1_.register_hooks(
        std::make_unique<PackedPlaces>(methods::Pooling{input.size(2), input.size(3)}));
  }

  int radius_;
  bool masks_, batch_;
  std::string predictor_;
};

const LayerRuleEntry kCompressedLayers("comet", [](const std::map<std::string, double>& options) {
  return std::make_unique<CompressedLayers>(options);
});

}  // namespace
}  // namespace gradwire::trainers
