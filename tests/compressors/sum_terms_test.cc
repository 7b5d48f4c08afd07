#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

using Terms = std::vector<std::uint32_t>;

Terms terms_of(const Codec& codec, const std::vector<float>& values, CallOptions options) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.size())};
  Terms terms(values.size());
  codec.sum_terms()->to_terms(view_of(values, shape), {options.shared_scale, {}},
                              {options.stream, options.first_element, {}}, terms);
  return terms;
}

std::vector<std::byte> pack(const Codec& codec, const Terms& terms, int contributors) {
  std::vector<std::byte> packed(codec.sum_terms()->packed_size(terms.size(), contributors));
  codec.sum_terms()->pack(terms, contributors, packed);
  return packed;
}

}  // namespace

TEST_CASE("ternary sums over j workers take ceil(log2(2 j + 1)) bits") {
  const auto codec = make_codec("terngrad");
  const SumTerms& terms = *codec->sum_terms();
  const std::pair<int, int> table[] = {{1, 2},  {2, 3},  {3, 3},  {4, 4},   {7, 4},  {8, 5},
                                       {15, 5}, {16, 6}, {64, 8}, {127, 8}, {128, 9}};
  for (const auto& [workers, bits] : table) {
    CHECK(terms.width_bits(workers) == bits);
    CHECK(terms.width_bits(workers) == static_cast<int>(std::ceil(std::log2(2 * workers + 1))));
  }
  CHECK(make_codec("none")->sum_terms()->width_bits(9) == 32);
  CHECK(make_codec("fp16")->sum_terms()->width_bits(9) == 16);
}

TEST_CASE("a ring of terngrad workers sums exactly, at every width") {
  const auto codec = make_codec("terngrad");
  const SumTerms& sums = *codec->sum_terms();
  const std::size_t n = 101;
  const float scale = 0.4f;
  Terms expected(n, 0u), travelling;
  for (int worker = 0; worker < 130; ++worker) {
    const CallOptions options{.shared_scale = scale,
                              .stream = {.seed = 1, .worker = static_cast<std::uint32_t>(worker)}};
    Terms own = terms_of(*codec, random_values(n), options);
    for (std::size_t e = 0; e < n; ++e) expected[e] += own[e];
    if (worker > 0) {
      const auto packed = pack(*codec, travelling, worker);
      REQUIRE(packed.size() == (n * static_cast<std::size_t>(sums.width_bits(worker)) + 7) / 8);
      sums.unpack_add(packed, worker, own);
    }
    travelling = own;
    REQUIRE(travelling == expected);
  }
  Terms received(n);
  sums.unpack_store(pack(*codec, travelling, 130), 130, received);
  CHECK(received == expected);
  std::vector<float> values(n);
  sums.to_values(received, {scale, {}}, 1.0f / 130, values);
  for (std::size_t e = 0; e < n; ++e)  // an integer multiple of s / N
    CHECK(values[e] ==
          static_cast<float>(static_cast<std::int32_t>(expected[e])) * (1.0f / 130 * scale));
}

TEST_CASE("one worker's packed terms are the codes of its payload") {
  const auto codec = make_codec("terngrad");
  const auto values = random_values(57);
  const CallOptions options{.shared_scale = 0.5f};
  const auto payload = encode(*codec, values, options);
  const auto packed = pack(*codec, terms_of(*codec, values, options), 1);
  CHECK(std::vector<std::byte>(payload.begin() + 4, payload.end()) == packed);
}

TEST_CASE("a slice draws what the whole tensor draws for it") {
  const auto codec = make_codec("terngrad");
  const auto values = random_values(3000);
  const Terms whole = terms_of(*codec, values, {.shared_scale = 0.2f});
  for (const std::size_t begin : {1u, 2u, 3u, 4u, 1023u, 1025u}) {
    const std::vector<float> slice(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                   values.end());
    const Terms part = terms_of(*codec, slice, {.shared_scale = 0.2f, .first_element = begin});
    CHECK(part == Terms(whole.begin() + static_cast<std::ptrdiff_t>(begin), whole.end()));
  }
}

TEST_CASE("terngrad terms need the shared scale and refuse impossible codes") {
  const auto codec = make_codec("terngrad");
  CHECK_THROWS_AS(terms_of(*codec, {1.0f}, {}), CodecError);
  Terms terms(5);
  // Codes of 2 workers are at most 4, in 3 bits: 5 bits-wise 101 at element 3 (bits 9..11).
  const auto packed = from_hex("000a");
  CHECK_THROWS_WITH(codec->sum_terms()->unpack_store(packed, 2, terms),
                    Catch::Matchers::Contains("byte 1 holds a code beyond 4"));
  CHECK_THROWS_AS(codec->sum_terms()->unpack_add(from_hex("000000"), 1, terms), CodecError);
}

TEST_CASE("fp16 terms are rounded on each hop, and by the owner with round_as_packed") {
  const auto codec = make_codec("fp16");
  const SumTerms& sums = *codec->sum_terms();
  Terms own = terms_of(*codec, {1.0f, 0.1f}, {});
  sums.unpack_add(pack(*codec, terms_of(*codec, {0x1p-11f, 0.2f}, {}), 1), 1, own);
  std::vector<float> values(2), received_values(2);
  sums.to_values(own, {}, 1.0f, values);
  CHECK(values[0] == 1.0f + 0x1p-11f);  // the owner's sum is still binary32
  Terms received(2);
  sums.unpack_store(pack(*codec, own, 2), 2, received);
  CHECK(received != own);  // without round_as_packed the replicas would differ
  sums.round_as_packed(own, 2);
  CHECK(received == own);
  sums.to_values(own, {}, 1.0f, values);
  CHECK(values[0] == 1.0f);  // tie to even
}

namespace {

/// The sum of so many workers' terms round a ring, as every worker ends with it.
std::vector<float> ring_sum(const Codec& codec, const std::vector<float>& values, int workers) {
  const SumTerms& sums = *codec.sum_terms();
  Terms travelling = terms_of(codec, values, {});
  for (int worker = 1; worker < workers; ++worker) {
    Terms own = terms_of(codec, values, {});
    sums.unpack_add(pack(codec, travelling, worker), worker, own);
    travelling = own;
  }
  sums.round_as_packed(travelling, workers);
  std::vector<float> sum(values.size());
  sums.to_values(travelling, {}, 1.0f, sum);
  return sum;
}

}  // namespace

TEST_CASE("sums of values in fp16's range stay in it, whatever the number of workers") {
  for (const int workers : {2, 3, 4, 5, 8, 100, 1000}) {
    CAPTURE(workers);
    // Up to 2,048 workers c x 2^15 has at most 11 digits: no hop rounds it.
    const std::vector<float> sums =
        ring_sum(*make_codec("fp16"), {32768.0f, -32768.0f, 60000.0f}, workers);
    CHECK(sums[0] == 32768.0f * static_cast<float>(workers));
    CHECK(sums[1] == -sums[0]);
    CHECK(std::isfinite(sums[2]));
  }
  // Negative controls: one worker's own value beyond 65504 is infinite still, or saturates:
  // 65504 + 70000 = 135504, sent as 67752, which is 2 x 65504 for who receives it.
  CHECK(ring_sum(*make_codec("fp16"), {70000.0f}, 3)[0] == INFINITY);
  CHECK(ring_sum(*make_codec("fp16", {{"overflow", "saturate"}}), {70000.0f}, 2)[0] == 131008.0f);
}

TEST_CASE("an fp16 sum of c workers is sent times the power of two that is at most 1 / c") {
  const auto codec = make_codec("fp16");
  const SumTerms& sums = *codec->sum_terms();
  const float sum = 90112.0f;  // of 3 or 4 workers sent as 22528, of 5 as 11264
  Terms terms(1);
  std::memcpy(terms.data(), &sum, 4);
  CHECK(hex(pack(*codec, terms, 3)) == hex(encode(*codec, {22528.0f})));
  CHECK(hex(pack(*codec, terms, 4)) == hex(encode(*codec, {22528.0f})));
  CHECK(hex(pack(*codec, terms, 5)) == hex(encode(*codec, {11264.0f})));
  Terms back(1);
  sums.unpack_store(pack(*codec, terms, 5), 5, back);
  CHECK(back == terms);
}

TEST_CASE("the scale of an fp16 sum changes no digit above its subnormals") {
  // The nearest half to the sum itself, where that has no overflow, and 2^k times it is normal.
  const auto codec = make_codec("fp16");
  const SumTerms& sums = *codec->sum_terms();
  const std::vector<float> values = random_values(4000);
  for (const int workers : {1, 2, 7, 8, 64}) {
    const float scale = std::exp2(std::ceil(std::log2(static_cast<float>(workers))));
    Terms terms(1), plain(1);
    std::size_t small = 0;
    for (const float value : values) {
      std::memcpy(terms.data(), &value, 4);
      plain = terms;
      sums.round_as_packed(terms, workers);
      sums.round_as_packed(plain, 1);
      float rounded = 0;
      std::memcpy(&rounded, terms.data(), 4);
      if (std::abs(value) >= 0x1p-14f * scale) CHECK(terms == plain);
      // Below that the last place is 2^-24 of the scaled sum: under 2^-23 of the mean.
      small += std::abs(value) < 0x1p-14f * scale;
      CHECK(std::abs(rounded - value) / static_cast<float>(workers) <=
            std::max(0x1p-24f, std::abs(value) * 0x1p-11f / static_cast<float>(workers)));
    }
    CHECK(small > 0);
  }
}

TEST_CASE("a tiny gradient that all workers have is not lost in an fp16 sum") {
  // 2^-24, the smallest half. Divided by 8 before the first hop it would be 2^-27: nothing.
  CHECK(ring_sum(*make_codec("fp16"), {0x1p-24f}, 8)[0] == 8 * 0x1p-24f);
}

TEST_CASE("none terms are the floats") {
  const auto codec = make_codec("none");
  const SumTerms& sums = *codec->sum_terms();
  Terms own = terms_of(*codec, {1.5f, -2.0f, 0.1f}, {});
  sums.unpack_add(pack(*codec, terms_of(*codec, {1.0f, 2.0f, 0.2f}, {}), 1), 1, own);
  std::vector<float> values(3);
  sums.to_values(own, {}, 0.5f, values);
  CHECK(values == std::vector<float>{1.25f, 0.0f, 0.5f * (0.1f + 0.2f)});
}
