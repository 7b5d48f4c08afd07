#include "trainers/schedules/whole_model.h"

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

namespace gradwire::trainers {
namespace {

/// Two tensors, a over two blocks and b of three elements, with values counted from 1 in forward
/// order. The layout has the last layer first: b lies at 0, a at 3.
class TwoTensors final : public Gradients {
 public:
  TwoTensors() : a_(5000), b_(3) {
    std::iota(a_.begin(), a_.end(), 1.0f);
    std::iota(b_.begin(), b_.end(), 5001.0f);
    tensors_ = {b_, a_};
  }
  std::vector<float>& a() { return a_; }
  std::vector<float>& b() { return b_; }

  static Layout layout() {
    std::vector<Parameter> parameters(2);
    parameters[0].name = "a";
    parameters[0].shape = {5000};
    parameters[1].name = "b";
    parameters[1].shape = {3};
    return Layout(parameters, Bytes(1 << 20));
  }

 private:
  std::vector<float> a_, b_;
};

TEST_CASE("finite gradients are copied in layout order") {
  TwoTensors gradients;
  gradients.a()[17] = std::numeric_limits<float>::max();
  std::vector<float> flat(5003);
  CHECK(all_finite(gradients));
  CHECK(copy_finite(gradients, TwoTensors::layout(), flat));
  CHECK(std::vector<float>(flat.begin(), flat.begin() + 3) == gradients.b());
  CHECK(std::vector<float>(flat.begin() + 3, flat.end()) == gradients.a());
}

TEST_CASE("gradients are subtracted and added in layout order") {
  TwoTensors gradients;
  gradients.a()[17] = 0.3f;
  std::vector<float> flat(5003), from(5003), difference(5003), sum(5003), expected(5003);
  copy_finite(gradients, TwoTensors::layout(), flat);
  for (std::size_t e = 0; e < flat.size(); ++e) {
    from[e] = 1.0f / static_cast<float>(e + 1);
    sum[e] = 2 * from[e];
    expected[e] = from[e] - flat[e];
  }
  CHECK(subtract_gradients(from, gradients, TwoTensors::layout(), difference));
  CHECK(difference == expected);
  for (std::size_t e = 0; e < flat.size(); ++e) expected[e] = sum[e] + flat[e];
  CHECK(add_gradients(gradients, TwoTensors::layout(), sum));
  CHECK(sum == expected);
  gradients.b()[2] += 1;
  add_gradients(gradients, TwoTensors::layout(), from);
  CHECK(from != expected);
}

TEST_CASE("one element that is not finite is found wherever it stands") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
               std::numeric_limits<float>::quiet_NaN());
  // The first, the last of a block of 4,096, the first of the next, the last.
  const std::size_t element = GENERATE(0u, 4095u, 4096u, 4999u);
  TwoTensors gradients;
  gradients.a()[element] = bad;
  std::vector<float> flat(5003);
  CHECK_FALSE(all_finite(gradients));
  CHECK_FALSE(copy_finite(gradients, TwoTensors::layout(), flat));
  CHECK_FALSE(add_gradients(gradients, TwoTensors::layout(), flat));
  CHECK_FALSE(subtract_gradients(flat, gradients, TwoTensors::layout(), flat));
}

TEST_CASE("a difference is taken element by element") {
  const std::vector<float> from = {3, 1, -2}, minus = {1, 1, 4};
  std::vector<float> difference(3);
  CHECK(subtract_finite(from, minus, difference));
  CHECK(difference == std::vector<float>{2, 0, -6});
  // Infinite in either, or by the difference itself.
  constexpr float kMost = std::numeric_limits<float>::max();
  const std::vector<float> far = {3, kMost, -2}, back = {1, -kMost, 4};
  CHECK_FALSE(subtract_finite(far, back, difference));
}

}  // namespace
}  // namespace gradwire::trainers
