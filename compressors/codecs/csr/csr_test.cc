#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "compressors/coding/index_coder.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

using Options = std::map<std::string, std::string>;

std::vector<std::byte> encode_masked(const Codec& codec, const std::vector<float>& x,
                                     const std::vector<std::uint8_t>& mask) {
  std::vector<std::byte> payload(codec.max_encoded_size(x.size()));
  std::vector<std::byte> scratch(codec.scratch_size(x.size()));
  EncodeJob job{.tensor = {"t", {}, x}, .side = {.mask = mask}, .payload = payload};
  payload.resize(codec.encode(job, scratch));
  return payload;
}

}  // namespace

TEST_CASE("csr worked examples, both ways") {
  const std::vector<float> w_t = {.5f, -.4f, .3f, 0, .2f, -.1f, .05f, .6f, -.7f, .01f};
  const std::vector<float> w_e = {.55f, -.35f, .9f, .02f, .2f, -.6f, .05f, .58f, -.7f, 0};
  const auto codec = make_codec("csr", {{"sparsity", "0.9"}, {"mask_ratio", "0.2"}});
  // Top-K-Weights, kappa = .3: 2 5 8 of 10.
  const auto weights = encode(*codec, w_e);
  CHECK(hex(weights) ==
        "0a00000003000000"
        "020000000500000008000000"
        "6666663f9a9919bf333333bf");
  CHECK(decode(*codec, weights, 10) == std::vector<float>{0, 0, .9f, 0, 0, -.6f, 0, 0, -.7f, 0});
  // Diff on Top-K-Weights: the same positions (mask bits 2 5 8 = 24 01), .6 -.5 and a zero.
  const std::vector<float> difference = {.05f, .05f, .6f, .02f, 0, -.5f, 0, -.02f, 0, -.01f};
  const auto under_mask = make_codec("csr", {{"positions", "mask"}});
  const auto at_weights = encode_masked(*under_mask, difference, {0x24, 0x01});
  CHECK(hex(at_weights) ==
        "0a00000003000000"
        "020000000500000008000000"
        "9a99193f000000bf00000000");
  CHECK(decode(*under_mask, at_weights, 10) ==
        std::vector<float>{0, 0, .6f, 0, 0, -.5f, 0, 0, 0, 0});
  // Top-K-Weights Diff: 0 2 5; elements 0 and 1 tie at .05.
  const auto largest = encode(*codec, difference);
  CHECK(hex(largest) ==
        "0a00000003000000"
        "000000000200000005000000"
        "cdcc4c3d9a99193f000000bf");
  CHECK(decode(*codec, largest, 10) == std::vector<float>{.05f, 0, .6f, 0, 0, -.5f, 0, 0, 0, 0});
}

TEST_CASE("csr sends ceil(kappa n) entries in 8 + 8 nnz bytes; r = sp sends all") {
  for (const std::size_t n : {1u, 9u, 10u, 11u, 1000u}) {
    const auto x = random_values(n);
    for (const char* extra : {"0", "0.1", "0.2"}) {
      const double kappa = 1 - 0.9 + std::stod(extra);
      const auto nnz = static_cast<std::size_t>(std::ceil(kappa * static_cast<double>(n) - 1e-9));
      const auto codec = make_codec("csr", {{"sparsity", "0.9"}, {"mask_ratio", extra}});
      CHECK(encode(*codec, x).size() == 8 + 8 * nnz);
      CHECK(codec->max_encoded_size(n) == 8 + 8 * nnz);
    }
    const auto all = make_codec("csr", {{"sparsity", "0.9"}, {"mask_ratio", "0.9"}});
    CHECK(decode(*all, encode(*all, x), n) == x);
    const auto dense = make_codec("csr", {{"sparsity", "0"}, {"mask_ratio", "0"}});
    CHECK(decode(*dense, encode(*dense, x), n) == x);
    if (n > 1) CHECK(decode(*make_codec("csr"), encode(*make_codec("csr"), x), n) != x);
  }
}

TEST_CASE("what csr does not send stays untouched; the union has between kappa and K kappa") {
  const auto codec = make_codec("csr");  // kappa = .2
  std::vector<float> sum(1000, 0.0f);
  for (std::uint32_t client = 0; client < 3; ++client)
    decode_add(*codec, encode(*codec, random_values(1000, client)), 0.3f, sum);
  const auto nonzeros = std::count_if(sum.begin(), sum.end(), [](float v) { return v != 0; });
  CHECK(nonzeros >= 200);
  CHECK(nonzeros <= 600);
  CHECK(nonzeros > 300);  // the clients' positions do differ
}

TEST_CASE("csr with other index formats decodes to the same; auto takes the fewest bytes") {
  for (const std::size_t n : {1u, 77u, 5000u}) {
    const auto x = random_values(n);
    const auto expected = decode(*make_codec("csr"), encode(*make_codec("csr"), x), n);
    std::size_t least = ~std::size_t{0};
    for (const std::string& indices : index_format_names()) {
      const auto codec = make_codec("csr", {{"indices", indices}});
      const auto payload = encode(*codec, x);
      CHECK(payload.size() <= codec->max_encoded_size(n));
      CHECK(decode(*codec, payload, n) == expected);
      if (indices == "auto") CHECK(payload.size() <= least);
      if (indices != "u32") least = std::min(least, payload.size());
      std::size_t at = 0;
      for (const PayloadField& field : codec->explain(payload, n, {})) {
        CHECK(field.offset == at);
        at += field.bytes;
      }
      CHECK(at == payload.size());
      const auto under_mask = make_codec("csr", {{"indices", indices}, {"positions", "mask"}});
      CHECK(decode(*under_mask, encode_masked(*under_mask, x, {}), n) == x);
    }
  }
  // A bitmap is smaller than u32 columns where kappa > 1/32.
  const auto x = random_values(6400);
  const Options wide = {{"sparsity", "0.96"}, {"mask_ratio", "0"}};
  const Options narrow = {{"sparsity", "0.98"}, {"mask_ratio", "0"}};
  const auto size = [&](Options options, const char* indices) {
    options["indices"] = indices;
    return encode(*make_codec("csr", options), x).size();
  };
  CHECK(size(wide, "bitmap") < size(wide, "u32"));
  CHECK(size(narrow, "bitmap") > size(narrow, "u32"));
}

TEST_CASE("csr's fused step leaves what the plain one leaves") {
  const auto codec = make_codec("csr", {{"indices", "auto"}});
  std::vector<float> fused(900), plain(900);
  std::vector<std::byte> scratch(codec->scratch_size(900)), payload(codec->max_encoded_size(900));
  for (std::uint32_t step = 0; step < 8; ++step) {
    const auto x = random_values(900, step);
    EncodeJob job{.tensor = {"t", {}, x}, .payload = payload};
    codec->encode_with_residual(job, fused, scratch);
    codec->Codec::encode_with_residual(job, plain, scratch);
    REQUIRE(fused == plain);
  }
}

TEST_CASE("csr's decoder refuses what no encoder writes, naming the byte") {
  const auto refuse = [](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*make_codec("csr"), from_hex(bytes), 4), Contains(reason));
  };
  refuse("040000", "header of 8");
  refuse("0500000000000000", "byte 0 begins a length of 5 for 4");
  refuse("0400000005000000", "byte 4 begins a count of 5 for 4");
  refuse("040000000100000002000000", "ends within index 0");
  refuse("04000000010000000400000000000040", "byte 8 begins an index beyond");
  refuse(
      "04000000020000000200000002000000"
      "0000004000000040",
      "byte 12 begins an index out of order");
  refuse("0400000001000000020000000000c07f", "byte 12 begins a value that is not finite");
  refuse("040000000100000002000000000000400000", "only 16 bytes");
}
