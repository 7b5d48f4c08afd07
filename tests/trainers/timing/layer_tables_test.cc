#include <torch/nn.h>

#include <catch2/catch.hpp>

#include "scenarios/profiles/profile.h"

/// Builds models with LibTorch's own modules and holds the shipped layer tables against them.
namespace gradwire::trainers {
namespace {

using Layers = std::vector<scenarios::WorkloadProfile::Layer>;
using Shapes = std::vector<std::vector<std::int64_t>>;
namespace nn = torch::nn;

Layers table(const std::string& name) {
  return scenarios::load_workload_profile(name, "").layers;
}

Shapes shapes_of(const Layers& layers) {
  Shapes shapes;
  for (const auto& layer : layers)
    for (const auto& tensor : layer.tensors) shapes.push_back(tensor.shape);
  return shapes;
}

Shapes shapes_of(const nn::Module& module) {
  Shapes shapes;
  for (const at::Tensor& parameter : module.parameters()) shapes.push_back(parameter.sizes().vec());
  return shapes;
}

std::int64_t parameters_of(const nn::Module& module) {
  std::int64_t sum = 0;
  for (const at::Tensor& parameter : module.parameters()) sum += parameter.numel();
  return sum;
}

nn::Conv2d convolution(int in, int out, int kernel, int stride, int padding, int groups = 1,
                       bool bias = true) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding).groups(groups).bias(bias));
}

void add_classifier(nn::Sequential& model, int inputs) {
  model->push_back(nn::Flatten());
  model->push_back(nn::Linear(inputs, 4096));
  model->push_back(nn::ReLU());
  model->push_back(nn::Linear(4096, 4096));
  model->push_back(nn::ReLU());
  model->push_back(nn::Linear(4096, 1000));
  model->push_back(nn::Softmax(1));
}

nn::Sequential alexnet() {
  nn::Sequential model;
  const auto add_convolution = [&](int in, int out, int kernel, int stride, int pad, int groups) {
    model->push_back(convolution(in, out, kernel, stride, pad, groups));
    model->push_back(nn::ReLU());
  };
  const auto add_pool = [&] { model->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2))); };
  add_convolution(3, 96, 11, 4, 0, 1);
  model->push_back(nn::LocalResponseNorm(5));
  add_pool();
  add_convolution(96, 256, 5, 1, 2, 2);
  model->push_back(nn::LocalResponseNorm(5));
  add_pool();
  add_convolution(256, 384, 3, 1, 1, 1);
  add_convolution(384, 384, 3, 1, 1, 2);
  add_convolution(384, 256, 3, 1, 1, 2);
  add_pool();
  add_classifier(model, 6 * 6 * 256);
  return model;
}

nn::Sequential vgg_a() {
  nn::Sequential model;
  int in = 3;
  for (const int channels : {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0}) {
    if (channels == 0) {
      model->push_back(nn::MaxPool2d(2));
      continue;
    }
    model->push_back(convolution(in, channels, 3, 1, 1));
    model->push_back(nn::ReLU());
    in = channels;
  }
  add_classifier(model, 7 * 7 * 512);
  return model;
}

/// Runs a sample module by module; each but Flatten is a row of the table.
void check_activations(nn::Sequential& model, int side, const Layers& layers) {
  const torch::NoGradGuard no_gradients;
  at::Tensor x = torch::zeros({1, 3, side, side});
  std::size_t row = 0;
  for (auto& module : *model) {
    const std::int64_t before = x.numel();
    x = module.forward(x);
    if (module.ptr()->as<nn::Flatten>()) continue;
    REQUIRE(row < layers.size());
    INFO(layers[row].name);
    CHECK(layers[row].inputs == before);
    CHECK(layers[row].activations == x.numel());
    ++row;
  }
  CHECK(row == layers.size());
}

/// ResNet-50; counts multiply-adds from the tensors that really pass.
struct ResNet50 : nn::Module {
  std::vector<std::vector<nn::Conv2d>> convolutions;  ///< by block, the shortcut's last
  std::vector<std::vector<nn::BatchNorm2d>> norms;
  nn::Conv2d first{nullptr};
  nn::BatchNorm2d first_norm{nullptr};
  nn::Linear last{nullptr};
  double multiply_adds = 0;
  std::int64_t written = 0;  ///< activations that convolutions leave

  ResNet50() {
    first = register_module("conv1", convolution(3, 64, 7, 2, 3, 1, false));
    first_norm = register_module("bn1", nn::BatchNorm2d(64));
    int in = 64;
    for (int stage = 0; stage < 4; ++stage)
      for (int block = 0; block < std::array{3, 4, 6, 3}[stage]; ++block)
        in = add_block(in, 64 << stage, stage > 0 && block == 0 ? 2 : 1, block == 0);
    last = register_module("fc", nn::Linear(in, 1000));
    eval();
  }

  int add_block(int in, int width, int stride, bool project) {
    const std::string at = "block" + std::to_string(convolutions.size());
    convolutions.emplace_back();
    norms.emplace_back();
    const auto add = [&](int from, int to, int kernel, int step) {
      const std::string name = at + "_" + std::to_string(norms.back().size());
      convolutions.back().push_back(register_module(
          name + "_conv", convolution(from, to, kernel, step, kernel / 2, 1, false)));
      norms.back().push_back(register_module(name + "_bn", nn::BatchNorm2d(to)));
    };
    add(in, width, 1, 1);
    add(width, width, 3, stride);
    add(width, 4 * width, 1, 1);
    if (project) add(in, 4 * width, 1, stride);
    return 4 * width;
  }

  at::Tensor apply(nn::Conv2d& layer, nn::BatchNorm2d& norm, const at::Tensor& x) {
    const at::Tensor y = layer(x);
    multiply_adds += static_cast<double>(layer->weight.numel() * y.size(2) * y.size(3));
    written += y.numel();
    return norm(y);
  }

  at::Tensor forward(at::Tensor x) {
    x = torch::max_pool2d(torch::relu(apply(first, first_norm, x)), 3, 2, 1);
    for (std::size_t b = 0; b < norms.size(); ++b) {
      at::Tensor y = x;
      for (std::size_t c = 0; c < 3; ++c) {
        y = apply(convolutions[b][c], norms[b][c], y);
        if (c < 2) y = torch::relu(y);
      }
      const bool projected = norms[b].size() == 4;
      x = torch::relu(y + (projected ? apply(convolutions[b][3], norms[b][3], x) : x));
    }
    return last(x.mean({2, 3}));
  }
};

TEST_CASE("AlexNet in LibTorch: parameters, shapes and activations of the table") {
  const Layers layers = table("alexnet-grouped");
  nn::Sequential model = alexnet();
  CHECK(parameters_of(*model) == 60'965'224);
  CHECK(shapes_of(*model) == shapes_of(layers));
  check_activations(model, 227, layers);
  CHECK(shapes_of(*model) != shapes_of(table("vgg-a")));
}

TEST_CASE("VGG-A in LibTorch: parameters, shapes and activations of the table") {
  const Layers layers = table("vgg-a");
  nn::Sequential model = vgg_a();
  CHECK(parameters_of(*model) == 132'863'336);
  CHECK(shapes_of(*model) == shapes_of(layers));
  check_activations(model, 224, layers);
}

TEST_CASE("ResNet-50 in LibTorch: parameters, shapes, activations and multiply-adds of the table") {
  const Layers layers = table("resnet50");
  ResNet50 model;
  CHECK(parameters_of(model) == 25'557'032);
  CHECK(shapes_of(model) == shapes_of(layers));
  const torch::NoGradGuard no_gradients;
  CHECK(model.forward(torch::zeros({1, 3, 224, 224})).numel() == 1000);
  double multiply_adds = 0;
  std::int64_t written = 0;
  for (const auto& layer : layers) {
    if (layer.kind != "convolution") continue;
    multiply_adds += static_cast<double>(layer.flops) / 2;
    written += layer.activations;
  }
  CHECK(model.multiply_adds == multiply_adds);
  CHECK(model.written == written);
}

}  // namespace
}  // namespace gradwire::trainers
