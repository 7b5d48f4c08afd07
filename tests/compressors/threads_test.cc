#include <catch2/catch.hpp>
#include <cmath>

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
