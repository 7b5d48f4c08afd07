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
    add_unit("stem", data.channels, kWidths[0]);
    std::int64_t in = kWidths[0];
    for (std::size_t stage = 0; stage < 3; ++stage) {
      for (int block = 0; block < kBlocks; ++block) {
        const std::string name =
            "stage" + std::to_string(stage + 1) + ".block" + std::to_string(block + 1);
        add_unit(name + ".first", in, kWidths[stage]);
        add_unit(name + ".second", kWidths[stage], kWidths[stage]);
        in = kWidths[stage];
      }
    }
    add_linear("output", in, data.classes);
  }

  at::Tensor forward(const std::vector<at::Tensor>& p, const at::Tensor& input,
                     const Statistics& statistics) const override {
    std::size_t unit = 0;
    at::Tensor x = at::relu(apply(p, unit++, input, 1, statistics));
    for (std::size_t stage = 0; stage < 3; ++stage) {
      for (int block = 0; block < kBlocks; ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        at::Tensor y = at::relu(apply(p, unit, x, stride, statistics));
        y = apply(p, unit + 1, y, 1, statistics);
        unit += 2;
        x = at::relu(y + shortcut(x, stride, y.size(1)));
      }
    }
    return at::linear(at::mean(x, {2, 3}), p[p.size() - 2], p.back());
  }

 private:
  static constexpr std::int64_t kWidths[3] = {16, 32, 64};
  static constexpr int kBlocks = 3;

  /// A convolution without bias and its batch normalisation: three parameters.
  void add_unit(const std::string& name, std::int64_t in, std::int64_t out) {
    // Variance 2 / fan_in, as in the paper, from a uniform distribution.
    add(name + ".weight", {out, in, 3, 3}, 0, std::sqrt(6.0 / static_cast<double>(9 * in)));
    add(name + ".scale", {out}, 1, 0);
    add(name + ".shift", {out}, 0, 0);
    add_normalisation(out);
  }

  static at::Tensor apply(const std::vector<at::Tensor>& p, std::size_t unit, const at::Tensor& x,
                          std::int64_t stride, const Statistics& statistics) {
    const at::Tensor y = at::conv2d(x, p[3 * unit], {}, {stride, stride}, {1, 1});
    const bool use = !statistics.training || statistics.record;
    const at::Tensor none;
    return at::batch_norm(y, p[3 * unit + 1], p[3 * unit + 2],
                          use ? statistics.values[2 * unit] : none,
                          use ? statistics.values[2 * unit + 1] : none, statistics.training,
                          /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/true);
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
