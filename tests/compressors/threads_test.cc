#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "codec_fixture.h"
#include "compressors/tensor_moments.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

struct Case {
  const char* codec;
  std::map<std::string, std::string> options;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"none", {}},
      {"fp16", {}},
      {"fp16", {{"overflow", "saturate"}}},
      {"bf16", {}},
      {"terngrad", {}},
      {"terngrad", {{"code", "base3"}}},
      {"terngrad", {{"scale", "released"}}},
      {"natural", {}},
      {"natural", {{"bits", "8"}}},
      {"dither", {}},
      {"dither", {{"p", "infinity"}, {"norm", "natural"}}},
  };
  return all;
}

std::vector<std::byte> encode_shared(const Codec& codec, const std::vector<float>& values,
                                     ThreadTeam* team) {
  std::vector<std::byte> payload(codec.max_encoded_size(values.size()));
  std::vector<std::byte> scratch(codec.scratch_size(values.size()));
  EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = values},
                .side = {},
                .draws = {CallOptions{}.stream, 5, {}},
                .payload = payload,
                .team = team};
  payload.resize(codec.encode(job, scratch));
  return payload;
}

struct Decoded {
  std::vector<float> stored, added;
  bool operator==(const Decoded&) const = default;
};

Decoded decode_shared(const Codec& codec, const std::vector<std::byte>& payload, std::size_t n,
                      ThreadTeam* team) {
  Decoded result{std::vector<float>(n), std::vector<float>(n, 1.0f)};
  std::vector<std::byte> scratch(codec.scratch_size(n));
  codec.decode({.payload = payload, .side = {}, .values = result.stored, .team = team}, scratch);
  codec.decode_accumulate({.payload = payload, .side = {}, .values = result.added, .team = team},
                          -0.5f, scratch);
  return result;
}

}  // namespace

TEST_CASE("threads and instruction sets change no byte, in tensors past the caches too") {
  // 300,007 elements: five ranges and outputs beyond 1 MiB, which are streamed.
  const auto values = random_values(300007);
  for (const Case& c : cases()) {
    INFO(c.codec);
    const auto codec = make_codec(c.codec, c.options);
    const auto payload = encode_shared(*codec, values, nullptr);
    const auto decoded = decode_shared(*codec, payload, values.size(), nullptr);
    ThreadTeam team(3);
    on_each_instruction_set([&] {
      REQUIRE(encode_shared(*codec, values, &team) == payload);
      REQUIRE(decode_shared(*codec, payload, values.size(), &team) == decoded);
    });
    for (std::size_t e = 0; e < values.size(); ++e)
      REQUIRE(decoded.added[e] == 1.0f + -0.5f * decoded.stored[e]);
  }
}

TEST_CASE("a bad value is refused by name whichever thread meets it") {
  auto values = random_values(300007);
  values[250000] = NAN;
  ThreadTeam team(2);
  for (const Case& c : cases())
    CHECK_THROWS_WITH(encode_shared(*make_codec(c.codec, c.options), values, &team),
                      Catch::Matchers::Contains("element 250000 is NaN"));
}

/// What a refusal says; empty if there is none.
template <class Call>
std::string refusal_of(Call&& call) {
  try {
    call();
  } catch (const CodecError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a refusal names the first bad byte, at any number of threads") {
  // 300,007 elements are five ranges. Two codes that cannot be are put at a known element, one at
  // the end of the first quarter, the other at the beginning of the third, which a second thread
  // reaches at once. Bytes: 4 of the scale (8: n and level), then 5 codes a byte.
  struct Damage {
    const char* codec;
    std::map<std::string, std::string> options;
    std::size_t first, second;
    std::uint8_t bad;
  };
  const std::vector<Damage> all = {
      {"terngrad", {{"code", "base3"}}, 4 + 65'000 / 5, 4 + 150'000 / 5, 255},
      {"terngrad", {}, 4 + 65'000 / 4, 4 + 150'000 / 4, 255},
      {"ternary", {{"form", "base3"}}, 8 + 65'000 / 5, 8 + 150'000 / 5, 255},
      {"ternary", {}, 8 + 65'000 / 4, 8 + 150'000 / 4, 255},
      // Codes of 3 bits: 9 of bytes 1 1 1 are above 2 levels and a sign, at every bit.
      {"dither", {{"levels", "2"}}, 4 + 65'000 / 8 * 3, 4 + 150'000 / 8 * 3, 255},
      {"natural", {}, 65'000 / 8 * 9, 150'000 / 8 * 9, 255},
  };
  const auto values = random_values(300'007);
  for (const Damage& damage : all) {
    INFO(damage.codec);
    const auto codec = make_codec(damage.codec, damage.options);
    auto payload = encode_shared(*codec, values, nullptr);
    for (const std::size_t at : {damage.first, damage.second})
      for (std::size_t i = 0; i < 9; ++i) payload[at + i] = std::byte{damage.bad};
    const std::string alone =
        refusal_of([&] { decode_shared(*codec, payload, values.size(), nullptr); });
    CHECK_THAT(alone, Catch::Matchers::Contains("byte " + std::to_string(damage.first)));
    for (const int threads : {1, 2, 3, 4}) {
      ThreadTeam team(threads);
      for (int repeat = 0; repeat < 10; ++repeat)
        REQUIRE(refusal_of([&] { decode_shared(*codec, payload, values.size(), &team); }) == alone);
    }
  }
}

TEST_CASE("a sum that overflows is refused by its first element, at any number of threads") {
  std::vector<float> values(300'007, 1.0f);
  values[120'000] = values[250'000] = 3e38f;  // twice that is beyond binary32
  for (const char* name : {"topk", "dgc", "stc", "sign", "fp16"}) {
    INFO(name);
    const auto codec = with_error_feedback(make_codec(name));
    for (const int threads : {1, 2, 3, 4}) {
      ThreadTeam team(threads);
      std::vector<std::uint64_t> state(codec->state_size(values.size()) / 8);
      const auto residual = std::as_writable_bytes(std::span(state));
      std::memcpy(residual.data(), values.data(), 4 * values.size());
      std::vector<std::byte> payload(codec->max_encoded_size(values.size()));
      std::vector<std::byte> scratch(codec->scratch_size(values.size()));
      EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = values},
                    .draws = {.stream = {.seed = 3}},
                    .state = residual,
                    .payload = payload,
                    .team = &team};
      CHECK_THROWS_WITH(codec->encode(job, scratch),
                        Catch::Matchers::Contains("overflow at element 120000"));
    }
  }
}

TEST_CASE("moments over a tensor are its ordered sums, however it is shared") {
  ThreadTeam team(3);
  // 4,300,000 elements are more than 64 parts of the smallest size, so parts are of 32 blocks.
  for (const std::size_t n : {1u, 70000u, 300007u, 4300000u}) {
    const auto values = random_values(n);
    const double pivot = values[0];
    const auto d = [&](std::size_t e) { return double{values[e]} - pivot; };
    const auto moments = tensor_moments(&team, values, pivot);
    CHECK(moments.sum == ordered_sum(n, d));
    CHECK(moments.sum_squares == ordered_sum(n, [&](std::size_t e) { return d(e) * d(e); }));
    CHECK(tensor_moments(nullptr, values, pivot).sum == moments.sum);
  }
}
