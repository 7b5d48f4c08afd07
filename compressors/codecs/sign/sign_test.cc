#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "compressors/codecs/sign/arithmetic.h"
#include "compressors/ordered_sum.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

double norm_squared(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += double{value} * value;
  return sum;
}

std::vector<float> difference(std::vector<float> x, const std::vector<float>& y) {
  for (std::size_t e = 0; e < x.size(); ++e) x[e] -= y[e];
  return x;
}

// Block-sign by its definition, with the same order of sums.
std::vector<std::byte> expected_payload(const std::vector<float>& x, std::size_t block) {
  std::vector<std::byte> payload;
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    const std::size_t n = std::min(block, x.size() - begin);
    const float mu = block_sign_scale(
        ordered_sum(n, [&](std::size_t e) { return std::abs(double{x[begin + e]}); }), n);
    const std::size_t at = payload.size();
    payload.resize(at + 4 + (n + 7) / 8);
    std::memcpy(payload.data() + at, &mu, 4);
    for (std::size_t e = 0; e < n; ++e)
      if (x[begin + e] < 0) payload[at + 4 + e / 8] |= static_cast<std::byte>(1u << (e % 8));
  }
  return payload;
}

std::vector<std::byte> encode_shared(const Codec& codec, const std::vector<float>& x,
                                     std::vector<float>* residual, ThreadTeam* team) {
  std::vector<std::byte> payload(codec.max_encoded_size(x.size()));
  std::vector<std::byte> scratch(codec.scratch_size(x.size()));
  EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = x}, .payload = payload, .team = team};
  if (residual == nullptr)
    codec.encode(job, scratch);
  else
    codec.encode_with_residual(job, *residual, scratch);
  return payload;
}

}  // namespace

TEST_CASE("block-sign worked example, both ways, with error feedback") {
  // Blocks {0,1,2} and {3,4}: mu = (.5 + 1 + .25) / 3 = .58333 and (3 + 1) / 2 = 2;
  // signs + - + = 0b010 and + - = 0b10.
  const auto codec = make_codec("sign", {{"block", "3"}});
  const std::vector<float> g1 = {.5f, -1, .25f, 3, -1}, g2 = {.1f, .2f, -.3f, .5f, .5f};
  const auto payload = encode(*codec, g1);
  CHECK(hex(payload) ==
        "5555153f02"
        "0000004002");
  const float mu = 1.75f / 3;
  CHECK(decode(*codec, payload, 5) == std::vector<float>{mu, -mu, mu, 2, -2});

  const auto feedback = with_error_feedback(codec);
  std::uint64_t state[3] = {};
  const auto bytes = std::as_writable_bytes(std::span(state)).first(feedback->state_size(5));
  CHECK(encode(*feedback, g1, {.state = bytes}) == payload);
  float e[5];
  std::memcpy(e, state, sizeof e);
  const float e1[] = {-.08333f, -.41667f, -.33333f, 1, 1};
  for (int i = 0; i < 5; ++i) CHECK(e[i] == Approx(e1[i]).epsilon(1e-4));
  const auto c2 = decode(*feedback, encode(*feedback, g2, {.state = bytes}), 5);
  std::memcpy(e, state, sizeof e);
  const float want_c[] = {.28889f, -.28889f, -.28889f, 1.5f, 1.5f};
  const float want_e[] = {-.27222f, .07222f, -.34444f, 0, 0};
  const float fed[] = {.6f, -.8f, -.05f, 3.5f, -.5f};  // g1 + g2 = c1 + c2 + e2
  const float c1[] = {mu, -mu, mu, 2, -2};
  for (int i = 0; i < 5; ++i) {
    CHECK(c2[i] == Approx(want_c[i]).epsilon(1e-4));
    CHECK(e[i] == Approx(want_e[i]).epsilon(1e-4).margin(1e-6));
    CHECK(c1[i] + c2[i] + e[i] == Approx(fed[i]).margin(1e-6));
  }
}

TEST_CASE("block-sign's error is what Pythagoras leaves, and within its bound") {
  // ||x - C(x)||^2 = ||x||^2 - sum_B ||x_B||_1^2 / d_B: 11.3125 - 1.75^2 / 3 - 4^2 / 2 = 2.29167
  // <= q^2 ||x||^2 = (1 - 1/3) 11.3125.
  const auto three = make_codec("sign", {{"block", "3"}});
  const std::vector<float> g = {.5f, -1, .25f, 3, -1};
  const double error = norm_squared(difference(g, decode(*three, encode(*three, g), 5)));
  CHECK(norm_squared(g) == 11.3125);
  CHECK(error == Approx(2.29167).epsilon(1e-5));
  CHECK(error <= 2.0 / 3 * 11.3125);
  for (const std::size_t block : {1u, 7u, 64u, 1000u}) {
    const auto codec = make_codec("sign", {{"block", std::to_string(block)}});
    const auto x = random_values(1000, 3);
    double kept = 0;
    for (std::size_t begin = 0; begin < 1000; begin += block) {
      double sum = 0;
      const std::size_t end = std::min<std::size_t>(1000, begin + block);
      for (std::size_t e = begin; e < end; ++e) sum += std::abs(double{x[e]});
      kept += sum * sum / static_cast<double>(end - begin);
    }
    const double lost = norm_squared(difference(x, decode(*codec, encode(*codec, x), 1000)));
    CHECK(lost == Approx(norm_squared(x) - kept).epsilon(1e-5).margin(1e-9));
    CHECK(lost <= (1 - 1.0 / static_cast<double>(block)) * norm_squared(x) + 1e-9);
  }
}

TEST_CASE("error feedback keeps block-sign's residual bounded; without it the error grows") {
  // ||e||^2 <= 4 q^2 / (1 - q^2)^2 G^2 with q^2 = 1 - 1/d: for d = 8, 4 (7/8) 64 G^2 = 224 G^2.
  const auto feedback = with_error_feedback(make_codec("sign", {{"block", "8"}}));
  const auto bare = make_codec("sign", {{"block", "8"}});
  std::vector<std::uint64_t> state(feedback->state_size(64) / 8);
  const auto bytes = std::as_writable_bytes(std::span(state));
  std::vector<double> fed(64), sent(64), sent_bare(64);
  for (std::uint32_t step = 0; step < 200; ++step) {
    auto g = random_values(64, step);
    for (std::size_t e = 0; e < 64; e += 8) g[e] += 0.05f;  // a drift that a sign alone distorts
    double largest = 0;
    for (std::size_t begin = 0; begin < 64; begin += 8)
      largest = std::max(largest, norm_squared({g.begin() + begin, g.begin() + begin + 8}));
    const auto c = decode(*feedback, encode(*feedback, g, {.state = bytes}), 64);
    const auto d = decode(*bare, encode(*bare, g), 64);
    for (std::size_t e = 0; e < 64; ++e) {
      fed[e] += g[e];
      sent[e] += c[e];
      sent_bare[e] += d[e];
    }
  }
  std::vector<float> residual(64);
  std::memcpy(residual.data(), state.data(), 256);
  double gap = 0, bare_gap = 0;
  for (std::size_t e = 0; e < 64; ++e) {
    REQUIRE(sent[e] + residual[e] == Approx(fed[e]).margin(1e-5));  // telescoping
    gap += std::pow(sent[e] - fed[e], 2);
    bare_gap += std::pow(sent_bare[e] - fed[e], 2);
  }
  for (std::size_t begin = 0; begin < 64; begin += 8)  // |g| < .2 each: G^2 <= 8 * .04
    CHECK(norm_squared({residual.begin() + begin, residual.begin() + begin + 8}) <= 224 * 8 * .04);
  CHECK(bare_gap > 10 * gap);
}

TEST_CASE("block-sign gives the bytes of its definition on every instruction set and team") {
  ThreadTeam team(3);
  on_each_instruction_set([&] {
    for (const std::size_t n : {1u, 15u, 64u, 65u, 4096u, 5003u, 9000u})
      for (const std::size_t block : {std::size_t{5}, std::size_t{64}, std::size_t{4100}, n}) {
        auto x = random_values(n);
        x[n / 2] = -0.0f;
        const auto codec = make_codec("sign", {{"block", std::to_string(block)}});
        REQUIRE(encode(*codec, x) == expected_payload(x, block));
      }
    for (const char* block : {"0", "70000", "1000"}) {
      const auto x = random_values(300001);
      const auto codec = make_codec("sign", {{"block", block}});
      const auto payload = encode_shared(*codec, x, nullptr, nullptr);
      REQUIRE(encode_shared(*codec, x, nullptr, &team) == payload);
      const std::size_t length = std::string(block) == "0" ? x.size() : std::stoul(block);
      REQUIRE(payload == expected_payload(x, length));
      std::vector<float> values(x.size());
      codec->decode({.payload = payload, .side = {}, .values = values, .team = &team}, {});
      REQUIRE(values == decode(*codec, payload, x.size()));
      for (std::size_t e = 0; e < x.size(); ++e) REQUIRE(std::signbit(values[e]) == (x[e] < 0));
    }
  });
}

TEST_CASE("block-sign's fused error feedback is the general one") {
  ThreadTeam team(2);
  for (const char* block : {"0", "100", "5000"}) {
    const auto codec = make_codec("sign", {{"block", block}});
    on_each_instruction_set([&] {
      const auto g = random_values(140003, 1), e = random_values(140003, 2);
      std::vector<float> fused = e, general = e;
      const auto payload = encode_shared(*codec, g, &fused, &team);
      for (std::size_t i = 0; i < g.size(); ++i) general[i] += g[i];
      REQUIRE(payload == encode_shared(*codec, general, nullptr, nullptr));
      decode_add(*codec, payload, -1.0f, general);
      REQUIRE(fused == general);
    });
  }
}

TEST_CASE("a sum that overflows is refused before the residual changes") {
  const auto codec = make_codec("sign");
  const std::vector<float> g = {1, 2, FLT_MAX};
  std::vector<float> residual = {1, 1, FLT_MAX};
  CHECK_THROWS_WITH(encode_shared(*codec, g, &residual, nullptr),
                    Contains("sign") && Contains("overflow at element 2"));
  CHECK(residual == std::vector<float>{1, 1, FLT_MAX});
  CHECK_THROWS_WITH(encode_shared(*codec, {1, NAN, 1}, &residual, nullptr),
                    Contains("element 1 is NaN"));
  CHECK(residual == std::vector<float>{1, 1, FLT_MAX});
}

TEST_CASE("signs without scales: bits only, and a majority vote by the sign of the sum") {
  const auto codec = make_codec("sign", {{"scale", "none"}});
  const std::vector<std::vector<float>> workers = {{1, -2, .5f}, {-3, -1, .1f}, {.1f, 5, -9}};
  std::vector<float> votes(3);
  for (const auto& g : workers) {
    const auto payload = encode(*codec, g);
    CHECK(payload.size() == 1);
    decode_add(*codec, payload, 1.0f, votes);
  }
  CHECK(votes == std::vector<float>{1, -1, 1});
  CHECK_THROWS_WITH(make_codec("sign", {{"scale", "none"}, {"block", "8"}}), Contains("block"));
}

TEST_CASE("block-sign's decoder names the bad byte; its fields cover the payload") {
  const auto codec = make_codec("sign", {{"block", "8"}});
  auto payload = encode(*codec, random_values(20));  // 5 + 5 + 5 bytes
  REQUIRE(payload.size() == 15);
  const auto fields = codec->explain(payload, 20, {});
  REQUIRE(fields.size() == 6);
  std::size_t at = 0;
  for (const PayloadField& field : fields) {
    CHECK(field.offset == at);
    at += field.bytes;
  }
  CHECK(at == payload.size());
  CHECK(fields[2].name == "mu[1]");
  payload[8] = std::byte{0xFF};
  payload[7] = std::byte{0x80};
  CHECK_THROWS_WITH(decode(*codec, payload, 20), Contains("byte 5 begins a scale"));
  payload.pop_back();
  CHECK_THROWS_WITH(decode(*codec, payload, 20), Contains("it ends at byte 14"));
}
