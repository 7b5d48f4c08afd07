#include <catch2/catch.hpp>
#include <cmath>

#include "compressors/codecs/sparse_values.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPtr dgc(const char* k, const char* selection = "exact") {
  return make_codec("dgc", {{"k", k}, {"selection", selection}});
}

std::size_t payload_bytes(const std::vector<std::size_t>& gaps_before) {
  std::size_t entries = 0;
  for (const std::size_t gap : gaps_before) entries += 1 + gap / 65536;
  return 4 + 6 * entries;
}

}  // namespace

TEST_CASE("dgc worked example, both ways") {
  // Selected 1, 4, 9; runs 1, 2, 4.
  const std::vector<float> v = {0.1f, -0.9f, 0.05f, 0, 0.4f, 0, 0, 0, -0.02f, 0.7f, 0, 0.01f};
  const auto codec = dgc("3");
  const auto payload = encode(*codec, v);
  CHECK(hex(payload) == "030000000100666666bf0200cdcccc3e04003333333f");
  CHECK(decode(*codec, payload, 12) ==
        std::vector<float>{0, -0.9f, 0, 0, 0.4f, 0, 0, 0, 0, 0.7f, 0, 0});
  std::vector<float> sum(12, 1.0f);
  decode_add(*codec, payload, 2.0f, sum);
  CHECK(sum[1] == 1.0f + 2.0f * -0.9f);
  CHECK(sum[0] == 1.0f);
}

TEST_CASE("gaps above 65,535 begin with fillers") {
  // 150000 = 2 * 65536 + 18928 (49f0): 2 fillers and one entry, 4 + 18 = 22 bytes.
  std::vector<float> x(150001);
  x[150000] = 1.0f;
  const auto codec = dgc("1");
  const auto payload = encode(*codec, x);
  CHECK(hex(payload) == "03000000ffff00000000ffff00000000f0490000803f");
  CHECK(decode(*codec, payload, x.size()) == x);
  for (const std::size_t at : {65535u, 65536u, 65537u, 131071u, 131072u}) {
    std::vector<float> y(131073);
    y[at] = -2.0f;
    const auto bytes = encode(*codec, y);
    CHECK(bytes.size() == payload_bytes({at}));
    CHECK(decode(*codec, bytes, y.size()) == y);
    CHECK(bytes.size() <= codec->max_encoded_size(y.size()));
  }
  // A value at 65535 after none: run 65535 is an entry here, since its value is not +0.
  std::vector<float> two(65537);
  two[65535] = 3.0f, two[65536] = 4.0f;
  CHECK(decode(*dgc("2"), encode(*dgc("2"), two), two.size()) == two);
}

// 0.001 * 6 * weights + 4 * (entries of 1-D tensors), which are not compressed:
//   AlexNet    60 954 656, 10 568:  365 728 + 42 272  = 408 000 B = .389 MiB, ratio 597.7
//   ResNet-50  25 502 912, 54 120:  153 017 + 216 480 = 369 497 B = .352 MiB, 276.7
//   PTB LSTM   51 000 000, 34 000:  306 000 + 136 000 = 442 000 B = .4215 MiB, 461.8
TEST_CASE("sizes of the paper's models") {
  struct Model {
    double weights, biases, mib, ratio;
  };
  for (const Model& m : {Model{60954656, 10568, 0.389, 597.7}, Model{25502912, 54120, 0.352, 276.7},
                         Model{51000000, 34000, 0.4215, 461.8}}) {
    // Entries at every thousandth place: no fillers, as for the average gap.
    const auto k = topk_count(static_cast<std::size_t>(m.weights), 0.001);
    const double bytes = static_cast<double>(payload_bytes(std::vector<std::size_t>(k, 999)));
    const double total = bytes + 4 * m.biases;
    CHECK(total / 1048576 == Approx(m.mib).margin(0.0005));
    CHECK(4 * (m.weights + m.biases) / total == Approx(m.ratio).margin(0.06));
  }
  // What the encoder writes for 0.001 of a tensor of a million is just that.
  const auto codec = make_codec("dgc", {{"selection", "exact"}});
  CHECK(encode(*codec, random_values(1000000)).size() == 4 + 6 * 1000);
}

TEST_CASE("dgc sends max(1, ceil(r n)) entries, or 0.8 to 1.3 of it by sampling") {
  const auto x = random_values(200000);
  const auto exact = make_codec("dgc", {{"ratio", "0.01"}, {"selection", "exact"}});
  CHECK(encode(*exact, x).size() == 4 + 6 * 2000);
  const auto sampled = make_codec("dgc", {{"ratio", "0.01"}});
  const std::size_t entries = (encode(*sampled, x).size() - 4) / 6;
  CHECK(entries >= 1600);
  CHECK(entries <= 2600);
  CHECK(entries != 2000);  // it was sampled
  CHECK(encode(*make_codec("dgc"), random_values(9)).size() == 4 + 6);
}

TEST_CASE("dgc decoder refuses what no encoder writes") {
  using Catch::Matchers::Contains;
  const auto codec = dgc("2");
  const auto refuse = [&](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*codec, from_hex(bytes), 4), Contains(reason));
  };
  refuse("0100", "in a header of 4 bytes");
  refuse("ffffffff", "bytes are expected");
  refuse("0100000004000000803f", "byte 4 begins a run beyond");
  refuse("0200000001000000803f02000000803f", "byte 10 begins a run beyond");
  refuse("0100000000000000c07f", "byte 4 begins an entry with no finite value");
  const auto fields = codec->explain(encode(*codec, {1, 2, 3, 4}), 4, {});
  CHECK(fields[0].bytes + fields[1].bytes == 16);
  CHECK(fields[1].value.substr(0, 4) == "2: 3");
  CHECK(fields[1].type.substr(0, 22) == "{u16 run, f32 value}[2");
}
