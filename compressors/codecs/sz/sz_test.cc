#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>

#include "base/thread_team.h"
#include "compressors/codecs/sz/arithmetic.h"
#include "compressors/codecs/sz/lorenzo.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

using Texts = std::map<std::string, std::string>;
using Shape = std::vector<std::int64_t>;

CodecPtr sz(const Texts& options) {
  return make_codec("sz", options);
}

std::vector<std::byte> encode_shaped(const Codec& codec, const std::vector<float>& values,
                                     const Shape& shape, ThreadTeam* team = nullptr) {
  const TensorView tensor = view_of(values, shape);
  std::vector<std::byte> payload(codec.max_encoded_size(tensor)),
      scratch(codec.scratch_size(tensor));
  EncodeJob job{.tensor = tensor, .payload = payload, .team = team};
  payload.resize(codec.encode(job, scratch));
  CHECK(job.written == payload.size());
  return payload;
}

/// Normal values by the sum of twelve draws.
std::vector<float> normal_values(std::size_t n, std::uint32_t step = 0) {
  std::vector<float> values(n);
  const RandomStream stream{.seed = 5, .step = step};
  for (std::size_t e = 0; e < n; ++e) {
    float sum = -6;
    for (std::size_t i = 0; i < 12; ++i) sum += uniform(stream, 12 * e + i);
    values[e] = sum;
  }
  return values;
}

/// A share `density` of normal values, the rest zeros: an activation map after ReLU.
std::vector<float> sparse_map(std::size_t n, float density) {
  auto values = normal_values(n);
  const RandomStream stream{.seed = 6};
  for (std::size_t e = 0; e < n; ++e)
    values[e] = uniform(stream, e) < density ? std::abs(values[e]) : 0.0f;
  return values;
}

std::vector<float> smooth_image(std::size_t rows, std::size_t columns) {
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      values[i * columns + j] =
          static_cast<float>(i * i) / 300 + static_cast<float>(j) / 7 * (i % 16 < 8 ? 1.0f : 1.1f);
  return values;
}

float ulp_of(float value) {
  return std::nextafter(std::abs(value), INFINITY) - std::abs(value);
}

/// The bound that holds for every element, zeros exact.
void require_bounded(const std::vector<float>& x, const std::vector<float>& back, double bound) {
  REQUIRE(back.size() == x.size());
  for (std::size_t e = 0; e < x.size(); ++e) {
    const double error = std::abs(static_cast<double>(x[e]) - static_cast<double>(back[e]));
    REQUIRE(error <= bound * (1 + 1e-6) + static_cast<double>(ulp_of(x[e])));
    if (x[e] == 0.0f) REQUIRE(back[e] == 0.0f);
  }
}

std::string text_of(double number) {
  std::ostringstream text;
  text.precision(17);
  text << number;
  return text.str();
}

const std::vector<float> kExample = {0, 0, 0.31f, 0.52f, 0, -0.11f, 0.05f, 0};
const char kExampleBlock[] =
    "08000000cdcccc3d"    // n, eb
    "010108000000"        // 1D, one dimension of 8
    "00020500"            // radius 512, 5 symbols
    "fdff04ffff04"        // -3:4 -1:4
    "000001010002020003"  // 0:1 1:2 2:3
    "1200000000000000"    // 18 bits, no outliers
    "35df00";

}  // namespace

TEST_CASE("COMET's worked example, both ways") {
  const auto codec =
      sz({{"bound", "0.1"}, {"mode", "absolute"}, {"predictor", "1d"}, {"zero_runs", "never"}});
  const auto payload = encode(*codec, kExample);
  CHECK(hex(payload) == kExampleBlock);
  CHECK(payload.size() == 44);
  CHECK(decode(*codec, from_hex(kExampleBlock), 8) ==
        std::vector<float>{0, 0, 0.4f, 0.6f, 0, -0.2f, 0, 0});
  // p = 0 0 2 3 0 -1 0 0: without prediction 5 zeros and 2, 3, -1 once: 5 + 2 + 3 + 3 = 13 bits
  // and 4 symbols: 10 + 4 + 4 + 12 + 8 + 2 bytes. The writer keeps the smallest.
  const auto smallest = encode(*sz({{"bound", "0.1"}, {"mode", "absolute"}}), kExample);
  CHECK(smallest.size() == 40);
  CHECK(decode(*codec, smallest, 8) == decode(*codec, payload, 8));
}

TEST_CASE("2D Lorenzo of a small matrix, by hand") {
  // eb 0.5: p = x. Rows 1 2 4 / 3 5 9: first row 1 1 2; then 3 - 1 = 2, 5 - 3 - 2 + 1 = 1,
  // 9 - 5 - 4 + 2 = 2. Symbols 1 1 2 2 1 2: one bit each, 1 -> 0, 2 -> 1: 001101 = 34.
  const auto codec =
      sz({{"bound", "0.5"}, {"mode", "absolute"}, {"predictor", "2d"}, {"zero_runs", "never"}});
  const auto payload = encode_shaped(*codec, {1, 2, 4, 3, 5, 9}, {2, 3});
  CHECK(hex(payload) ==
        "060000000000003f02020200000003000000"
        "00020200"
        "010001020001"
        "0600000000000000"
        "34");
  CHECK(decode(*codec, payload, 6) == std::vector<float>{1, 2, 4, 3, 5, 9});
}

TEST_CASE("zero runs, escapes and exact values by hand") {
  // eb 0.5, radius 2: symbols -1, 0, 1, the escape -2; zeros 5 -> class 2 (4 to 7), symbol 3, with
  // the bits 01; one zero -> symbol 0. Tokens 1 [3] 7! 0 -1, where 7! is the escape: all once.
  const auto codec =
      sz({{"bound", "0.5"}, {"mode", "absolute"}, {"predictor", "none"}, {"radius", "2"}});
  const std::vector<float> x = {1, 0, 0, 0, 0, 0, 7, 0, -1};
  auto payload = encode(*sz({{"bound", "0.5"},
                             {"mode", "absolute"},
                             {"predictor", "none"},
                             {"radius", "2"},
                             {"zero_runs", "never"}}),
                        x);
  CHECK(payload[8] == std::byte{0x00});  // plain is smaller here, and what auto takes
  CHECK(encode(*codec, x) == payload);
  // Written by hand: lengths -2:2, -1:2, 0:2, 1:3, 3:3; codes 00, 01, 10, 110, 111.
  // Stream 110 111 00 10 01 = dc 90; run bits 01 = 40; outlier {6, 7}; then an exact value.
  const auto block = from_hex(
      "090000000000003fc00109000000"
      "02000500"
      "feff02ffff02000002010003030003"
      "0c000000"
      "01000000"
      "05000000"
      "02000000"
      "01000000"
      "dc90"
      "40"
      "0600000007000000"
      "070000000000c07f");
  CHECK_THROWS_WITH(decode(*codec, block, 9),
                    Contains("byte 68 begins a value that is not finite"));
  auto finite = block;
  finite[finite.size() - 1] = std::byte{0x7E};  // 0x7EC00000
  const auto back = decode(*codec, finite, 9);
  CHECK(back == std::vector<float>{1, 0, 0, 0, 0, 0, 7, 0x1.8p126f, -1});
}

TEST_CASE("the error bound holds and zeros stay zero, for all predictors") {
  for (const char* predictor : {"auto", "none", "1d", "2d"})
    for (const double bound : {1e-5, 1e-3, 0.05, 3.0})
      for (const std::size_t n : {1u, 2u, 63u, 64u, 65u, 4096u, 4097u, 20001u}) {
        const auto x = sparse_map(n, 0.6f);
        const auto codec =
            sz({{"bound", text_of(bound)}, {"mode", "absolute"}, {"predictor", predictor}});
        INFO(predictor << " " << bound << " " << n);
        const auto payload = encode(*codec, x);
        CHECK(payload.size() <= codec->max_encoded_size(n));
        require_bounded(x, decode(*codec, payload, n), bound);
        CHECK(encode(*codec, decode(*codec, payload, n)) == payload);  // on the grid
      }
}

TEST_CASE("matrices of all shapes come back under 2D prediction") {
  for (const Shape& shape : {Shape{1, 100}, Shape{100, 1}, Shape{7, 13}, Shape{3, 5000},
                             Shape{5000, 3}, Shape{2, 3, 4, 513}, Shape{1, 1, 1}}) {
    const auto n = static_cast<std::size_t>(
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    auto x = normal_values(n);
    if (n > 90) x[n / 2] = 1000;  // an outlier
    const auto codec = sz({{"bound", "0.01"}, {"mode", "absolute"}, {"predictor", "2d"}});
    require_bounded(x, decode(*codec, encode_shaped(*codec, x, shape), n), 0.01);
  }
}

TEST_CASE("bounds relative to the range") {
  auto x = normal_values(5000);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const double range = static_cast<double>(*high) - static_cast<double>(*low);
  const auto codec = sz({{"bound", "0.01"}});
  const auto back = decode(*codec, encode(*codec, x), x.size());
  require_bounded(x, back, 0.01 * range);
  double worst = 0;
  for (std::size_t e = 0; e < x.size(); ++e)
    worst = std::max(worst, std::abs(static_cast<double>(x[e]) - static_cast<double>(back[e])));
  CHECK(worst > 0.0099 * range);  // the bound is used
}

TEST_CASE("large, denormal, constant and mixed inputs keep the bound") {
  const std::vector<std::vector<float>> inputs = {
      {FLT_MAX, -FLT_MAX, FLT_MAX / 3, 1.0f},
      {FLT_TRUE_MIN, -FLT_TRUE_MIN, 3 * FLT_TRUE_MIN, 0},
      {1e-39f, 1e-40f, -1e-39f},
      std::vector<float>(100, -3.7f),
      std::vector<float>(100, 3 * FLT_TRUE_MIN),
      std::vector<float>(100, FLT_MAX),
      {1e30f, 1e-3f, -2e-3f, 0.0f, -1e38f, 5e-3f},
      {16777217.0f, 16777219.0f, -99999999.0f}};
  for (const auto& x : inputs) {
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const double range = static_cast<double>(*high) - static_cast<double>(*low);
    for (const double bound : {1e-6, 1e-3, 0.5}) {
      const auto relative = sz({{"bound", text_of(bound)}});
      require_bounded(x, decode(*relative, encode(*relative, x), x.size()), bound * range);
      const auto absolute = sz({{"bound", text_of(bound)}, {"mode", "absolute"}});
      require_bounded(x, decode(*absolute, encode(*absolute, x), x.size()), bound);
    }
  }
}

TEST_CASE("values beyond the grid are stored as they are") {
  // 1e9 / 2e-2 = 5e10 > 2^30: exact; the others are on the grid of 0.02.
  auto x = normal_values(1000);
  x[17] = 1e9f;
  x[900] = -FLT_MAX;
  const auto codec = sz({{"bound", "0.01"}, {"mode", "absolute"}});
  const auto payload = encode(*codec, x);
  CHECK((payload[8] & std::byte{0x40}) != std::byte{0});
  CHECK(payload.size() < 4 * 1000);
  const auto back = decode(*codec, payload, 1000);
  CHECK(back[17] == 1e9f);
  CHECK(back[900] == -FLT_MAX);
  require_bounded(x, back, 0.01);
  std::vector<float> sum(1000, 0.0f);
  decode_add(*codec, payload, 0.5f, sum);
  CHECK(sum[17] == 5e8f);
}

TEST_CASE("a bound of 0 is lossless, and no block is much larger than the tensor") {
  auto x = random_values(3000);
  x[5] = -0.0f;
  for (const char* mode : {"absolute", "relative"}) {
    const auto codec = sz({{"bound", "0"}, {"mode", mode}});
    const auto payload = encode(*codec, x);
    CHECK(payload.size() == 4 * x.size() + 14);
    const auto back = decode(*codec, payload, x.size());
    CHECK(std::memcmp(back.data(), x.data(), 4 * x.size()) == 0);
  }
  const auto codec = sz({{"bound", "1e-12"}, {"mode", "absolute"}});  // all would be outliers
  CHECK(encode(*codec, x).size() <= codec->max_encoded_size(x.size()));
  CHECK(codec->max_encoded_size(3000) == 4 * 3000 + 14 + 64);
  CHECK(encode(*codec, {}).size() == 14);
  // A constant takes one code, exactly.
  const auto constant = encode(*sz({}), std::vector<float>(100000, 1.7f));
  CHECK(constant.size() < 64);
  CHECK(decode(*codec, constant, 100000) == std::vector<float>(100000, 1.7f));
}

TEST_CASE("sparse maps pass 32 times, which plain Huffman codes cannot") {
  const std::size_t n = 200000;
  const auto x = sparse_map(n, 0.01f);
  const auto ratio = [&](const char* zero_runs) {
    const auto codec = sz({{"bound", "0.05"}, {"mode", "absolute"}, {"zero_runs", zero_runs}});
    const auto payload = encode(*codec, x);
    require_bounded(x, decode(*codec, payload, n), 0.05);
    return 4.0 * static_cast<double>(n) / static_cast<double>(payload.size());
  };
  CHECK(ratio("auto") > 100);
  CHECK(ratio("never") < 32);
  CHECK(ratio("never") > 28);
}

TEST_CASE("classic SZ turns zeros into small values; dual quantisation does not") {
  // Classic: the difference to the predecessor as it will be decoded is quantised.
  const auto x = sparse_map(5000, 0.5f);
  const float eb = 0.05f;
  float last = 0;
  int wrong_zeros = 0;
  for (const float value : x) {
    last += 2 * eb * std::rint((value - last) / (2 * eb));
    if (value == 0.0f && last != 0.0f) ++wrong_zeros;
  }
  CHECK(wrong_zeros > 1000);
  const auto codec = sz({{"bound", "0.05"}, {"mode", "absolute"}, {"predictor", "1d"}});
  const auto back = decode(*codec, encode(*codec, x), x.size());
  for (std::size_t e = 0; e < x.size(); ++e)
    if (x[e] == 0.0f) REQUIRE(back[e] == 0.0f);
}

TEST_CASE("errors of non-zeros are uniform in the bound: variance eb^2 / 3") {
  const auto x = normal_values(40000);
  const auto codec = sz({{"bound", "0.02"}, {"mode", "absolute"}});
  const auto back = decode(*codec, encode(*codec, x), x.size());
  double sum = 0, squares = 0;
  for (std::size_t e = 0; e < x.size(); ++e) {
    const double error = static_cast<double>(x[e]) - static_cast<double>(back[e]);
    sum += error;
    squares += error * error;
  }
  const double n = 40000, variance = 0.02 * 0.02 / 3;
  CHECK(std::abs(sum / n) < 5 * std::sqrt(variance / n));
  // The variance of the square of a uniform error is eb^4 (1/5 - 1/9) = 0.8 variance^2.
  CHECK(std::abs(squares / n - variance) < 5 * variance * std::sqrt(0.8 / n));
}

TEST_CASE("auto keeps the smallest of the predictors") {
  const auto x = smooth_image(64, 80);
  std::size_t smallest = SIZE_MAX;
  std::vector<std::size_t> sizes;
  for (const char* predictor : {"none", "1d", "2d"}) {
    const auto codec = sz({{"bound", "0.01"}, {"mode", "absolute"}, {"predictor", predictor}});
    sizes.push_back(encode_shaped(*codec, x, {64, 80}).size());
    smallest = std::min(smallest, sizes.back());
  }
  const auto codec = sz({{"bound", "0.01"}, {"mode", "absolute"}});
  CHECK(encode_shaped(*codec, x, {64, 80}).size() == smallest);
  CHECK(sizes[2] < sizes[1]);  // smooth in both directions
  CHECK(sizes[1] < sizes[0]);
}

TEST_CASE("threads do not change the bytes") {
  ThreadTeam team(3);
  auto x = sparse_map(300001, 0.3f);
  x[200000] = 1e20f;
  for (const char* mode : {"absolute", "relative"}) {
    const auto codec = sz({{"bound", "0.01"}, {"mode", mode}});
    const Shape shape = {300001};
    CHECK(encode_shaped(*codec, x, shape, &team) == encode_shaped(*codec, x, shape));
  }
  x.resize(300000);
  const auto codec = sz({{"bound", "0.01"}, {"mode", "absolute"}, {"predictor", "2d"}});
  CHECK(encode_shaped(*codec, x, {1000, 300}, &team) == encode_shaped(*codec, x, {1000, 300}));
}

TEST_CASE("vector loops do what the shared arithmetic says") {
  auto x = normal_values(1003);
  x[3] = 0.5f, x[4] = 1.5f, x[5] = -2.5f, x[6] = FLT_MAX, x[7] = 1073741824.0f, x[8] = -0.0f;
  for (const float eb : {0.5f, 0.013f}) {
    const DualGrid grid = dual_grid(eb);
    std::vector<std::int32_t> codes(1003);
    kernels::dual_codes(x.data(), 1003, grid, codes.data());
    std::vector<float> values(1003);
    kernels::dual_values(codes.data(), 1003, grid, values.data());
    for (std::size_t e = 0; e < 1003; ++e) {
      REQUIRE(codes[e] == dual_code(x[e], grid));
      REQUIRE(values[e] == dual_value(codes[e], grid));
    }
  }
  const DualGrid halves = dual_grid(0.5f);  // ties to even
  CHECK(dual_code(0.5f, halves) == 0);
  CHECK(dual_code(1.5f, halves) == 2);
  CHECK(dual_code(-2.5f, halves) == -2);
  CHECK(dual_code(1073741824.0f, halves) == 1 << 30);
  CHECK_FALSE(dual_has_code(1073741952.0f, halves));
  CHECK(lorenzo_symbol(0x7FFFFFFFu, 512) == 0);
  CHECK(lorenzo_symbol(static_cast<std::uint32_t>(-512), 512) == 0);
  CHECK(lorenzo_symbol(static_cast<std::uint32_t>(-511), 512) == 1);
  CHECK(lorenzo_symbol(511, 512) == 1023);
  CHECK(lorenzo_symbol(512, 512) == 0);
}

TEST_CASE("differences of codes wrap around without loss") {
  // p = 2^30, -2^30 alternate: differences of 2^31, beyond i32, and 2D ones of 2^32 = 0.
  std::vector<float> x(64);
  for (std::size_t e = 0; e < 64; ++e) x[e] = (e + e / 8) % 2 == 0 ? 1073741824.0f : -1073741824.0f;
  for (const char* predictor : {"none", "1d", "2d"}) {
    const auto codec = sz({{"bound", "0.5"}, {"mode", "absolute"}, {"predictor", predictor}});
    CHECK(decode(*codec, encode_shaped(*codec, x, {8, 8}), 64) == x);
  }
}

TEST_CASE("explain covers every byte of every form") {
  auto x = sparse_map(3000, 0.02f);
  x[40] = 1e20f, x[50] = 500.0f;
  const Texts kinds[] = {{{"bound", "0.01"}, {"mode", "absolute"}},
                         {{"bound", "0.01"}, {"mode", "absolute"}, {"zero_runs", "never"}},
                         {{"bound", "0"}}};
  for (const Texts& options : kinds) {
    const auto codec = sz(options);
    const auto payload = encode(*codec, x);
    const auto fields = codec->explain(payload, 3000, {});
    std::size_t at = 0;
    for (const PayloadField& field : fields) {
      CHECK(field.offset == at);
      CHECK_FALSE(field.value.empty());
      at += field.bytes;
    }
    CHECK(at == payload.size());
  }
  CHECK_THROWS_AS(sz({})->explain(from_hex("0800"), 8, {}), CodecError);
}

TEST_CASE("broken blocks are refused with the byte and the reason") {
  const auto codec = sz({});
  const auto good = from_hex(kExampleBlock);
  const auto with = [&](std::size_t byte, int value) {
    auto block = good;
    block[byte] = static_cast<std::byte>(value);
    return block;
  };
  const auto refused = [&](const std::vector<std::byte>& block, const char* reason) {
    CHECK_THROWS_WITH(decode(*codec, block, 8), Contains(reason));
  };
  refused(with(0, 9), "byte 0 begins a count of 9 for 8");
  refused(with(7, 0xBD), "byte 4 begins an error bound");
  refused(with(8, 5), "byte 8 holds a form");
  refused(with(9, 0), "byte 9 begins dimensions");
  refused(with(10, 7), "byte 9 begins dimensions");
  refused(with(15, 0xFF), "byte 14 begins a radius");
  refused(with(16, 0), "byte 16 begins a number of symbols");
  refused(with(20, 3), "byte 18 begins code lengths");
  refused(with(20, 5), "byte 20 holds a code length that so few");
  refused(with(21, 0xFD), "byte 21 begins a symbol out of order");
  refused(with(33, 17), "byte 33 begins a number of bits");
  refused(with(33, 25), "44 bytes");
  refused(std::vector<std::byte>(good.begin(), good.end() - 1), "43 bytes");
  refused(std::vector<std::byte>(good.begin(), good.begin() + 9), "byte 9 in a header of 10");
  // A symbol -512 in place of -3 is the escape, which has no outlier here.
  auto escape = with(18, 0x00);
  escape[19] = std::byte{0xFE};
  refused(escape, "byte 37 begins fewer outliers");
}
