#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "compressors/c_api/gradwire_codecs.h"

using Catch::Contains;

namespace {

std::string hex(const std::vector<unsigned char>& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) text += {digits[byte / 16], digits[byte % 16]};
  return text;
}

/// What a caller has of a codec: buffers as the library asks for them.
class Caller {
 public:
  Caller(const char* name, std::vector<std::pair<const char*, const char*>> options = {},
         bool feedback = false) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) keys.push_back(key), values.push_back(value);
    codec = gradwire_codec_make(name, keys.data(), values.data(), keys.size(), feedback ? 1 : 0,
                                error, sizeof error);
  }
  ~Caller() { gradwire_codec_free(codec); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  static gradwire_tensor tensor(const std::vector<float>& x) { return {"t", nullptr, 0, x.size()}; }

  std::vector<unsigned char> encode(const std::vector<float>& x, float scale = -1) {
    const gradwire_tensor described = tensor(x);
    state.resize(gradwire_codec_state_size(codec, &described) / 8 + 1);
    scratch.resize(gradwire_codec_scratch_size(codec, &described) / 8 + 1);
    std::vector<unsigned char> payload(gradwire_codec_max_encoded_size(codec, &described));
    const gradwire_draws draws = {1, 2, 3, 4};
    std::size_t written = 0;
    failed = gradwire_codec_encode(codec, &described, x.data(), &draws, scale, state.data(),
                                   scratch.data(), payload.data(), &written, error, sizeof error);
    payload.resize(written);
    return payload;
  }

  std::vector<float> decode(const std::vector<unsigned char>& payload, std::size_t n,
                            bool add = false, float factor = 1, float scale = -1) {
    std::vector<float> values(n, add ? 10.0f : NAN);
    const gradwire_tensor described = tensor(values);
    scratch.resize(gradwire_codec_scratch_size(codec, &described) / 8 + 1);
    failed =
        gradwire_codec_decode(codec, &described, payload.data(), payload.size(), scale, add ? 1 : 0,
                              factor, scratch.data(), values.data(), error, sizeof error);
    return values;
  }

  gradwire_codec* codec = nullptr;
  char error[200] = "";
  int failed = 0;
  std::vector<unsigned long long> state, scratch;
};

}  // namespace

TEST_CASE("c api: the worked example of topk, both ways") {
  // k = 3 of 6, indices 1, 3, 4 (bits 011010 = 1a), halves 2 -2 1.
  Caller topk("topk", {{"ratio", "0.5"}, {"indices", "bitmap"}, {"values", "fp16"}});
  REQUIRE(topk.codec != nullptr);
  CHECK(gradwire_codecs_abi() == GRADWIRE_CODECS_ABI);
  CHECK(std::string(gradwire_codec_name(topk.codec)) == "topk");
  const auto payload = topk.encode({0.5f, 2.0f, 0.25f, -2.0f, 1.0f, -0.5f});
  CHECK(topk.failed == 0);
  CHECK(hex(payload) == "03000000021a004000c0003c");
  CHECK(topk.decode(payload, 6) == std::vector<float>{0, 2, 0, -2, 1, 0});
  CHECK(topk.decode(payload, 6, true, 0.5f) == std::vector<float>{10, 11, 10, 9, 10.5f, 10});
}

TEST_CASE("c api: error feedback sends later what it did not send") {
  Caller fed("topk", {{"k", "1"}}, true);
  const std::vector<float> x = {3, 2, 0}, nothing = {0, 0, 0};
  CHECK(fed.decode(fed.encode(x), 3) == std::vector<float>{3, 0, 0});
  CHECK(fed.decode(fed.encode(nothing), 3) == std::vector<float>{0, 2, 0});
  Caller bare("topk", {{"k", "1"}});  // the control forgets
  bare.encode(x);
  CHECK(bare.decode(bare.encode(nothing), 3) == std::vector<float>{0, 0, 0});
}

TEST_CASE("c api: workers agree on a scale") {
  Caller terngrad("terngrad", {{"clip", "0"}});
  REQUIRE(gradwire_codec_wants_shared_scale(terngrad.codec) == 1);
  const std::vector<float> x = {4, -4, 0, 4};
  terngrad.encode(x);  // buffers
  const gradwire_tensor tensor = Caller::tensor(x);
  float scale = 0;
  REQUIRE(gradwire_codec_local_scale(terngrad.codec, &tensor, x.data(), terngrad.state.data(),
                                     terngrad.scratch.data(), &scale, nullptr, 0) == 0);
  CHECK(scale == 4);
  const auto shared = terngrad.encode(x, 8);  // another worker's is larger
  for (const float value : terngrad.decode(shared, 4, false, 1, 8))
    CHECK((value == 0 || std::fabs(value) == 8));
  Caller none("none");
  CHECK(gradwire_codec_wants_shared_scale(none.codec) == 0);
}

TEST_CASE("c api: what fails says why, and nothing is thrown") {
  CHECK_THAT(Caller("topq").error, Contains("topq") && Contains("topk"));
  CHECK_THAT(Caller("topk", {{"ratio", "2"}}).error, Contains("ratio"));
  CHECK_THAT(Caller("masked").error, Contains("masks are not passed"));
  Caller int8("int8");
  int8.encode({1, INFINITY, 0});
  CHECK(int8.failed == 1);
  CHECK_THAT(int8.error, Contains("element 1 is infinite"));
  int8.decode({1, 2, 3}, 5);
  CHECK(int8.failed == 1);
  CHECK_THAT(int8.error, Contains("3 bytes"));
  const std::vector<float> x(6);
  const int64_t shape[] = {2, 4};
  const gradwire_tensor wrong = {nullptr, shape, 2, x.size()};
  const gradwire_draws draws = {};
  std::vector<unsigned char> payload(1000);
  std::size_t written = 0;
  char small[10];
  CHECK(gradwire_codec_encode(int8.codec, &wrong, x.data(), &draws, -1, int8.state.data(),
                              int8.scratch.data(), payload.data(), &written, small,
                              sizeof small) == 1);
  CHECK(std::string(small) == "cannot us");  // cut off, and ended
}
