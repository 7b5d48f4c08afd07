#include <catch2/catch.hpp>
#include <cmath>

#include "tests/trainers/updates/support.h"
#include "trainers/updates/norms.h"

namespace gradwire::trainers {
namespace {

using Values = std::vector<float>;

double norm(const Values& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

Values difference(const Values& a, const Values& b) {
  Values result;
  for (std::size_t e = 0; e < a.size(); ++e) result.push_back(a[e] - b[e]);
  return result;
}

TEST_CASE("sgd does the arithmetic of its equations") {
  // lr 0.5, momentum 0.9, decay 0.1; w = 1, g = 2 twice.
  // g' = 2 + 0.1 = 2.1, v = 2.1, w = 1 - 1.05 = -0.05;
  // g' = 2 - 0.005 = 1.995, v = 1.89 + 1.995 = 3.885, w = -0.05 - 1.9425 = -1.9925.
  const Layout one = layout_of({{1}});
  Update sgd({"sgd", {{"momentum", "0.9"}, {"weight_decay", "0.1"}}}, one);
  Values w{1}, g{2};
  sgd.step(0.5, g, w);
  CHECK(w[0] == Approx(-0.05));
  sgd.step(0.5, g, w);
  CHECK(w[0] == Approx(-1.9925));
  // nesterov, lr 0.5, momentum 0.9, no decay: v = 2, w = 1 - 0.5 (2 + 1.8) = -0.9;
  // v = 1.8 + 2 = 3.8, w = -0.9 - 0.5 (2 + 3.42) = -3.61.
  Update nesterov({"sgd", {{"momentum", "0.9"}, {"nesterov", "true"}}}, one);
  w = {1};
  nesterov.step(0.5, g, w);
  CHECK(w[0] == Approx(-0.9));
  nesterov.step(0.5, g, w);
  CHECK(w[0] == Approx(-3.61));
}

TEST_CASE("quasi-global momentum does the arithmetic of its equations") {
  // lr 0.5, momentum 0.5; w = 1, g = 2, v = 0: w = 1 - 0.5 (2 + 0.5 (0 + 2)) = -0.5. Mixed to 0:
  // v = 0 + 0.5 (1 - 0) / 0.5 = 1. Then g = 2 again: w = 0 - 0.5 (2 + 0.5 (0.5 + 2)) = -1.625.
  const Layout one = layout_of({{1}});
  Update rule({"quasi-global", {{"momentum", "0.5"}}}, one);
  CHECK(rule.rule().watches_mixing());
  Values w{1}, g{2};
  rule.step(0.5, g, w);
  CHECK(w[0] == Approx(-0.5));
  rule.mixed(0.5, Values{1}, Values{0});
  w = {0};
  rule.step(0.5, g, w);
  CHECK(w[0] == Approx(-1.625));
  // Without momentum it is sgd, decay 0.1 included: w = 1 - 0.5 (2 + 0.1) = -0.05.
  Update plain({"quasi-global", {{"momentum", "0"}, {"weight_decay", "0.1"}}}, one);
  w = {1};
  plain.step(0.5, g, w);
  CHECK(w[0] == Approx(-0.05));
}

TEST_CASE("a rate that changes acts at once on sgd, within the velocity on lars") {
  // g = 1 then 0, momentum 0.5, rates 1 then 0.1. sgd: v = 1, w = -1; v = 0.5, w = -1 - 0.05.
  const Layout matrix = layout_of({{1, 1}});
  Update sgd({"sgd", {{"momentum", "0.5"}}}, matrix);
  Values w{0}, one{1}, zero{0};
  sgd.step(1, one, w);
  sgd.step(0.1, zero, w);
  CHECK(w[0] == Approx(-1.05));
  // lars, w = 0 at first, so the ratio is 1: v = 1, w = -1; v = 0.5 + 0 (the gradient is 0, the
  // ratio 1), w = -1.5. The old rate stays in the velocity, as in the paper.
  Update lars({"lars", {{"momentum", "0.5"}}}, matrix);
  w = {0};
  lars.step(1, one, w);
  lars.step(0.1, zero, w);
  CHECK(w[0] == Approx(-1.5));
}

TEST_CASE("adam does the arithmetic of its equations") {
  // The first step moves by lr against the gradient's sign; with a constant gradient every
  // bias-corrected ratio is 1, so the second does too.
  const Layout two = layout_of({{2}});
  Update adam({"adam"}, two);
  Values x{1, 1}, h{3, -0.01f};
  adam.step(0.1, h, x);
  CHECK(x[0] == Approx(0.9));
  CHECK(x[1] == Approx(1.1));
  adam.step(0.1, h, x);
  CHECK(x[0] == Approx(0.8));
}

TEST_CASE("amsgrad without corrections, epsilon below the root: a worked trace") {
  // lr 1e-3, b 0.9 and 0.999, e 1e-8; g = 1, -0.5, 0 from w = 0.
  // m = 0.1, v = h = 0.001: w = -1e-4 / sqrt(0.00100001) = -0.00316226185;
  // m = 0.09 - 0.05 = 0.04, v = h = 0.000999 + 0.00025 = 0.001249: w -= 4e-5 / sqrt(0.00124901);
  // m = 0.036, v = 0.00124775 falls, h stays 0.001249: w -= 3.6e-5 / sqrt(0.00124901).
  // Floats hold 1 - 0.999 to 1.3e-5 of itself, as in adam.
  const Layout one = layout_of({{1}});
  Update rule({"amsgrad", {{"bias_correction", "false"}, {"epsilon_inside", "true"}}}, one);
  Values w{0};
  const Values gradients[] = {{1}, {-0.5f}, {0}};
  const double expected[] = {-0.00316226185, -0.00429408099, -0.00531271821};
  for (int step = 0; step < 3; ++step) {
    rule.step(1e-3, gradients[step], w);
    CHECK(static_cast<double>(w[0]) == Approx(expected[step]).epsilon(1e-5));
  }
  CHECK(rule.buffers()[2][0] == Approx(0.001249).epsilon(2e-5));
  CHECK(rule.buffers()[1][0] == Approx(0.00124775).epsilon(2e-5));
}

TEST_CASE("amsgrad is adam while the second moment rises, and not where it falls") {
  const Layout layout = layout_of({{3, 2}, {2}});
  Update adam({"adam"}, layout), amsgrad({"amsgrad"}, layout);
  Values a = some_values(8, 1), b = a;
  float size = 1;
  for (std::uint32_t step = 0; step < 6; ++step, size *= 2) {  // each gradient twice the last
    Values g = some_values(8, 5);
    for (float& each : g) each *= size;
    adam.step(0.01, g, a);
    amsgrad.step(0.01, g, b);
    CHECK(a == b);
  }
  for (int step = 0; step < 3; ++step) {  // negative control
    adam.step(0.01, Values(8, 0.0f), a);
    amsgrad.step(0.01, Values(8, 0.0f), b);
  }
  CHECK(a != b);
}

TEST_CASE("adamax does the arithmetic of its equations") {
  // lr 0.1; g = 2, -1 from w = 1. m = 0.2, u = 2: w = 1 - 0.1 / 0.1 * 0.2 / 2 = 0.9;
  // m = 0.18 - 0.1 = 0.08, u = max(1.998, 1): w = 0.9 - 0.1 / 0.19 * 0.08 / 1.998 = 0.87892629.
  // The other element never has a gradient: it stays, and is no NaN.
  const Layout two = layout_of({{2}});
  Update rule({"adamax"}, two);
  Values w{1, 5};
  rule.step(0.1, Values{2, 0}, w);
  CHECK(w[0] == Approx(0.9));
  rule.step(0.1, Values{-1, 0}, w);
  CHECK(w[0] == Approx(0.87892629));
  CHECK(w[1] == 5);
}

TEST_CASE("shift-adamax does the arithmetic of its equations, by powers of two") {
  // lr 2^-10, b1 = 7/8: m = 0.3 / 8 = 0.0375, u = 0.3, AP2(2^-10 / 2^-3) = 2^-7, AP2(1 / 0.3) = 4:
  // w = 1 - 2^-7 * 0.0375 * 4 = 0.998828125. An element without gradients stays.
  const Layout two = layout_of({{2}});
  Update rule({"shift-adamax"}, two);
  Values w{1, 5};
  rule.step(0x1p-10, Values{0.3f, 0}, w);
  CHECK(w[0] == 0.998828125f);
  CHECK(w[1] == 5);
  // m = 0.875 * 0.0375 - 0.1 / 8 = 0.0203125; u = 0.3 (1 - 2^-10) = 0.29970703; 1 - b1^2 =
  // 0.234375, 2^-10 / 0.234375 = 0.0041667, nearest 2^-8; AP2(3.3366) = 4.
  rule.step(0x1p-10, Values{-0.1f, 0}, w);
  CHECK(w[0] == Approx(0.998828125 - 0x1p-8 * 0.0203125 * 4).epsilon(1e-7));
  // Negative control: adamax divides by u itself.
  Values exact{1};
  Update({"adamax", {{"beta1", "0.875"}, {"beta2", "0.9990234375"}}}, layout_of({{1}}))
      .step(0x1p-10, Values{0.3f}, exact);
  CHECK(exact[0] == Approx(1 - 0x1p-7 * 0.0375 / 0.3));
}

TEST_CASE("layers' rates of shift-adamax follow their fans") {
  // [200, 100]: sqrt(300 / 1.5) = 14.1, nearest 16 on a log scale; [4, 2, 3, 3]: sqrt(54 / 1.5) =
  // 6, nearest 8; a vector's rate stays. g = 1: m = 1 / 8, u = 1, steps are rate * 2^-7 / 8.
  for (const bool by_layer : {false, true}) {
    const Layout layout = layout_of({{200, 100}, {4, 2, 3, 3}, {3}});
    const auto n = static_cast<std::size_t>(layout.elements());
    Update rule({"shift-adamax", {{"layer_rates", by_layer ? "true" : "false"}}}, layout);
    Values w(n, 0.0f);
    rule.step(0x1p-10, Values(n, 1.0f), w);
    for (const TensorSlot& slot : layout.tensors()) {
      const float rate = !by_layer || slot.shape.size() == 1 ? 1 : slot.shape.size() == 2 ? 16 : 8;
      CHECK(w[static_cast<std::size_t>(slot.first)] == -rate * 0x1p-10f);
    }
  }
}

TEST_CASE("lars does the arithmetic of its equations") {
  // w = (3, 4), g = (0.6, 0.8), eta 0.001, wd 0.1, lr 1: r = 0.001 * 5 / (1 + 0.5) = 1 / 300;
  // g + wd w = (0.9, 1.2), v = (0.003, 0.004), w = (2.997, 3.996). Second step with g = (0, 0):
  // r = 0.001 / 0.1 = 0.01, r wd w = (0.002997, 0.003996), v = 0.9 v + that = (0.005697, 0.007596).
  const UpdateSettings settings{"lars", {{"weight_decay", "0.1"}}};
  const Layout matrix = layout_of({{1, 2}});
  Update rule(settings, matrix);
  Values w{3, 4};
  rule.step(1, Values{0.6f, 0.8f}, w);
  CHECK(w[0] == Approx(2.997));
  CHECK(w[1] == Approx(3.996));
  rule.step(1, Values{0, 0}, w);
  CHECK(w[0] == Approx(2.997 - 0.005697));
  CHECK(w[1] == Approx(3.996 - 0.007596));
  // Each tensor has a ratio of its own: ten times the weights, and the same gradient, without
  // decay, make ten times the step.
  const Layout both = layout_of({{1, 2}, {1, 2}});
  w = {3, 4, 30, 40};
  Update({"lars"}, both).step(1, Values{0.6f, 0.8f, 0.6f, 0.8f}, w);
  CHECK(w[0] == Approx(3 - 0.003));  // r = 0.005, r g = (0.003, 0.004)
  CHECK(w[2] == Approx(30 - 0.03));
}

TEST_CASE("lars without decay does not feel the gradient's scale") {
  const Layout matrix = layout_of({{4, 2}});
  const Values start = some_values(8, 1), g = some_values(8, 2);
  Values large = g, a = start, b = start;
  for (float& each : large) each *= 1024;
  Update({"lars"}, matrix).step(1, g, a);
  Update({"lars"}, matrix).step(1, large, b);
  CHECK(norm(difference(a, start)) == Approx(0.001 * norm(start)));
  for (std::size_t e = 0; e < 8; ++e) CHECK(a[e] == Approx(b[e]));
  // Negative control: sgd does.
  Values c = start, d = start;
  Update({"sgd"}, matrix).step(1, g, c);
  Update({"sgd"}, matrix).step(1, large, d);
  CHECK(norm(difference(d, start)) == Approx(1024 * norm(difference(c, start))));
}

TEST_CASE("lars with every tensor excluded is sgd, bit for bit") {
  const Layout mixed = layout_of({{3, 2}, {2}, {2, 2}}), vectors = layout_of({{6}, {2}});
  for (const char* momentum : {"0", "0.9"}) {
    const UpdateSettings sgd{"sgd", {{"momentum", momentum}}};
    // Excluded tensors take no decay either.
    const std::map<std::string, std::string> lars = {{"momentum", momentum},
                                                     {"weight_decay", "0.1"}};
    auto all = lars;
    all["exclude"] = "all";
    CHECK(trained({"lars", all}, mixed, 10) == trained(sgd, mixed, 10));
    CHECK(trained({"lars", lars}, vectors, 10) == trained(sgd, vectors, 10));
    // Negative control: matrices, and vectors that are not excluded, go elsewhere.
    CHECK(trained({"lars", lars}, mixed, 10) != trained(sgd, mixed, 10));
    auto none = lars;
    none["exclude"] = "none";
    CHECK(trained({"lars", none}, vectors, 10) != trained(sgd, vectors, 10));
  }
}

TEST_CASE("lamb does the arithmetic of its equations") {
  // First step: m / (1 - b1) = g, v / (1 - b2) = g^2, so the ratio of moments is the gradient's
  // sign. w = (3, 4), g = (1, -2), wd 0.01, lr 0.01: u = (1.03, -0.96), |u| = 1.40801, ratio
  // 5 / |u| = 3.55110, w = (3 - 0.0355110 * 1.03, 4 + 0.0355110 * 0.96) = (2.963424, 4.034091).
  const Layout matrix = layout_of({{2, 1}});
  Values w{3, 4};
  Update({"lamb"}, matrix).step(0.01, Values{1, -2}, w);
  CHECK(w[0] == Approx(2.963424));
  CHECK(w[1] == Approx(4.034091));
  // phi: |w| = 5 taken as at most 2, ratio 2 / 1.40801: the step is 2 / 5 as long.
  w = {3, 4};
  Update({"lamb", {{"norm_max", "2"}}}, matrix).step(0.01, Values{1, -2}, w);
  CHECK(w[0] == Approx(3 - 0.4 * (3 - 2.963424)));
  // The ratio itself at most 1: w - lr u.
  w = {3, 4};
  Update({"lamb", {{"ratio_max", "1"}}}, matrix).step(0.01, Values{1, -2}, w);
  CHECK(w[0] == Approx(3 - 0.01 * 1.03));
  CHECK_THROWS(make_update_rule({"lamb", {{"ratio_min", "2"}, {"ratio_max", "1"}}}));
}

TEST_CASE("lamb's step is as long as lr times the weights") {
  const Layout layout = layout_of({{4, 3}, {5, 2}});
  Update rule({"lamb"}, layout);
  Values w = some_values(22, 1);
  for (std::uint32_t step = 0; step < 4; ++step) {
    const Values before = w;
    rule.step(0.02, some_values(22, 10 + step), w);
    const Values change = difference(w, before);
    for (const auto& [first, count] : {std::pair(0, 12), std::pair(12, 10)}) {
      const auto part = [&, first = first, count = count](const Values& values) {
        return Values(values.begin() + first, values.begin() + first + count);
      };
      CHECK(norm(part(change)) == Approx(0.02 * norm(part(before))).epsilon(1e-5));
    }
  }
  // A tensor of zeros has no norm to go by: ratio 1, so the step is adam's.
  w.assign(22, 0.0f);
  Update({"lamb"}, layout).step(0.02, Values(22, 3.0f), w);
  CHECK(w[0] == Approx(-0.02));
}

TEST_CASE("lamb with ratio 1 is adam with decoupled decay, to rounding") {
  const Layout layout = layout_of({{3, 2}, {4}});
  const std::map<std::string, std::string> ratio_one = {
      {"ratio_min", "1"}, {"ratio_max", "1"}, {"epsilon", "1e-8"}, {"exclude", "none"}};
  auto without = ratio_one;
  without["weight_decay"] = "0";
  const Values adam = trained({"adam"}, layout, 10), lamb = trained({"lamb", without}, layout, 10);
  for (std::size_t e = 0; e < adam.size(); ++e) CHECK(lamb[e] == Approx(adam[e]).epsilon(1e-5));
  // With decay, each step takes lr wd w more (arXiv 1711.05101, algorithm 2).
  auto with = ratio_one;
  with["weight_decay"] = "0.1";
  Update decayed({"lamb", with}, layout), plain({"adam"}, layout);
  Values a = some_values(10, 1), b = a;
  for (std::uint32_t step = 0; step < 10; ++step) {
    const Values g = some_values(10, 100 + step), before = b;
    decayed.step(0.01, g, a);
    plain.step(0.01, g, b);
    for (std::size_t e = 0; e < 10; ++e) b[e] -= 0.01f * 0.1f * before[e];
    for (std::size_t e = 0; e < 10; ++e) CHECK(a[e] == Approx(b[e]).epsilon(1e-5));
  }
  // Excluded tensors are adam's too; negative control: others are not.
  CHECK(trained({"lamb", {{"exclude", "all"}, {"epsilon", "1e-8"}}}, layout, 3)[0] ==
        Approx(trained({"adam"}, layout, 3)[0]).epsilon(1e-5));
  CHECK(trained({"lamb"}, layout, 3)[0] != Approx(trained({"adam"}, layout, 3)[0]).epsilon(1e-3));
}

TEST_CASE("norms are sums in double in one order") {
  // The first square is 2^54, where doubles are 4 apart; 16 ones follow. Element e is in part e mod
  // 8: part 0 loses its two ones, one at a time, and then part 4's 2 (half-way, to even); parts 2
  // and 6 add 4, parts 1, 3, 5 and 7 add 8. One sum after the other would lose all 16.
  Values values(17, 1.0f);
  values[0] = 134217728.0f;  // 2^27
  const double sum = sum_of_squares(17, [&](std::size_t e) { return values[e]; });
  CHECK(sum == 18014398509481984.0 + 12);
  CHECK(sum_of_squares(0, [](std::size_t) { return 1.0f; }) == 0);
}

TEST_CASE("gradients by tensor give the bits of a flat gradient, under every rule") {
  std::vector<Parameter> parameters(3);
  for (std::size_t p = 0; p < 3; ++p) {
    parameters[p].name = std::string(1, static_cast<char>('a' + p));
    parameters[p].shape = {static_cast<std::int64_t>(p + 2), 5};
  }
  const Layout layout(parameters, Bytes(1 << 20));  // elements: c 20, b 15, a 10
  Values flat(45);
  for (std::size_t e = 0; e < flat.size(); ++e) flat[e] = 0.1f * static_cast<float>(e) - 2;
  std::vector<Values> apart;
  std::vector<std::span<const float>> tensors;
  for (const TensorSlot& slot : layout.tensors())
    apart.emplace_back(flat.begin() + slot.first, flat.begin() + slot.first + slot.count);
  for (const Values& tensor : apart) tensors.emplace_back(tensor);
  for (const char* rule : {"sgd", "adam", "amsgrad", "adamax", "lars", "lamb"}) {
    INFO(rule);
    Update one({rule}, layout), other({rule}, layout);
    Values a(45, 1.0f), b(45, 1.0f);
    for (int step = 0; step < 3; ++step) {
      one.step(0.1, GradientView(flat), a);
      other.step(0.1, GradientView(tensors), b);
    }
    CHECK(a == b);
    CHECK(a != Values(45, 1.0f));
  }
  // Of the last two tensors alone: elements 20 to 44.
  Update part(make_update_rule({"sgd"}), layout, {{20, 25}});
  Values w(45, 0.0f);
  part.step(1, GradientView(tensors), w);
  CHECK(w[19] == 0.0f);
  CHECK(w[20] == -flat[20]);
  CHECK(w[44] == -flat[44]);
}

}  // namespace
}  // namespace gradwire::trainers
