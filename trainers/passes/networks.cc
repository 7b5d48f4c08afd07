#include <algorithm>
#include <cmath>
#include <utility>

#include "scenarios/data_sets.h"
#include "trainers/passes/evonorm.h"
#include "trainers/passes/network.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::size_t Network::add(const std::string& name, std::vector<std::int64_t> shape, double centre,
                         double bound) {
  parameters_.push_back(
      {name, std::move(shape), static_cast<float>(centre), static_cast<float>(bound)});
  return parameters_.size() - 1;
}

std::size_t Network::add_linear(const std::string& name, std::int64_t in, std::int64_t out,
                                bool bias) {
  const double bound = std::sqrt(1.0 / static_cast<double>(in));
  const std::size_t weight = add(name + ".weight", {out, in}, 0, bound);
  if (bias) add(name + ".bias", {out}, 0, bound);
  return weight;
}

std::size_t Network::add_convolution(const std::string& name, std::int64_t in, std::int64_t out,
                                     std::int64_t kernel) {
  const double bound = std::sqrt(1.0 / static_cast<double>(in * kernel * kernel));
  add(name + ".weight", {out, in, kernel, kernel}, 0, bound);
  return add(name + ".bias", {out}, 0, bound) - 1;
}

void Network::add_normalisation(std::int64_t channels) {
  const auto count = static_cast<std::size_t>(channels);
  statistics_.push_back({{channels}, std::vector<float>(count, 0.0f)});
  statistics_.push_back({{channels}, std::vector<float>(count, 1.0f)});
}

void Network::add_evonorm(const std::string& name, std::int64_t channels, std::int64_t positions) {
  evonorm_groups(channels, positions);
  add(name + ".gate", {channels}, 1, 0);
  add(name + ".scale", {channels}, 1, 0);
  add(name + ".shift", {channels}, 0, 0);
}

void Network::remember_for_rules(std::int64_t floats) {
  if (floats == 0) return;
  GRADWIRE_ASSERT(has_layers() && rule_floats_ == 0);
  rule_floats_ = floats;
  const auto rows = static_cast<std::int64_t>(parameters_.size());
  statistics_.push_back(
      {{rows, floats}, std::vector<float>(static_cast<std::size_t>(rows * floats), 0.0f)});
}

at::Tensor Network::forward(const std::vector<at::Tensor>& parameters, const at::Tensor& input,
                            const Statistics& statistics, const LayerRules& rules) const {
  const Layers layers(parameters, statistics, rules);
  at::Tensor x = input;
  for (std::size_t s = 0; s < stages(); ++s) x = stage(s, x, layers);
  return x;
}

at::Tensor input_tensor(const DataSet& data, const Batch& batch) {
  if (data.is_text())
    return at::from_blob(const_cast<std::int64_t*>(batch.tokens.data()),
                         {batch.count, data.sequence}, at::kLong);
  return at::from_blob(const_cast<float*>(batch.inputs.data()),
                       {batch.count, data.channels, data.height, data.width}, at::kFloat);
}

namespace {

/// Fully connected layers, normalised by batches or not, with an activation between them, or with
/// range-EvoNorm in place of both; no hidden layer: multinomial logistic regression. `one_output`:
/// on two classes, the score of class 1 against a score 0 of class 0, which is binary logistic
/// regression with one weight a feature.
class Dense final : public Network {
 public:
  Dense(const DataSet& data, const std::vector<std::int64_t>& hidden, const ModelChoice& choice,
        bool one_output)
      : bias_(choice.bias),
        tanh_(choice.activation == "tanh"),
        normalised_(choice.normalised),
        evonorm_(choice.evonorm),
        one_output_(one_output) {
    auto in = static_cast<std::int64_t>(data.features());
    for (std::size_t layer = 0; layer < hidden.size(); ++layer) {
      add_layer("hidden" + std::to_string(layer + 1), in, hidden[layer]);
      if (evonorm_) add_evonorm("hidden" + std::to_string(layer + 1), hidden[layer], 1);
      in = hidden[layer];
    }
    add_layer("output", in, one_output ? 1 : data.classes);
  }

  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    return activation(stage, before_activation(stage, x, layers), layers);
  }
  at::Tensor before_activation(std::size_t stage, const at::Tensor& x,
                               const Layers& layers) const override {
    const std::size_t first = first_parameter(stage);
    at::Tensor y = layers.linear(stage == 0 ? at::flatten(x, 1) : x, first, bias_);
    const std::size_t after = first + (bias_ ? 2 : 1);
    if (normalised_) y = layers.normalisation(y, after, stage);
    return evonorm_ && stage + 1 < stages() ? layers.evonorm(y, after) : y;
  }
  at::Tensor activation(std::size_t stage, const at::Tensor& y,
                        const Layers& layers) const override {
    if (evonorm_ && stage + 1 < stages()) return y;
    if (stage + 1 < stages()) return tanh_ ? layers.tanh(y) : layers.relu(y);
    return one_output_ ? at::cat({at::zeros_like(y), y}, 1) : y;
  }

 private:
  void add_layer(const std::string& name, std::int64_t in, std::int64_t out) {
    begin_stage();
    add_linear(name, in, out, bias_);
    if (!normalised_) return;
    add(name + ".scale", {out}, 1, 0);
    add(name + ".shift", {out}, 0, 0);
    add_normalisation(out);
  }

  bool bias_, tanh_, normalised_, evonorm_, one_output_;
};

/// LeNet-5 in Caffe's form (20 and 50 maps of 5x5 kernels, each pooled by 2, then 500 units):
/// 431,080 parameters on 28x28 images. On images narrower than 20 pixels kernels are 3x3 with
/// padding 1, so that 8x8 digits keep 2x2 positions before the dense layers (114,580 parameters).
class Lenet5 final : public Network {
 public:
  explicit Lenet5(const DataSet& data)
      : kernel_(std::min(data.height, data.width) >= 20 ? 5 : 3), padding_(kernel_ == 5 ? 0 : 1) {
    begin_stage();
    add_convolution("conv1", data.channels, 20, kernel_);
    begin_stage();
    add_convolution("conv2", 20, 50, kernel_);
    begin_stage();
    add_linear("dense1", 50 * pooled(data.height) * pooled(data.width), 500);
    begin_stage();
    add_linear("dense2", 500, data.classes);
  }

  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    const std::size_t first = first_parameter(stage);
    if (stage < 2)
      return layers.relu(layers.max_pool(layers.convolution(x, first, true, 1, padding_)));
    if (stage == 2) return layers.relu(layers.linear(at::flatten(x, 1), first));
    return layers.linear(x, first);
  }

 private:
  std::int64_t pooled(std::int64_t side) const {
    for (int stage = 0; stage < 2; ++stage) side = (side + 2 * padding_ - kernel_ + 1) / 2;
    return side;
  }
  std::int64_t kernel_;
  std::int64_t padding_;
};

/// Convolutions of 3x3 with padding 1, each with a ReLU; the first, the third and so on pooled by
/// 2; one dense layer.
class Cnn final : public Network {
 public:
  Cnn(const DataSet& data, const std::vector<std::int64_t>& widths) {
    std::int64_t in = data.channels, height = data.height, width = data.width;
    for (std::size_t layer = 0; layer < widths.size(); ++layer) {
      begin_stage();
      add_convolution("conv" + std::to_string(layer + 1), in, widths[layer], 3);
      in = widths[layer];
      if (!is_pooled(layer)) continue;
      height /= 2;
      width /= 2;
    }
    begin_stage();
    add_linear("output", in * height * width, data.classes);
  }

  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    const std::size_t first = first_parameter(stage);
    if (stage + 1 == stages()) return layers.linear(at::flatten(x, 1), first);
    const at::Tensor y = layers.relu(layers.convolution(x, first, true, 1, 1));
    return is_pooled(stage) ? layers.max_pool(y) : y;
  }

 private:
  static bool is_pooled(std::size_t layer) { return layer % 2 == 0; }
};

/// One LSTM layer over an embedding of characters or tokens; predicts each next one.
class CharLstm final : public Network {
 public:
  CharLstm(const DataSet& data, std::int64_t embedding, std::int64_t hidden) {
    const double bound = std::sqrt(1.0 / static_cast<double>(hidden));
    begin_stage();
    add("embedding.weight", {data.classes, embedding}, 0, 1.0);
    begin_stage();
    add("lstm.weight_ih", {4 * hidden, embedding}, 0, bound);
    add("lstm.weight_hh", {4 * hidden, hidden}, 0, bound);
    add("lstm.bias_ih", {4 * hidden}, 0, bound);
    add("lstm.bias_hh", {4 * hidden}, 0, bound);
    begin_stage();
    add_linear("output", hidden, data.classes);
  }

  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    const std::size_t first = first_parameter(stage);
    if (stage == 0) return layers.embedding(x, first);
    if (stage == 1) return layers.lstm(x, first);
    return layers.linear(x.reshape({-1, x.size(2)}), first);
  }
};

void need(bool holds, const std::string& model, const DataSet& data, const char* reason) {
  if (!holds) throw TrainerError("train " + model + " on", data.name, reason);
}

}  // namespace

std::unique_ptr<Network> make_logistic(const ModelChoice& choice, const DataSet& data) {
  return std::make_unique<Dense>(data, std::vector<std::int64_t>{}, choice, data.classes == 2);
}
std::unique_ptr<Network> make_mlp(const ModelChoice& choice, const DataSet& data) {
  return std::make_unique<Dense>(data, choice.hidden.value_or(std::vector<std::int64_t>{256, 128}),
                                 choice, false);
}
std::unique_ptr<Network> make_lenet5(const ModelChoice&, const DataSet& data) {
  need(std::min(data.height, data.width) >= 8, "lenet5", data, "its images are smaller than 8x8");
  return std::make_unique<Lenet5>(data);
}
std::unique_ptr<Network> make_cnn(const ModelChoice& choice, const DataSet& data) {
  const auto widths = choice.hidden.value_or(std::vector<std::int64_t>{16, 32, 32});
  need(std::min(data.height, data.width) >> (widths.size() + 1) / 2 > 0, "cnn", data,
       "its images are too small to be halved by so many layers");
  return std::make_unique<Cnn>(data, widths);
}
std::unique_ptr<Network> make_char_lstm(const ModelChoice& choice, const DataSet& data) {
  const auto hidden = choice.hidden.value_or(std::vector<std::int64_t>{128});
  need(hidden.size() == 1, "char-lstm", data, "it has one hidden layer");
  return std::make_unique<CharLstm>(data, choice.embedding.value_or(32), hidden[0]);
}

std::unique_ptr<Network> make_network(const ModelChoice& choice, const DataSet& data) {
  using Maker = std::unique_ptr<Network> (*)(const ModelChoice&, const DataSet&);
  constexpr std::pair<const char*, Maker> kMakers[] = {
      {"logistic", make_logistic},      {"mlp", make_mlp},
      {"lenet5", make_lenet5},          {"cnn", make_cnn},
      {"resnet20", make_resnet20},      {"char-lstm", make_char_lstm},
      {"transformer", make_transformer}};
  if (choice.name == "torchscript") return make_script_network(choice.file, data);
  const auto maker = std::find_if(std::begin(kMakers), std::end(kMakers),
                                  [&](const auto& row) { return row.first == choice.name; });
  const scenarios::ModelInfo* info = scenarios::find_model(choice.name);
  if (!info || maker == std::end(kMakers))
    throw TrainerError(
        "make model", choice.name, "there is no such model",
        "choose logistic, mlp, lenet5, cnn, resnet20, char-lstm, transformer or torchscript");
  const bool takes_text = info->takes.front() == scenarios::SampleKind::kText;
  need(takes_text == data.is_text(), choice.name, data,
       takes_text ? "the model predicts tokens and needs a data set of text"
                  : "the model takes images or numbers; text needs char-lstm or transformer");
  auto network = maker->second(choice, data);
  network->remember_for_rules(choice.rule_floats);
  return network;
}

}  // namespace gradwire::trainers
