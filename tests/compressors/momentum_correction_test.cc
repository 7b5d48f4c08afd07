#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "codec_fixture.h"
#include "compressors/decorators/clip.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

/// A codec with its state; step() encodes and decodes.
class Worker {
 public:
  Worker(CodecPtr codec, std::size_t n)
      : codec_(std::move(codec)), n_(n), state_(codec_->state_size(n) / 8 + 1) {}
  std::vector<float> step(const std::vector<float>& g) {
    const auto bytes = std::as_writable_bytes(std::span(state_)).first(codec_->state_size(n_));
    return decode(*codec_, encode(*codec_, g, {.state = bytes}), n_);
  }
  std::vector<float> u() const { return part(0); }
  std::vector<float> v() const { return part((n_ + 1) / 2); }

 private:
  std::vector<float> part(std::size_t word) const {
    std::vector<float> values(n_);
    std::memcpy(values.data(), state_.data() + word, 4 * n_);
    return values;
  }
  CodecPtr codec_;
  std::size_t n_;
  std::vector<std::uint64_t> state_;
};

CodecPtr dgc_with(const char* ratio, MomentumCorrection options, const char* codec = "dgc") {
  return with_momentum_correction(make_codec(codec, {{"ratio", ratio}}), options);
}

std::vector<float> gradient(std::size_t n, std::uint32_t step) {
  auto g = random_values(n, step);
  for (float& value : g) value = std::round(value * 64) / 64;
  return g;
}

}  // namespace

TEST_CASE("the notes' state example: m = .9, k = 1") {
  Worker worker(dgc_with("0.25", {.momentum = 0.9}), 4);
  CHECK(worker.step({1, 0.5f, -0.2f, 0}) == std::vector<float>{1, 0, 0, 0});
  CHECK(worker.u() == std::vector<float>{0, 0.5f, -0.2f, 0});
  CHECK(worker.v() == std::vector<float>{0, 0.5f, -0.2f, 0});
  // u = [.1, .95, -.38, .3], v = [.1, 1.45, -.58, .3]; sends (1, 1.45)
  CHECK(worker.step({0.1f, 0.5f, -0.2f, 0.3f})[1] == Approx(1.45));
  const float u[] = {0.1f, 0, -0.38f, 0.3f}, v[] = {0.1f, 0, -0.58f, 0.3f};
  for (int e = 0; e < 4; ++e) {
    CHECK(worker.u()[e] == Approx(u[e]));
    CHECK(worker.v()[e] == Approx(v[e]));
  }
}

TEST_CASE("masking off: sum sent + v = sum of the dense velocities") {
  // Momentum 1/2 and dyadic gradients; few steps: every sum is exact.
  const std::size_t n = 333;
  for (const bool masking : {false, true})
    for (const char* codec : {"dgc", "topk", "randomk"}) {
      Worker worker(dgc_with("0.05", {.momentum = 0.5, .masking = masking}, codec), n);
      std::vector<double> sent(n), velocities(n), u(n);
      for (std::uint32_t step = 0; step < 12; ++step) {
        const auto g = gradient(n, step), c = worker.step(g);
        for (std::size_t e = 0; e < n; ++e) {
          u[e] = 0.5 * u[e] + g[e];
          velocities[e] += u[e];
          sent[e] += c[e];
        }
      }
      double worst = 0;
      for (std::size_t e = 0; e < n; ++e)
        worst = std::max(worst, std::abs(sent[e] + worker.v()[e] - velocities[e]));
      if (masking)
        CHECK(worst > 0.01);  // negative control: masking forgets velocity
      else
        CHECK(worst == 0.0);
    }
}

TEST_CASE("ratio 1: dense momentum without masking, no momentum with it") {
  const std::size_t n = 50;
  Worker dense(dgc_with("1", {.momentum = 0.9, .masking = false}), n);
  Worker masked(dgc_with("1", {.momentum = 0.9, .masking = true}), n);
  std::vector<float> u(n), velocity;
  for (std::uint32_t step = 0; step < 20; ++step) {
    const auto g = random_values(n, step);
    for (std::size_t e = 0; e < n; ++e) u[e] = 0.9f * u[e] + g[e];
    CHECK(dense.step(g) == u);
    CHECK(masked.step(g) == g);
  }
}

TEST_CASE("momentum 0 is error feedback") {
  const std::size_t n = 1000;
  Worker corrected(dgc_with("0.02", {.momentum = 0}), n);
  Worker feedback(with_error_feedback(make_codec("dgc", {{"ratio", "0.02"}})), n);
  Worker without(make_codec("dgc", {{"ratio", "0.02"}}), n);  // negative control
  bool same_without = true;
  for (std::uint32_t step = 0; step < 10; ++step) {
    const auto g = gradient(n, step);
    const auto sent = corrected.step(g);
    CHECK(sent == feedback.step(g));
    same_without = same_without && sent == without.step(g);
  }
  CHECK_FALSE(same_without);
}

TEST_CASE("Nesterov's form: u <- m (u + g), v <- v + u + g") {
  const std::size_t n = 40;
  Worker worker(dgc_with("0.1", {.momentum = 0.5, .nesterov = true, .masking = false}), n);
  std::vector<double> sent(n), fed(n), u(n);
  for (std::uint32_t step = 0; step < 10; ++step) {
    const auto g = gradient(n, step), c = worker.step(g);
    for (std::size_t e = 0; e < n; ++e) {
      u[e] = 0.5 * (u[e] + g[e]);
      fed[e] += u[e] + g[e];
      sent[e] += c[e];
    }
  }
  for (std::size_t e = 0; e < n; ++e) {
    CHECK(worker.u()[e] == u[e]);
    CHECK(sent[e] + worker.v()[e] == fed[e]);
  }
}

TEST_CASE("the local norm is clipped to clip / sqrt(workers)") {
  // ||(3, 4)|| = 5; 2 / sqrt 4 = 1: (.6, .8).
  Worker worker(dgc_with("1", {.momentum = 0, .clip = 2, .workers = 4}), 2);
  const auto sent = worker.step({3, 4});
  CHECK(sent[0] == Approx(0.6));
  CHECK(sent[1] == Approx(0.8));
}

TEST_CASE("clipped as it is read, or as a copy: the same to the last bit") {
  const std::size_t n = 70'001;
  const bool nesterov = GENERATE(false, true);
  const std::string codec = GENERATE("dgc", "topk");
  const MomentumCorrection plain{.momentum = 0.9, .nesterov = nesterov, .masking = true};
  MomentumCorrection clipping = plain;
  clipping.clip = 3;
  clipping.workers = 9;  // a norm of 1
  Worker as_read(dgc_with("0.01", clipping, codec.c_str()), n);
  Worker of_copies(dgc_with("0.01", plain, codec.c_str()), n);
  const CodecPtr clip = with_clipping(make_codec("none"), {ClipBy::kNorm, 1});
  for (std::uint32_t step = 0; step < 4; ++step) {
    auto g = random_values(n, step);
    if (step == 2)
      for (float& value : g) value *= 1e-6f;  // of a norm below 1: left alone
    CAPTURE(codec, nesterov, step);
    CHECK(as_read.step(g) == of_copies.step(decode(*clip, encode(*clip, g), n)));
    CHECK(as_read.u() == of_copies.u());
    CHECK(as_read.v() == of_copies.v());
  }
}

TEST_CASE("values through a dense codec leave their error behind") {
  const std::size_t n = 500;
  const auto inner = make_codec("topk", {{"ratio", "0.1"}, {"values", "fp16"}});
  Worker worker(with_momentum_correction(inner, {.momentum = 0, .masking = true}), n);
  const auto g = random_values(n), sent = worker.step(g);
  bool rounded = false;
  for (std::size_t e = 0; e < n; ++e) {
    REQUIRE(sent[e] + worker.v()[e] == g[e]);
    rounded = rounded || (sent[e] != 0 && worker.v()[e] != 0);
  }
  CHECK(rounded);
}

TEST_CASE("momentum correction refuses what cannot work, and keeps its state where it refuses") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(with_momentum_correction(make_codec("fp16"), {}), Contains("sparse codec"));
  CHECK_NOTHROW(with_momentum_correction(make_codec("none"), {.masking = false}));
  CHECK_THROWS_WITH(dgc_with("0.1", {.momentum = 1}), Contains("[0, 1)"));
  CHECK_THROWS_WITH(dgc_with("0.1", {.workers = 0}), Contains("workers"));
  Worker worker(dgc_with("0.25", {}), 4);
  worker.step({1, 0.5f, -0.2f, 0});
  const auto u = worker.u(), v = worker.v();
  CHECK_THROWS_WITH(worker.step({1, NAN, 0, 0}),
                    Contains("with dgc") && Contains("element 1 is NaN"));
  CHECK(worker.u() == u);
  CHECK(worker.v() == v);
}
