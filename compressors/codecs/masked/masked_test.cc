#include <catch2/catch.hpp>
#include <cmath>

#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

using Mask = std::vector<std::uint8_t>;

std::vector<std::byte> encode_masked(const Codec& codec, const std::vector<float>& x,
                                     const Mask& mask) {
  std::vector<std::byte> payload(codec.max_encoded_size(x.size()));
  std::vector<std::byte> scratch(codec.scratch_size(x.size()));
  EncodeJob job{.tensor = {"t", {}, x}, .side = {.mask = mask}, .payload = payload};
  payload.resize(codec.encode(job, scratch));
  return payload;
}

std::vector<float> decode_masked(const Codec& codec, const std::vector<std::byte>& payload,
                                 const Mask& mask, std::size_t n) {
  std::vector<float> values(n, NAN);
  codec.decode({.payload = payload, .side = {.mask = mask}, .values = values}, {});
  return values;
}

CodecPtr record() {
  return make_codec("masked", {{"format", "record"}});
}

}  // namespace

TEST_CASE("masked record worked example, both ways") {
  // After the update: mask 11110001 (element 0 first) = bits 0 1 2 3 7 = 8f; weights .5 -.1 0 .8
  // -.3 under it; 8 + 1 + 20 = 29 bytes. What lies outside the mask is not sent.
  const std::vector<float> theta = {.5f, -.1f, 0, .8f, 7.0f, .05f, 0, -.3f};
  const auto payload = encode_masked(*record(), theta, {0x8f});
  CHECK(hex(payload) ==
        "0800000005000000"
        "8f"
        "0000003fcdccccbd00000000cdcc4c3f9a9999be");
  CHECK(payload.size() == 29);
  const std::vector<float> expected = {.5f, -.1f, 0, .8f, 0, 0, 0, -.3f};
  CHECK(decode(*record(), payload, 8) == expected);  // no mask is needed to read it
  // The wire form: 4 nnz bytes, the mask known to both sides.
  const auto values = make_codec("masked");
  const auto wire = encode_masked(*values, theta, {0x8f});
  CHECK(hex(wire) == "0000003fcdccccbd00000000cdcc4c3f9a9999be");
  CHECK(decode_masked(*values, wire, {0x8f}, 8) == expected);
}

TEST_CASE("masked sends 4 nnz bytes; inactive elements are exactly 0") {
  for (const std::size_t n : {1u, 7u, 8u, 63u, 64u, 65u, 200u, 9001u}) {
    const auto x = random_values(n);
    Mask mask((n + 7) / 8);
    for (std::size_t i = 0; i < mask.size(); ++i)
      mask[i] = static_cast<std::uint8_t>(i % 40 < 16 ? 0xFF : philox_word({.seed = 4}, i));
    std::size_t nnz = 0;
    std::vector<float> expected(n, 0.0f);
    for (std::size_t e = 0; e < n; ++e)
      if (mask[e / 8] >> (e % 8) & 1) ++nnz, expected[e] = x[e];
    const auto values = make_codec("masked");
    const auto wire = encode_masked(*values, x, mask);
    CHECK(wire.size() == 4 * nnz);
    CHECK(decode_masked(*values, wire, mask, n) == expected);
    const auto saved = encode_masked(*record(), x, mask);
    CHECK(saved.size() == 8 + (n + 7) / 8 + 4 * nnz);
    CHECK(decode(*record(), saved, n) == expected);
    std::vector<float> sum(n, 1.0f);
    decode_add(*record(), saved, 2.0f, sum);
    for (std::size_t e = 0; e < n; ++e) REQUIRE(sum[e] == 1.0f + 2.0f * expected[e]);
    // Negative control: another mask gives another tensor, or none.
    Mask other = mask;
    other[0] ^= 1;
    CHECK_THROWS_AS(decode_masked(*values, wire, other, n), CodecError);
  }
}

TEST_CASE("masked's bytes a step are 4 (nnz (dT - 1) + N) / dT with a dense exchange each dT") {
  // N = 10^6, density .1, dT = 100: 436 kB a step on average, against 4 MB.
  const std::size_t n = 1000000;
  const std::vector<float> x(n, 1.0f);
  Mask tenth(n / 8);
  for (std::size_t e = 0; e < n; e += 10) tenth[e / 8] |= static_cast<std::uint8_t>(1u << (e % 8));
  const auto codec = make_codec("masked");
  const std::size_t sparse = encode_masked(*codec, x, tenth).size();
  const std::size_t dense = encode_masked(*codec, x, {}).size();
  CHECK((99 * sparse + dense) / 100 == 436000);
}

TEST_CASE("masked explains every byte") {
  const auto fields = record()->explain(encode_masked(*record(), {1, 2, 3}, {5}), 3, {});
  REQUIRE(fields.size() == 4);
  CHECK(fields[2].value == "2 ones");
  CHECK(fields[3].offset == 9);
  CHECK(fields[3].bytes == 8);
}

TEST_CASE("masked's decoder refuses what no encoder writes, naming the byte") {
  const auto refuse = [](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*record(), from_hex(bytes), 8), Contains(reason));
  };
  refuse("080000", "header of 9");
  refuse("070000000000000000", "byte 0 begins a length of 7 for 8");
  refuse("080000000900000000", "byte 4 begins a count of 9 for 8");
  refuse(
      "080000000100000003"
      "00000000",
      "byte 8 begins a mask");
  refuse(
      "080000000100000002"
      "0000",
      "13 bytes are expected");
  refuse(
      "080000000100000002"
      "0000807f",
      "byte 9 begins a value that is not finite");
  CHECK_THROWS_WITH(decode(*make_codec("masked"), from_hex("00000000"), 2),
                    Contains("8 bytes are expected"));
}
