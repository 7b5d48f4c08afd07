#include <cmath>

#include "trainers/passes/network.h"

namespace gradwire::trainers {
namespace {

/// ResNet-20 for small images (He, Zhang, Ren, Sun: "Deep residual learning for image recognition",
/// CVPR 2016, section 4.2): 3x3 convolutions, three stages of three blocks with 16, 32, 64 maps,
/// shortcuts without parameters (option A: subsampled, padded with zero channels), global average,
/// one dense layer; 0.27 million parameters.
class Resnet20 final : public Network {
 public:
  explicit Resnet20(const DataSet& data) {
    begin_stage();
    add_unit("stem", data.channels, kWidths[0]);
    std::int64_t in = kWidths[0];
    for (std::size_t stage = 0; stage < 3; ++stage) {
      for (std::size_t block = 0; block < kBlocks; ++block) {
        begin_stage();
        const std::string name =
            "stage" + std::to_string(stage + 1) + ".block" + std::to_string(block + 1);
        add_unit(name + ".first", in, kWidths[stage]);
        add_unit(name + ".second", kWidths[stage], kWidths[stage]);
        in = kWidths[stage];
      }
    }
    begin_stage();
    add_linear("output", in, data.classes);
  }

  /// The stem, the blocks, the dense layer.
  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    if (stage == 0) return layers.relu(unit(x, 0, 1, layers));
    const std::size_t first = 2 * stage - 1;  // of the block's two units
    if (first == kUnits) return layers.linear(layers.average_pool(x), 3 * kUnits);
    const std::int64_t stride = stage == kBlocks + 1 || stage == 2 * kBlocks + 1 ? 2 : 1;
    at::Tensor y = layers.relu(unit(x, first, stride, layers));
    y = unit(y, first + 1, 1, layers);
    return layers.relu(y + shortcut(x, stride, y.size(1)));
  }

 private:
  static constexpr std::int64_t kWidths[3] = {16, 32, 64};
  static constexpr std::size_t kBlocks = 3, kUnits = 1 + 3 * kBlocks * 2;

  /// A convolution without bias and its batch normalisation: three parameters.
  void add_unit(const std::string& name, std::int64_t in, std::int64_t out) {
    // Variance 2 / fan_in, as in the paper, from a uniform distribution.
    add(name + ".weight", {out, in, 3, 3}, 0, std::sqrt(6.0 / static_cast<double>(9 * in)));
    add(name + ".scale", {out}, 1, 0);
    add(name + ".shift", {out}, 0, 0);
    add_normalisation(out);
  }

  static at::Tensor unit(const at::Tensor& x, std::size_t number, std::int64_t stride,
                         const Layers& layers) {
    const at::Tensor y = layers.convolution(x, 3 * number, /*bias=*/false, stride, /*padding=*/1);
    return layers.normalisation(y, 3 * number + 1, number);
  }

  static at::Tensor shortcut(const at::Tensor& x, std::int64_t stride, std::int64_t channels) {
    if (stride == 1) return x;
    const at::Tensor small = at::slice(at::slice(x, 2, 0, std::nullopt, 2), 3, 0, std::nullopt, 2);
    const std::int64_t extra = (channels - x.size(1)) / 2;
    return at::constant_pad_nd(small, {0, 0, 0, 0, extra, extra}, 0);
  }
};

}  // namespace

std::unique_ptr<Network> make_resnet20(const ModelChoice&, const DataSet& data) {
  return std::make_unique<Resnet20>(data);
}

}  // namespace gradwire::trainers
