#include <cmath>

#include "trainers/passes/network.h"

namespace gradwire::trainers {
namespace {

/// ResNet-20 for small images (He, Zhang, Ren, Sun: "Deep residual learning for image recognition",
/// CVPR 2016, section 4.2): 3x3 convolutions, three stages of three blocks with 16, 32, 64 maps,
/// shortcuts without parameters (option A: subsampled, padded with zero channels), global average,
/// one dense layer; 0.27 million parameters. With range-EvoNorm in place of batch normalisation and
/// activations it is as arXiv 2111.09389 has it.
class Resnet20 final : public Network {
 public:
  Resnet20(const DataSet& data, bool evonorm) : evonorm_(evonorm) {
    begin_stage();
    add_unit("stem", data.channels, kWidths[0], data.height * data.width);
    std::int64_t in = kWidths[0];
    for (std::size_t stage = 0; stage < 3; ++stage) {
      const std::int64_t positions = halved(data.height, stage) * halved(data.width, stage);
      for (std::size_t block = 0; block < kBlocks; ++block) {
        begin_stage();
        const std::string name =
            "stage" + std::to_string(stage + 1) + ".block" + std::to_string(block + 1);
        add_unit(name + ".first", in, kWidths[stage], positions);
        add_unit(name + ".second", kWidths[stage], kWidths[stage], positions);
        in = kWidths[stage];
      }
    }
    begin_stage();
    add_linear("output", in, data.classes);
  }

  /// The stem, the blocks, the dense layer.
  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    if (stage == 0) return activated(unit(x, 0, 1, layers), layers);
    const std::size_t first = 2 * stage - 1;  // of the block's two units
    if (first == kUnits) return layers.linear(layers.average_pool(x), per_unit() * kUnits);
    const std::int64_t stride = stage == kBlocks + 1 || stage == 2 * kBlocks + 1 ? 2 : 1;
    at::Tensor y = activated(unit(x, first, stride, layers), layers);
    y = unit(y, first + 1, 1, layers);
    return activated(y + shortcut(x, stride, y.size(1)), layers);
  }

 private:
  static constexpr std::int64_t kWidths[3] = {16, 32, 64};
  static constexpr std::size_t kBlocks = 3, kUnits = 1 + 3 * kBlocks * 2;

  std::size_t per_unit() const { return evonorm_ ? 4 : 3; }
  /// Of a side that `times` strides of 2 have halved.
  static std::int64_t halved(std::int64_t side, std::size_t times) {
    for (; times > 0; --times) side = (side + 1) / 2;
    return side;
  }
  /// Range-EvoNorm is an activation, too, and sums of blocks have none then.
  at::Tensor activated(const at::Tensor& x, const Layers& layers) const {
    return evonorm_ ? x : layers.relu(x);
  }

  /// A convolution without bias and its normalisation: three parameters, or four.
  void add_unit(const std::string& name, std::int64_t in, std::int64_t out,
                std::int64_t positions) {
    // Variance 2 / fan_in, as in the paper, from a uniform distribution.
    add(name + ".weight", {out, in, 3, 3}, 0, std::sqrt(6.0 / static_cast<double>(9 * in)));
    if (evonorm_) return add_evonorm(name, out, positions);
    add(name + ".scale", {out}, 1, 0);
    add(name + ".shift", {out}, 0, 0);
    add_normalisation(out);
  }

  at::Tensor unit(const at::Tensor& x, std::size_t number, std::int64_t stride,
                  const Layers& layers) const {
    const std::size_t first = per_unit() * number;
    const at::Tensor y = layers.convolution(x, first, /*bias=*/false, stride, /*padding=*/1);
    return evonorm_ ? layers.evonorm(y, first + 1) : layers.normalisation(y, first + 1, number);
  }

  static at::Tensor shortcut(const at::Tensor& x, std::int64_t stride, std::int64_t channels) {
    if (stride == 1) return x;
    const at::Tensor small = at::slice(at::slice(x, 2, 0, std::nullopt, 2), 3, 0, std::nullopt, 2);
    const std::int64_t extra = (channels - x.size(1)) / 2;
    return at::constant_pad_nd(small, {0, 0, 0, 0, extra, extra}, 0);
  }

  bool evonorm_;
};

}  // namespace

std::unique_ptr<Network> make_resnet20(const ModelChoice& choice, const DataSet& data) {
  return std::make_unique<Resnet20>(data, choice.evonorm);
}

}  // namespace gradwire::trainers
