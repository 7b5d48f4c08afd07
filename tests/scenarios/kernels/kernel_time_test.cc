#include "scenarios/kernels/kernel_time.h"

#include <catch2/catch.hpp>

#include "scenarios/kernels/layer_kernels.h"
#include "scenarios/kernels/operations.h"

using namespace gradwire::scenarios;

namespace {

/// 1 TFLOP/s of which products reach a half and convolutions a quarter, 100 GB/s whole, 10
/// multiprocessors, no tiles lost.
KernelRoof round_roof() {
  KernelRoof roof;
  roof.flops_per_second = 1e12;
  roof.bytes_per_second = 1e11;
  roof.multiprocessors = 10;
  roof.matrix = 0.5;
  roof.convolution = 0.25;
  roof.winograd = 2;
  return roof;
}

WorkloadProfile::Layer layer(const char* kind, std::vector<std::vector<std::int64_t>> shapes,
                             std::int64_t flops, std::int64_t inputs, std::int64_t activations) {
  WorkloadProfile::Layer one;
  one.kind = kind;
  for (auto& shape : shapes) one.tensors.push_back({"weight", std::move(shape)});
  one.flops = flops;
  one.inputs = inputs;
  one.activations = activations;
  return one;
}

}  // namespace

TEST_CASE("a product takes the longer of arithmetic and memory, and a start", "[unit]") {
  const KernelRoof roof = round_roof();
  // 2 x 1280^3 / 0.5e12 = 8.39 ms; 4 x 3 x 1280^2 / 1e11 = 0.2 ms.
  const KernelTimes square = kernel_times(matrix_kernel(1280, 1280, 1280), roof);
  CHECK(square.forward == Approx(2 * 1280.0 * 1280 * 1280 / 0.5e12 + 2e-6));
  CHECK(square.backward == Approx(2 * square.forward));
  // One row: 4 x (1 + 2 x 10^4 ... 10^8) B decide.
  const KernelTimes row = kernel_times(matrix_kernel(1, 1e4, 1e4), roof);
  CHECK(row.forward == Approx(4 * (1e8 + 2e4) / 1e11 + 2e-6));
  CHECK(row.launches == 3);  // one forward, two backward
}

TEST_CASE("few tiles leave multiprocessors idle, unless a product can be split", "[unit]") {
  KernelRoof roof = round_roof();
  roof.tile = 1;
  const auto computing = [&](double m, double n, double k) {
    return kernel_times(matrix_kernel(m, n, k), roof).forward - 2e-6;
  };
  // 4 tiles on 10 multiprocessors, k short: 4 / (4 + 10) of the share. Many tiles: nearly all.
  CHECK(computing(256, 256, 512) == Approx(2 * 256.0 * 256 * 512 / 0.5e12 * 14 / 4));
  CHECK(computing(12800, 12800, 512) == Approx(2 * 12800.0 * 12800 * 512 / 0.5e12 * 10010 / 10000));
  // k of 5,120 makes ten parts of each tile: 40 / (40 + 10).
  CHECK(computing(256, 256, 5120) == Approx(2 * 256.0 * 256 * 5120 / 0.5e12 * 50 / 40));
}

TEST_CASE("kinds of products have shares of their own", "[unit]") {
  const KernelRoof roof = round_roof();
  Kernel one = matrix_kernel(1280, 1280, 1280);
  const double matrix = kernel_times(one, roof).forward - 2e-6;
  one.kind = Kernel::Kind::kConvolution;
  CHECK(kernel_times(one, roof).forward - 2e-6 == Approx(2 * matrix));
  one.kind = Kernel::Kind::kWinograd;
  CHECK(kernel_times(one, roof).forward - 2e-6 == Approx(matrix));  // twice as fast
  one.kind = Kernel::Kind::kConvolution;
  one.input_gradient = false;
  const KernelTimes first = kernel_times(one, roof);
  CHECK(first.backward == Approx(first.forward));  // of its weights alone
}

TEST_CASE("tensor cores of old take no weights with a side that is no multiple of 8", "[unit]") {
  KernelRoof roof = round_roof();
  roof.unaligned = unaligned_rate(1e11, 0.5);  // 0.1 TFLOP/s: a fifth of the share of fp16
  const auto computing = [&](double m, double n, double k) {
    return kernel_times(matrix_kernel(m, n, k), roof).forward - 2e-6;
  };
  CHECK(computing(1280, 30528, 1024) == Approx(2.0 * 1280 * 30528 * 1024 / 0.5e12));
  CHECK(computing(1280, 30522, 1024) == Approx(2.0 * 1280 * 30522 * 1024 / 0.1e12));
  CHECK(computing(1281, 30528, 1024) == Approx(2.0 * 1281 * 30528 * 1024 / 0.5e12));  // tokens may
  // A V100's profile has no tf32, an A100's has.
  CHECK(kernel_roof(load_device_profile("v100", ""), "fp16").unaligned > 15.7e12);
  CHECK(kernel_roof(load_device_profile("v100", ""), "fp32").unaligned == 0);
  CHECK(kernel_roof(load_device_profile("a100", ""), "fp16").unaligned == 0);
}

TEST_CASE("what memory bounds takes its traffic, and a start for each kernel", "[unit]") {
  KernelRoof roof = round_roof();
  roof.traffic = 1.5;
  roof.memory = 0.75;
  const KernelTimes times = kernel_times(memory_kernel(1e9, 3e9, 1, 2), roof);
  CHECK(times.forward == Approx(4 * 1.5 * 1e9 / 0.75e11 + 2e-6));
  CHECK(times.backward == Approx(4 * 1.5 * 3e9 / 0.75e11 + 4e-6));
}

TEST_CASE("host and device work side by side", "[unit]") {
  CHECK(side_by_side(3, 0) == Approx(3));
  CHECK(side_by_side(0, 3) == Approx(3));
  CHECK(side_by_side(1, 1) == Approx(1.2599).epsilon(1e-4));  // the cube root of 2
  CHECK(side_by_side(10, 1) < 10.01);
}

TEST_CASE("layers become kernels of their kind", "[unit]") {
  using Kind = Kernel::Kind;
  // 3 x 3 from 64 to 64 maps of 56 x 56, two images.
  const std::int64_t maps = 64 * 56 * 56;
  const auto three =
      layer_kernels(layer("convolution", {{64, 64, 3, 3}}, 2 * maps * 64 * 9, maps, maps), 2);
  REQUIRE(three.size() == 1);
  CHECK(three[0].kind == Kind::kWinograd);
  CHECK(three[0].m * three[0].n * three[0].k == Approx(2.0 * maps * 64 * 9));
  // 5 x 5, and two groups of half of the inputs.
  CHECK(layer_kernels(layer("convolution", {{64, 64, 5, 5}}, 0, maps, maps), 2)[0].kind ==
        Kind::kWinograd);
  CHECK(layer_kernels(layer("convolution", {{64, 32, 3, 3}}, 0, maps, maps), 2)[0].kind ==
        Kind::kWinograd);
  // Stride 2 halves the maps: no Winograd. 1 x 1 is a matrix product.
  CHECK(layer_kernels(layer("convolution", {{64, 64, 3, 3}}, maps * 32 * 9, maps, maps / 4), 2)[0]
            .kind == Kind::kConvolution);
  CHECK(
      layer_kernels(layer("convolution", {{64, 64, 1, 1}}, 2 * maps * 64, maps, maps), 2)[0].kind ==
      Kind::kMatrix);
  // A dense layer over 128 tokens.
  const auto dense = layer_kernels(layer("linear", {{4096, 1024}}, 0, 128 * 1024, 128 * 4096), 2);
  CHECK(dense[0].m == 2 * 128);
  CHECK(dense[0].n == 4096);
  // 35 steps of an LSTM of 1,500: inputs at once, the state step by step.
  const auto lstm =
      layer_kernels(layer("lstm", {{6000, 1500}, {6000, 1500}}, 0, 35 * 1500, 35 * 1500), 20);
  REQUIRE(lstm.size() == 3);
  CHECK(lstm[0].m == 20 * 35);
  CHECK(lstm[1].repeats == 35);
  CHECK(lstm[1].m == 20);
  // A table that names kinds of its own: products where arithmetic outweighs what is moved.
  CHECK(layer_kernels(layer("mixer", {}, 1'000'000, 1000, 1000), 1)[0].kind == Kind::kActivations);
  CHECK(layer_kernels(layer("mixer", {}, 2000, 1000, 1000), 1)[0].kind == Kind::kMemory);
}

TEST_CASE("a convolution with a filter a channel is bound by memory", "[unit]") {
  // MobileNet's 3 x 3 of 128 channels over 28 x 28 places, two samples: each element read and
  // written once, in the backward pass for both gradients.
  const std::int64_t elements = 128 * 28 * 28;
  const auto kernels =
      layer_kernels(layer("convolution", {{128, 1, 3, 3}}, 18 * elements, elements, elements), 2);
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].kind == Kernel::Kind::kMemory);
  CHECK(kernels[0].forward == 2 * 2 * elements);
  CHECK(kernels[0].backward == 2 * kernels[0].forward);
  CHECK(kernels[0].backward_kernels == 2);
  // Stride 2 writes a quarter.
  const auto strided = layer_kernels(
      layer("convolution", {{128, 1, 3, 3}}, 18 * elements / 4, elements, elements / 4), 1);
  CHECK(strided[0].kind == Kernel::Kind::kMemory);
  CHECK(strided[0].forward == elements + elements / 4);
  // Six filters of a grey image share its one channel: a product, without a gradient of the image.
  const auto grey = layer_kernels(
      layer("convolution", {{6, 1, 5, 5}}, 2 * 25 * 6 * 24 * 24, 28 * 28, 6 * 24 * 24), 1);
  CHECK(grey[0].kind != Kernel::Kind::kMemory);
  CHECK_FALSE(grey[0].input_gradient);
}

TEST_CASE("a dense layer with another one's weight is a product of its shape", "[unit]") {
  // 512 tokens of 1,024, 30,522 words.
  const std::int64_t in = 512 * 1024, out = std::int64_t{512} * 30522;
  const Kernel one = layer_kernels(layer("linear", {{30522}}, 2 * in * 30522, in, out), 4)[0];
  CHECK(one.kind == Kernel::Kind::kMatrix);
  CHECK(one.m == 4 * 512);
  CHECK(one.n == 30522);
  CHECK(one.k == 1024);
  // Counts that are no product's: nothing of its shape is known.
  CHECK(layer_kernels(layer("linear", {{30522}}, in * 30522, in + 1, out), 4)[0].kind ==
        Kernel::Kind::kActivations);
}

TEST_CASE("attention to earlier tokens is half of both products, in one kernel", "[unit]") {
  // t = 4,096, d = 1,024 in 8 heads: 4 t^2 d FLOPs, half of them.
  const std::int64_t t = 4096, d = 1024;
  const Kernel one =
      layer_kernels(layer("causal-attention", {}, 2 * t * t * d, 3 * t * d, t * d), 2)[0];
  CHECK(one.kind == Kernel::Kind::kAttention);
  CHECK(one.fused);
  CHECK(one.count == 2 * 8);
  // One of both products: 2 m n k c = t^2 d FLOPs a sample.
  CHECK(2 * one.m * one.n * one.k * one.count == Approx(2.0 * t * t * d));
}

TEST_CASE("an operation moves what its kernels read and write, not what passes it once", "[unit]") {
  const auto moved = [](const char* kind) {
    return layer_kernels(layer(kind, {}, 0, 1000, 1000), 2)[0];
  };
  // Scale, mask, softmax, dropout: 2 + 2 + 2 + 2.5 elements for each score.
  CHECK(moved("eager-softmax").forward == 8.5 * 2000);
  CHECK(moved("eager-softmax").forward_kernels == 4);
  CHECK(moved("fused-softmax").forward == 4.5 * 2000);
  CHECK(moved("softmax").forward == 2 * 2000);  // a table of operations, as they are run
  CHECK(operation_of("softmax") == nullptr);
}
