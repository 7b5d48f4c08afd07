#include <cmath>

#include "trainers/passes/network.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::size_t Network::add(const std::string& name, std::vector<std::int64_t> shape, double centre,
                         double bound) {
  parameters_.push_back(
      {name, std::move(shape), static_cast<float>(centre), static_cast<float>(bound)});
  return parameters_.size() - 1;
}

std::size_t Network::add_linear(const std::string& name, std::int64_t in, std::int64_t out) {
  const double bound = std::sqrt(1.0 / static_cast<double>(in));
  add(name + ".weight", {out, in}, 0, bound);
  return add(name + ".bias", {out}, 0, bound) - 1;
}

std::size_t Network::add_convolution(const std::string& name, std::int64_t in, std::int64_t out,
                                     std::int64_t kernel) {
  const double bound = std::sqrt(1.0 / static_cast<double>(in * kernel * kernel));
  add(name + ".weight", {out, in, kernel, kernel}, 0, bound);
  return add(name + ".bias", {out}, 0, bound) - 1;
}

namespace {

/// Fully connected layers with ReLU between them; no hidden layer: multinomial logistic regression.
class Dense final : public Network {
 public:
  Dense(const DataSet& data, const std::vector<std::int64_t>& hidden) {
    auto in = static_cast<std::int64_t>(data.features());
    for (const std::int64_t width : hidden) {
      add_linear("hidden" + std::to_string(parameters_.size() / 2 + 1), in, width);
      in = width;
    }
    add_linear("output", in, data.classes);
  }

  at::Tensor forward(const std::vector<at::Tensor>& p, const at::Tensor& input,
                     const Statistics&) const override {
    at::Tensor x = at::flatten(input, 1);
    for (std::size_t layer = 0; layer + 2 < p.size(); layer += 2) {
      x = at::relu(at::linear(x, p[layer], p[layer + 1]));
    }
    return at::linear(x, p[p.size() - 2], p.back());
  }
};

/// LeNet-5 in Caffe's form (20 and 50 maps of 5x5 kernels, each pooled by 2, then 500 units):
/// 431,080 parameters on 28x28 images. On images narrower than 20 pixels kernels are 3x3 with
/// padding 1, so that 8x8 digits keep 2x2 positions before the dense layers (114,580 parameters).
class Lenet5 final : public Network {
 public:
  explicit Lenet5(const DataSet& data)
      : kernel_(std::min(data.height, data.width) >= 20 ? 5 : 3), padding_(kernel_ == 5 ? 0 : 1) {
    add_convolution("conv1", data.channels, 20, kernel_);
    add_convolution("conv2", 20, 50, kernel_);
    add_linear("dense1", 50 * pooled(data.height) * pooled(data.width), 500);
    add_linear("dense2", 500, data.classes);
  }

  at::Tensor forward(const std::vector<at::Tensor>& p, const at::Tensor& input,
                     const Statistics&) const override {
    at::Tensor x = stage(input, p[0], p[1]);
    x = stage(x, p[2], p[3]);
    x = at::relu(at::linear(at::flatten(x, 1), p[4], p[5]));
    return at::linear(x, p[6], p[7]);
  }

 private:
  std::int64_t pooled(std::int64_t side) const {
    for (int stage = 0; stage < 2; ++stage) side = (side + 2 * padding_ - kernel_ + 1) / 2;
    return side;
  }
  at::Tensor stage(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) const {
    return at::relu(
        at::max_pool2d(at::conv2d(x, weight, bias, {1, 1}, {padding_, padding_}), {2, 2}));
  }
  std::int64_t kernel_;
  std::int64_t padding_;
};

/// One LSTM layer over an embedding of characters; predicts each next character.
class CharLstm final : public Network {
 public:
  explicit CharLstm(const DataSet& data) {
    constexpr std::int64_t kEmbedding = 32, kHidden = 128;
    const double bound = std::sqrt(1.0 / static_cast<double>(kHidden));
    add("embedding.weight", {data.classes, kEmbedding}, 0, 1.0);
    add("lstm.weight_ih", {4 * kHidden, kEmbedding}, 0, bound);
    add("lstm.weight_hh", {4 * kHidden, kHidden}, 0, bound);
    add("lstm.bias_ih", {4 * kHidden}, 0, bound);
    add("lstm.bias_hh", {4 * kHidden}, 0, bound);
    add_linear("output", kHidden, data.classes);
  }

  at::Tensor forward(const std::vector<at::Tensor>& p, const at::Tensor& input,
                     const Statistics& statistics) const override {
    const at::Tensor x = at::embedding(p[0], input);
    const at::Tensor zero = at::zeros({1, input.size(0), p[2].size(1)}, x.options());
    const at::Tensor y =
        std::get<0>(at::lstm(x, {zero, zero}, {p[1], p[2], p[3], p[4]}, /*has_biases=*/true,
                             /*num_layers=*/1, /*dropout=*/0.0, statistics.training,
                             /*bidirectional=*/false, /*batch_first=*/true));
    return at::linear(y.reshape({-1, y.size(2)}), p[5], p[6]);
  }
};

void need(bool holds, const std::string& model, const DataSet& data, const char* reason) {
  if (!holds) throw TrainerError("train " + model + " on", data.name, reason);
}

}  // namespace

std::unique_ptr<Network> make_logistic(const DataSet& data) {
  return std::make_unique<Dense>(data, std::vector<std::int64_t>{});
}
std::unique_ptr<Network> make_mlp(const DataSet& data) {
  return std::make_unique<Dense>(data, std::vector<std::int64_t>{256, 128});
}
std::unique_ptr<Network> make_lenet5(const DataSet& data) {
  need(std::min(data.height, data.width) >= 8, "lenet5", data, "its images are smaller than 8x8");
  return std::make_unique<Lenet5>(data);
}
std::unique_ptr<Network> make_char_lstm(const DataSet& data) {
  return std::make_unique<CharLstm>(data);
}

std::unique_ptr<Network> make_network(const std::string& name, const DataSet& data) {
  const bool text_model = name == "char-lstm";
  need(text_model == data.is_text(), name, data,
       text_model ? "the model predicts characters and needs the data set text"
                  : "the model takes images; text needs the model char-lstm");
  if (name == "logistic") return make_logistic(data);
  if (name == "mlp") return make_mlp(data);
  if (name == "lenet5") return make_lenet5(data);
  if (name == "resnet20") return make_resnet20(data);
  if (name == "char-lstm") return make_char_lstm(data);
  throw TrainerError("make model", name, "there is no such model",
                     "choose logistic, mlp, lenet5, resnet20 or char-lstm");
}

}  // namespace gradwire::trainers
