#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/thread_team.h"
#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

struct Account {
  std::vector<double> fed, sent;
  std::vector<float> residual;
};

// Feeds 40 tensors of dyadic values (multiples of 2^-6, sums exact in binary32).
Account run_steps(const Codec& codec, std::size_t n) {
  std::vector<std::uint64_t> state(codec.state_size(n) / 8 + 1);
  const auto bytes = std::as_writable_bytes(std::span(state)).first(codec.state_size(n));
  Account account{std::vector<double>(n), std::vector<double>(n), std::vector<float>(n)};
  for (std::uint32_t step = 0; step < 40; ++step) {
    auto x = random_values(n, step);
    for (float& value : x) value = std::round(value * 64) / 64;
    const auto payload = encode(codec, x, {.stream = {.seed = 1, .step = step}, .state = bytes});
    const auto sent = decode(codec, payload, n);
    for (std::size_t e = 0; e < n; ++e) {
      account.fed[e] += x[e];
      account.sent[e] += sent[e];
    }
  }
  if (!bytes.empty()) std::memcpy(account.residual.data(), bytes.data(), 4 * n);
  return account;
}

double worst_gap(const Account& account) {
  double worst = 0;
  for (std::size_t e = 0; e < account.fed.size(); ++e)
    worst = std::max(worst, std::abs(account.sent[e] + account.residual[e] - account.fed[e]));
  return worst;
}

}  // namespace

TEST_CASE("sum sent + residual = sum fed") {
  const auto topk = make_codec("topk", {{"ratio", "0.05"}});
  CHECK(worst_gap(run_steps(*with_error_feedback(topk), 333)) == 0.0);  // all sums are exact
  CHECK(worst_gap(run_steps(*topk, 333)) > 0.1);                        // negative control
  for (const char* name : {"fp16", "terngrad", "none"})
    CHECK(worst_gap(run_steps(*with_error_feedback(make_codec(name)), 333)) < 1e-5);
  CHECK(worst_gap(run_steps(*make_codec("terngrad"), 333)) > 0.1);
}

TEST_CASE("error feedback sends the residual in the next step") {
  // k = 1 of 3. Step 1: 1 .5 -.25 sends 1; residual 0 .5 -.25.
  // Step 2: + 0 .75 0 = 0 1.25 -.25 sends 1.25; residual 0 0 -.25.
  const auto codec = with_error_feedback(make_codec("topk", {{"ratio", "0.3"}}));
  CHECK(codec->name() == "topk+ef");
  CHECK(codec->state_size(3) == 16);
  std::uint64_t state[2] = {};
  const auto bytes = std::as_writable_bytes(std::span(state));
  const auto first = encode(*codec, {1.0f, 0.5f, -0.25f}, {.state = bytes});
  CHECK(decode(*codec, first, 3) == std::vector<float>{1, 0, 0});
  const auto second = encode(*codec, {0.0f, 0.75f, 0.0f}, {.state = bytes});
  CHECK(decode(*codec, second, 3) == std::vector<float>{0, 1.25f, 0});
  float residual[3];
  std::memcpy(residual, state, sizeof residual);
  CHECK(residual[0] == 0.0f);
  CHECK(residual[1] == 0.0f);
  CHECK(residual[2] == -0.25f);
}

TEST_CASE("a refused tensor leaves the residual as it was") {
  const auto codec = with_error_feedback(make_codec("topk", {{"ratio", "0.3"}}));
  std::uint64_t state[2] = {};
  const auto bytes = std::as_writable_bytes(std::span(state));
  encode(*codec, {1.0f, 0.5f, -0.25f}, {.state = bytes});
  const std::uint64_t before[2] = {state[0], state[1]};
  CHECK_THROWS_WITH(
      encode(*codec, {1.0f, NAN, 1.0f}, {.state = bytes}),
      Catch::Matchers::Contains("with topk") && Catch::Matchers::Contains("element 1 is NaN"));
  CHECK(std::memcmp(state, before, sizeof state) == 0);
}

TEST_CASE("a refused tensor leaves the residual as it was, at any size and with any threads") {
  // 300,007 elements are five ranges of the threads' work, and 19 blocks of a selection. The bad
  // value lies in the middle: ranges and blocks before it are whole.
  const std::size_t n = 300'007, bad_at = 180'000;
  for (const CodecInfo& info : codec_catalogue()) {
    if (info.needs_shape || info.needs_mask) continue;
    INFO(info.name);
    const auto codec = with_error_feedback(make_codec(info.name));
    std::vector<std::uint64_t> state(codec->state_size(n) / 8);
    const auto bytes = std::as_writable_bytes(std::span(state));
    encode(*codec, random_values(n), {.state = bytes});
    const std::vector<std::uint64_t> before = state;
    std::vector<std::byte> scratch(codec->scratch_size(n)), payload(codec->max_encoded_size(n));
    for (const float bad : {NAN, INFINITY}) {
      auto values = random_values(n, 1);
      values[bad_at] = bad;
      for (const int threads : {0, 1, 2, 3}) {
        std::optional<ThreadTeam> team;
        if (threads > 0) team.emplace(threads);
        EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = values},
                      .draws = {.stream = {.seed = 3}},
                      .state = bytes,
                      .payload = payload,
                      .team = team ? &*team : nullptr};
        CHECK_THROWS_WITH(codec->encode(job, scratch), Catch::Matchers::Contains("element 180000"));
        REQUIRE((state == before));  // not printed: 150,000 words
      }
    }
    // Negative control: the same tensor without the bad value changes the residual, unless the
    // codec loses nothing.
    encode(*codec, random_values(n, 1), {.state = bytes});
    CHECK((state != before) == (info.name != "none"));
  }
}
