#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "base/thread_team.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/coding/index_coder.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPtr topk(const char* ratio) {
  return make_codec("topk", {{"ratio", ratio}});
}

double squared_norm(const std::vector<float>& x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0, std::plus<>(),
                            [](double a, double b) { return a * b; });
}

std::vector<float> difference(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

// By full sort on (magnitude descending, index ascending): the oracle.
std::vector<float> keep_largest(const std::vector<float>& x, std::size_t k) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return std::abs(x[a]) > std::abs(x[b]); });
  std::vector<float> kept(x.size(), 0.0f);
  for (std::size_t i = 0; i < k; ++i) kept[order[i]] = x[order[i]];
  return kept;
}

}  // namespace

TEST_CASE("topk worked example, both ways") {
  // n = 6, ratio .5: k = 3. Magnitudes .5 2 .25 2 1 .5: indices 1, 3 (-2), 4.
  // 03000000 | 01000000 00000040 | 03000000 000000c0 | 04000000 0000803f
  const auto codec = topk("0.5");
  const std::vector<float> x = {0.5f, 2.0f, 0.25f, -2.0f, 1.0f, -0.5f};
  const auto payload = encode(*codec, x);
  CHECK(hex(payload) ==
        "030000000100000000000040"
        "03000000000000c0"
        "040000000000803f");
  CHECK(decode(*codec, payload, 6) == std::vector<float>{0, 2, 0, -2, 1, 0});
  // A tie at the threshold goes to the lower index: k = 4 takes element 0 (.5), not 5 (-.5).
  const auto four = topk("0.6");
  CHECK(decode(*four, encode(*four, x), 6) == std::vector<float>{0.5f, 2, 0, -2, 1, 0});
}

TEST_CASE("topk_count is max(1, ceil(ratio n))") {
  CHECK(topk_count(0, 0.01) == 0);
  CHECK(topk_count(1, 0.01) == 1);
  CHECK(topk_count(100, 0.01) == 1);
  CHECK(topk_count(101, 0.01) == 2);
  CHECK(topk_count(100, 0.07) == 7);  // 0.07 * 100 is 7.000000000000001 in double
  CHECK(topk_count(300, 0.01) == 3);
  CHECK(topk_count(7, 1.0) == 7);
  CHECK(topk_count(std::size_t{1} << 34, 1.0) == std::size_t{1} << 34);
}

TEST_CASE("topk selects what a full sort selects") {
  for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 1000u, 5003u})
    for (const double ratio : {0.001, 0.01, 0.3, 1.0})
      for (const bool coarse : {false, true}) {
        auto x = random_values(n, static_cast<std::uint32_t>(n));
        if (coarse)  // many ties
          for (float& value : x) value = std::round(value * 20) / 20;
        const auto codec = make_codec("topk", {{"ratio", std::to_string(ratio)}});
        REQUIRE(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, ratio)));
      }
}

TEST_CASE("topk is exact for tensors large enough to be sampled, and where the sample misleads") {
  const std::size_t n = 65536;  // the sample takes every 16th value
  const auto codec = topk("0.01");
  auto x = random_values(n);
  CHECK(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, 0.01)));
  // Every sampled value is large, and there are 4,096 of them: fewer than the k that is wanted.
  for (std::size_t e = 0; e < n; e += 16) x[e] += 10.0f;
  CHECK(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, 0.01)));
  const auto tenth = topk("0.1");
  CHECK(decode(*tenth, encode(*tenth, x), n) == keep_largest(x, topk_count(n, 0.1)));
  // Every sampled value is small: nearly all others are candidates.
  for (std::size_t e = 0; e < n; e += 16) x[e] = 0.0f;
  CHECK(decode(*codec, encode(*codec, x), n) == keep_largest(x, topk_count(n, 0.01)));
}

TEST_CASE("topk contracts: ||x - topk(x)||^2 <= (1 - k/n) ||x||^2, equality for constant |x|") {
  const auto codec = topk("0.1");
  const auto x = random_values(1000);
  const auto kept = decode(*codec, encode(*codec, x), 1000);
  const double bound = (1 - 100.0 / 1000) * squared_norm(x);
  CHECK(squared_norm(difference(x, kept)) <= bound);
  auto inverted = x;  // negative control: keeping the smallest instead breaks the bound
  for (float& value : inverted) value = 1.0f / value;
  const auto smallest = keep_largest(inverted, 100);
  auto wrong = x;
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (smallest[i] == 0.0f) wrong[i] = 0.0f;
  CHECK(squared_norm(difference(x, wrong)) > bound);
  const std::vector<float> constant(1000, -2.0f);
  const auto sent = decode(*codec, encode(*codec, constant), 1000);
  CHECK(squared_norm(difference(constant, sent)) == 0.9 * 4000.0);
}

TEST_CASE("topk decoder refuses counts, indices and values that no encoder writes") {
  const auto codec = topk("0.5");
  using Catch::Matchers::Contains;
  const auto refuse = [&](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*codec, from_hex(bytes), 4), Contains(reason));
  };
  refuse("0100", "in a header of 4 bytes");
  refuse("05000000", "a count of 5 for 4 elements");
  refuse("0100000000000000", "bytes are expected");
  refuse("010000000400000000000040", "byte 4 begins an index beyond");
  refuse("0200000001000000000000400100000000000040", "byte 12 begins an index out of order");
  refuse("01000000010000000000c07f", "byte 4 begins an entry with no finite value");
  CHECK(decode(*codec, from_hex("00000000"), 4) == std::vector<float>(4, 0.0f));
}

TEST_CASE("topk by number of elements") {
  const auto codec = make_codec("topk", {{"k", "7"}});
  CHECK(encode(*codec, random_values(1000)).size() == 4 + 8 * 7);
  CHECK(encode(*codec, random_values(3)).size() == 4 + 8 * 3);  // no more than there are
}

TEST_CASE("topk sections: index codes and values through a dense codec") {
  // As the worked example: k = 3 of 6, indices 1, 3, 4 (bits 011010 = 1a), values 2 -2 1.
  // 03000000 | 02 (bitmap) | 1a | halves 4000 c000 3c00
  const auto codec =
      make_codec("topk", {{"ratio", "0.5"}, {"indices", "bitmap"}, {"values", "fp16"}});
  const std::vector<float> x = {0.5f, 2.0f, 0.25f, -2.0f, 1.0f, -0.5f};
  const auto payload = encode(*codec, x);
  CHECK(hex(payload) == "03000000021a004000c0003c");
  CHECK(decode(*codec, payload, 6) == std::vector<float>{0, 2, 0, -2, 1, 0});
  const auto fields = codec->explain(payload, 6, {});
  REQUIRE(fields.size() == 4);
  std::size_t at = 0;
  for (const PayloadField& field : fields) {
    CHECK(field.offset == at);
    at += field.bytes;
  }
  CHECK(at == payload.size());
  CHECK(fields[2].value == "1, 3, 4");
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(decode(*codec, from_hex("03000000031a004000c0003c"), 6),
                    Contains("byte 4 names another index format"));
  CHECK_THROWS_WITH(decode(*codec, from_hex("04000000021a004000c0003c"), 6),
                    Contains("count of 4"));
}

TEST_CASE("every index code and both selections decode to the same tensor") {
  const auto x = random_values(30000);
  for (const char* selection : {"exact", "sampled"}) {
    const std::map<std::string, std::string> plain = {{"ratio", "0.02"}, {"selection", selection}};
    const auto pairs = make_codec("topk", plain);
    const auto expected = decode(*pairs, encode(*pairs, x), x.size());
    std::size_t least = encode(*pairs, x).size();
    for (const std::string& format : index_format_names()) {
      auto options = plain;
      options["indices"] = format;
      const auto codec = make_codec("topk", options);
      const auto payload = encode(*codec, x);
      INFO(selection << " " << format);
      CHECK(payload.size() <= codec->max_encoded_size(x.size()));
      CHECK(decode(*codec, payload, x.size()) == expected);
      if (format != "auto") least = std::min(least, payload.size());
      if (format == "auto") CHECK(payload.size() == least);
    }
  }
}

TEST_CASE("topk with values through another codec telescopes too") {
  for (const char* values : {"fp16", "terngrad"}) {
    const auto codec = with_error_feedback(
        make_codec("topk", {{"ratio", "0.1"}, {"indices", "golomb"}, {"values", values}}));
    std::vector<std::uint64_t> state(codec->state_size(200) / 8);
    const auto bytes = std::as_writable_bytes(std::span(state));
    std::vector<double> sent(200), fed(200);
    for (std::uint32_t step = 0; step < 20; ++step) {
      const auto x = random_values(200, step);
      const auto y = decode(*codec, encode(*codec, x, {.state = bytes}), 200);
      for (std::size_t e = 0; e < 200; ++e) sent[e] += y[e], fed[e] += x[e];
    }
    const auto* residual = reinterpret_cast<const float*>(bytes.data());
    for (std::size_t e = 0; e < 200; ++e)
      REQUIRE(sent[e] + residual[e] == Approx(fed[e]).margin(1e-6));
  }
  CHECK_THROWS_WITH(make_codec("topk", {{"values", "topk"}}),
                    Catch::Matchers::Contains("dense codec"));
}

TEST_CASE("topk is the same on any number of threads, with a residual too") {
  const std::size_t n = 300000;
  const auto x = random_values(n), start = random_values(n, 1);
  for (const char* selection : {"exact", "sampled"}) {
    const auto codec = make_codec("topk", {{"ratio", "0.01"}, {"selection", selection}});
    std::vector<std::byte> scratch(codec->scratch_size(n)), first(codec->max_encoded_size(n)),
        other;
    auto residual = start, again = start;
    EncodeJob job{.tensor = {.name = "layer", .shape = {}, .data = x}, .payload = first};
    first.resize(codec->encode_with_residual(job, residual, scratch));
    other.resize(codec->max_encoded_size(n));
    ThreadTeam team(3);
    EncodeJob shared{
        .tensor = {.name = "layer", .shape = {}, .data = x}, .payload = other, .team = &team};
    other.resize(codec->encode_with_residual(shared, again, scratch));
    CHECK(first == other);
    CHECK(residual == again);
    // The separate steps: add, encode, take away what was sent.
    std::vector<float> sum = start;
    for (std::size_t e = 0; e < n; ++e) sum[e] += x[e];
    CHECK(encode(*codec, sum) == first);
    decode_add(*codec, first, -1.0f, sum);
    CHECK(sum == residual);
  }
}
