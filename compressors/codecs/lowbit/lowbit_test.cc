#include "compressors/codecs/lowbit/projection.h"

#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "compressors/ordered_sum.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

const char* const kTables[] = {"binary", "ternary", "pm012", "pm0124"};

CodecPtr lowbit(const char* table, const char* tie = "layer", int iterations = 5) {
  return make_codec("lowbit",
                    {{"table", table}, {"tie", tie}, {"iterations", std::to_string(iterations)}});
}

std::vector<std::byte> encode_matrix(const Codec& codec, const std::vector<float>& values,
                                     const std::vector<std::int64_t>& shape, float scale = -1.0f,
                                     ThreadTeam* team = nullptr) {
  const TensorSpec spec(values.size(), "w", shape);
  std::vector<std::byte> payload(codec.max_encoded_size(spec));
  std::vector<std::uint64_t> scratch(codec.scratch_size(spec) / 8 + 1);
  EncodeJob job{.tensor = view_of(values, shape, "w"),
                .side = {.shared_scale = scale, .mask = {}},
                .payload = payload,
                .team = team};
  payload.resize(codec.encode(job, std::as_writable_bytes(std::span(scratch))));
  return payload;
}

double error_of(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t e = 0; e < x.size(); ++e) sum += std::pow(double{x[e]} - double{y[e]}, 2);
  return sum;
}

float scale_in(const std::vector<std::byte>& payload, std::size_t group = 0) {
  float alpha;
  std::memcpy(&alpha, payload.data() + 12 + 4 * group, 4);
  return alpha;
}

/// The projection by its definition, with divisions instead of thresholds.
std::vector<double> plain_projection(const std::vector<float>& v, const LowbitTable& table,
                                     int iterations) {
  const double sum = ordered_sum(v.size(), [&](std::size_t e) { return std::abs(double{v[e]}); });
  double alpha = sum / static_cast<double>(v.size()) / table.start;
  std::vector<double> q(v.size());
  for (int i = 0; i < iterations; ++i) {
    double dot = 0, square = 0;
    for (std::size_t e = 0; e < v.size(); ++e) {
      q[e] = double{table.entries[table.count - 1]};
      for (int c = table.count - 1; c-- > 0;)  // of equally near ones, the one nearer to 0
        if (const double entry = double{table.entries[c]};
            std::abs(double{v[e]} / alpha - entry) < std::abs(double{v[e]} / alpha - q[e]) ||
            (std::abs(double{v[e]} / alpha - entry) == std::abs(double{v[e]} / alpha - q[e]) &&
             std::abs(entry) < std::abs(q[e])))
          q[e] = entry;
      dot += double{v[e]} * q[e];
      square += q[e] * q[e];
    }
    alpha = dot / square;
  }
  for (double& entry : q) entry *= alpha;
  return q;
}

/// Least error over all choices of codes: ||v||^2 - <v, q>^2 / <q, q>.
double optimal_error(const std::vector<float>& v, const LowbitTable& table) {
  std::size_t choices = 1;
  for (std::size_t e = 0; e < v.size(); ++e) choices *= static_cast<std::size_t>(table.count);
  double norm = 0, best = 0;
  for (const float value : v) norm += double{value} * double{value};
  for (std::size_t choice = 0; choice < choices; ++choice) {
    double dot = 0, square = 0;
    std::size_t rest = choice;
    for (const float value : v) {
      const double q = double{table.entries[rest % static_cast<std::size_t>(table.count)]};
      rest /= static_cast<std::size_t>(table.count);
      dot += q * double{value};
      square += q * q;
    }
    if (square > 0 && dot > 0) best = std::max(best, dot * dot / square);
  }
  return norm - best;
}

}  // namespace

TEST_CASE("lowbit worked example, ternary, both ways, with the dual's first step") {
  // alpha .5125 (mean |V|): q = 1 0 1 -1; alpha = (.9 + .35 + .6) / 3 = .616667 = 0x3f1ddddf, where
  // q stays. Codes 2 1 2 0: 2 + 1 * 4 + 2 * 16 = 0x26.
  const std::vector<float> v = {.9f, -.2f, .35f, -.6f};
  const auto codec = lowbit("ternary");
  const auto payload = encode(*codec, v);
  CHECK(scale_in(payload) == Approx(.616667).epsilon(1e-6));
  CHECK(hex(payload) ==
        "0100000004000000"
        "01020100"
        "dedd1d3f"
        "26");
  CHECK(payload.size() == 17);
  const float alpha = scale_in(payload);
  const auto g = decode(*codec, payload, 4);
  CHECK(g == std::vector<float>{alpha, 0, alpha, -alpha});
  CHECK(error_of(v, g) == Approx(.191667).epsilon(1e-5));
  // lambda = 0 + V - G is the residual of error feedback.
  std::vector<float> lambda(4, 0.0f);
  std::vector<std::byte> again(codec->max_encoded_size(4));
  std::vector<std::uint64_t> scratch(codec->scratch_size(4) / 8 + 1);
  const std::vector<std::int64_t> shape = {4};
  EncodeJob job{.tensor = view_of(v, shape), .payload = again};
  codec->encode_with_residual(job, lambda, std::as_writable_bytes(std::span(scratch)));
  CHECK(again == payload);
  const double expected[] = {.283333, -.2, -.266667, .016667};
  for (std::size_t e = 0; e < 4; ++e) CHECK(lambda[e] == Approx(expected[e]).margin(5e-7));
}

TEST_CASE("lowbit worked example, table +-{1, 2, 4}, both ways") {
  // alpha .25625: q = 4 -1 1 -2; alpha = 5.35 / 22 = .243182; error .031477. Codes 6 2 4 1:
  // 6 + 2 * 8 + 4 * 64 + 1 * 512 = 0x316.
  const std::vector<float> v = {.9f, -.2f, .35f, -.6f};
  const auto codec = lowbit("pm0124");
  const auto payload = encode(*codec, v);
  CHECK(hex(payload) ==
        "0100000004000000"
        "03030100"
        "a704793e"
        "1603");
  const float alpha = scale_in(payload);
  CHECK(alpha == Approx(.243182).epsilon(2e-6));
  CHECK(decode(*codec, payload, 4) == std::vector<float>{4 * alpha, -alpha, alpha, -2 * alpha});
  CHECK(error_of(v, decode(*codec, payload, 4)) == Approx(.031477).epsilon(1e-4));
  const auto fields = codec->explain(payload, 4, {});
  REQUIRE(fields.size() == 8);
  CHECK(fields[2].value == "pm0124");
  CHECK(fields[7].value == "6, 2, 4, 1");
  std::size_t at = 0;
  for (const auto& field : fields) {
    CHECK(field.offset == at);
    at += field.bytes;
  }
  CHECK(at == payload.size());
}

TEST_CASE("lowbit files are as long as the formula says") {
  // Node ties, binary: 12 + 4 rows + rows cols / 8; without the header a ratio of 32 n / (n + 32),
  // 31.0 at fan-in n = 992.
  const auto spec_shape = std::vector<std::int64_t>{64, 992};
  const TensorSpec spec(64 * 992, "w", spec_shape);
  const std::size_t bytes = lowbit("binary", "node")->max_encoded_size(spec);
  CHECK(bytes == 12 + 64 * 4 + 64 * 992 / 8);
  CHECK(4.0 * 64 * 992 / static_cast<double>(bytes - 12) == Approx(31.0));
  CHECK(lowbit("pm012")->max_encoded_size(1001) == 12 + 4 + (1001 * 3 + 7) / 8);
  CHECK(encode_matrix(*lowbit("binary", "node"), random_values(64 * 992), spec_shape).size() ==
        bytes);
}

TEST_CASE("the projection is its definition, for every table, tie and instruction set") {
  on_each_instruction_set([&] {
    for (std::size_t t = 0; t < 4; ++t)
      for (const std::size_t n : {3u, 16u, 100u, 5003u}) {
        const auto v = random_values(n, static_cast<std::uint32_t>(t));
        const auto expected = plain_projection(v, kLowbitTables[t], 5);
        const auto codec = lowbit(kTables[t]);
        const auto g = decode(*codec, encode(*codec, v), n);
        for (std::size_t e = 0; e < n; ++e)
          REQUIRE(double{g[e]} == Approx(expected[e]).epsilon(1e-6).margin(1e-12));
      }
  });
}

TEST_CASE("the projection's error never rises, and no step too few would do") {
  bool fell = false;
  for (std::size_t t = 0; t < 4; ++t)
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const auto v = random_values(500, seed);
      double last = 1e30;
      for (int iterations = 1; iterations <= 12; ++iterations) {
        const auto codec = lowbit(kTables[t], "layer", iterations);
        const double error = error_of(v, decode(*codec, encode(*codec, v), 500));
        REQUIRE(error <= last * (1 + 1e-6));
        fell = fell || (iterations == 5 && error < 0.999 * last);
        last = error;
      }
    }
  CHECK(fell);  // five iterations are more than four
}

TEST_CASE("the projection is idempotent, on the table, and scale-equivariant") {
  for (std::size_t t = 0; t < 4; ++t)
    for (const std::size_t n : {7u, 1000u}) {
      const auto v = random_values(n, 9 + static_cast<std::uint32_t>(n));
      const auto codec = lowbit(kTables[t], "layer", 50);  // settled
      const auto payload = encode(*codec, v);
      const float alpha = scale_in(payload);
      const auto g = decode(*codec, payload, n);
      for (const float value : g) {
        const float* end = kLowbitTables[t].entries + kLowbitTables[t].count;
        REQUIRE(std::count(kLowbitTables[t].entries, end, value / alpha) == 1);
      }
      CHECK(decode(*codec, encode(*codec, g), n) == g);
      for (const float c : {2.0f, 0x1p-40f, 0x1p40f}) {
        auto scaled = v, expected = g;
        for (std::size_t e = 0; e < n; ++e) {
          scaled[e] *= c;
          expected[e] *= c;
        }
        CHECK(decode(*codec, encode(*codec, scaled), n) == expected);
      }
    }
}

TEST_CASE("a richer table that contains another never has the larger optimal error") {
  bool better = false;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const auto v = random_values(5, seed);
    double optimal[4];
    for (std::size_t t = 0; t < 4; ++t) {
      optimal[t] = optimal_error(v, kLowbitTables[t]);
      const auto codec = lowbit(kTables[t]);
      const double error = error_of(v, decode(*codec, encode(*codec, v), 5));
      CHECK(error >= optimal[t] - 1e-9);  // none is below the optimum
    }
    CHECK(optimal[1] <= optimal[0] + 1e-12);  // -1 1 in -1 0 1
    CHECK(optimal[2] <= optimal[1] + 1e-12);
    CHECK(optimal[3] <= optimal[2] + 1e-12);
    better = better || optimal[3] < 0.5 * optimal[1];
  }
  CHECK(better);
}

TEST_CASE("tie groups: a row each, a layer, or the whole model") {
  // Rows (3, -3) and (.5, .5): one scale a row holds both exactly; one for all cannot.
  const std::vector<float> w = {3, -3, .5f, .5f};
  const auto node = lowbit("binary", "node"), layer = lowbit("binary");
  const auto payload = encode_matrix(*node, w, {2, 2});
  CHECK(hex(payload) ==
        "0200000002000000"
        "00010200"
        "00004040"
        "0000003f"
        "0d");  // 1 0 1 1
  CHECK(decode(*node, payload, 4) == w);
  CHECK(decode(*layer, payload, 4) == w);  // the record says how it was tied
  CHECK(decode(*layer, encode_matrix(*layer, w, {2, 2}), 4) ==
        std::vector<float>{1.75f, -1.75f, 1.75f, 1.75f});
  // Tied over the model: the scale of both tensors together is given to each.
  const auto model = lowbit("ternary", "model");
  const auto a = random_values(300, 1), b = random_values(5000, 2);
  const std::span<const float> both[] = {a, b};
  const LowbitScale scale = lowbit_project(both, kLowbitTables[1], 5);
  std::vector<float> joined = a;
  joined.insert(joined.end(), b.begin(), b.end());
  CHECK(scale.alpha == Approx(lowbit_project(joined, kLowbitTables[1], 5).alpha).epsilon(1e-6));
  for (const auto* v : {&a, &b}) {
    const auto record =
        encode_matrix(*model, *v, {static_cast<std::int64_t>(v->size())}, scale.alpha);
    CHECK(scale_in(record) == scale.alpha);
    const auto g = decode(*model, record, v->size());
    for (std::size_t e = 0; e < g.size(); ++e)
      REQUIRE(g[e] ==
              (std::abs((*v)[e]) > scale.alpha / 2 ? std::copysign(scale.alpha, (*v)[e]) : 0.0f));
  }
  CHECK(model->wants_shared_scale());
  CHECK_THROWS_WITH(encode(*model, a), Contains("need the model's scale"));
  CHECK_THROWS_WITH(encode_matrix(*model, {1, NAN}, {2}, 1.0f), Contains("element 1 is NaN"));
}

TEST_CASE("rows of any length, threads and instruction sets change no byte") {
  ThreadTeam team(3);
  for (std::size_t t = 0; t < 4; ++t)
    for (const std::int64_t columns : {1, 3, 100, 5000}) {
      const std::int64_t rows = 140000 / columns + 1;
      const auto v = random_values(static_cast<std::size_t>(rows * columns), 3);
      for (const char* tie : {"node", "layer"}) {
        const auto codec = lowbit(kTables[t], tie);
        const std::vector<std::int64_t> shape = {rows, columns};
        const auto payload = encode_matrix(*codec, v, shape);
        const auto g = decode(*codec, payload, v.size());
        if (std::string_view(tie) == "node")  // each row as if it were alone
          for (std::int64_t r = 0; r < rows; r += 1 + rows / 7) {
            const std::vector<float> row(v.begin() + r * columns, v.begin() + (r + 1) * columns);
            const auto one = decode(*codec, encode(*codec, row), row.size());
            REQUIRE(std::equal(one.begin(), one.end(), g.begin() + r * columns));
          }
        on_each_instruction_set([&] {
          REQUIRE(encode_matrix(*codec, v, shape, -1, &team) == payload);
          std::vector<float> values(v.size()), sum(v.size(), 1.0f);
          codec->decode({.payload = payload, .side = {}, .values = values, .team = &team}, {});
          REQUIRE(values == g);
          codec->decode_accumulate({.payload = payload, .side = {}, .values = sum, .team = &team},
                                   -0.5f, {});
          std::vector<float> expected_sum;
          for (const float value : g) expected_sum.push_back(1.0f - 0.5f * value);
          REQUIRE(sum == expected_sum);
        });
      }
    }
}

TEST_CASE("lowbit at the ends of the number range") {
  for (std::size_t t = 0; t < 4; ++t) {
    const auto codec = lowbit(kTables[t]);
    CHECK(decode(*codec, encode(*codec, {0, -0.0f, 0}), 3) == std::vector<float>{0, 0, 0});
    CHECK(encode(*codec, {}).size() == 16);
    for (const float value : {FLT_MIN, 1e-41f, FLT_MAX, 1.0f}) {
      const auto g = decode(*codec, encode(*codec, {value, -value, value}), 3);
      CHECK(std::abs(g[0] - value) <= 4 * FLT_TRUE_MIN);  // a quarter of a denormal is rounded
      CHECK(g[1] == -g[0]);
    }
    const auto mixed = decode(*codec, encode(*codec, {FLT_MAX, 0.7f * FLT_MAX, 1}), 3);
    for (const float value : mixed) CHECK(std::isfinite(value));
  }
}

TEST_CASE("the lowbit decoder names the bad byte") {
  const auto codec = lowbit("ternary");
  const auto good = encode(*codec, random_values(100));
  const auto refusal = [&](std::size_t at, int byte, const char* reason) {
    auto bad = good;
    bad[at] = static_cast<std::byte>(byte);
    CHECK_THROWS_WITH(decode(*codec, bad, 100), Contains(reason));
    CHECK_THROWS_WITH(codec->explain(bad, 100, {}), Contains(reason));
  };
  refusal(0, 2, "byte 0 begins rows and columns");
  refusal(8, 4, "byte 8 names no table");
  refusal(8, 0, "byte 9 is not the width");
  refusal(10, 3, "byte 10 names no tie");
  refusal(11, 1, "byte 11 begins a reserved");
  refusal(15, 0xBF, "byte 12 begins a scale");
  refusal(17, 0x0C, "byte 17 holds a code above 2");
  auto cut = good;
  cut.pop_back();
  CHECK_THROWS_WITH(decode(*codec, cut, 100), Contains("it ends at byte"));
  CHECK_THROWS_WITH(decode(*codec, from_hex("0000000100000000010202"), 0), Contains("12 bytes"));
  // 2^24 rows of no columns would need 2^26 bytes of scales.
  CHECK_THROWS_AS(decode(*codec, from_hex("000000010000000001020200"), 0), CodecError);
}
