#include "compressors/model_file.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "compressors/crc32c.h"
#include "tests/compressors/codec_fixture.h"

namespace gradwire::compressors {
namespace {

using Catch::Contains;

const std::vector<float> kWeights = {0.9f, -0.2f, 0.35f, -0.6f, 0.1f, 0.4f};
const std::vector<std::int64_t> kShape = {2, 3};

ModelFile sample_file() {
  ModelFile file{.seed = 7, .scenario = 0x0102030405060708};
  file.tensors.push_back(store_tensor({"w", kShape, kWeights}, {"lowbit", {{"tie", "node"}}}));
  const std::vector<float> bias = {1.5f, -2};
  const std::int64_t two[] = {2};
  file.tensors.push_back(store_tensor({"b", two, bias}, {}));
  return file;
}

std::vector<std::byte> sample_bytes() {
  return write_model_file(sample_file());
}

TEST_CASE("a model file gives back everything that was put into it") {
  const auto bytes = sample_bytes();
  // 24 fixed; w: 2 name, 1 + 8 shape, 7 codec, 8 size, 12 + 2 * 4 + 2 (6 codes of 2 bits);
  // b: 2 name, 1 + 4 shape, 5 codec, 8 size, 8; CRC.
  CHECK(bytes.size() == 24 + (2 + 9 + 7 + 8 + 22) + (2 + 5 + 5 + 8 + 8) + 4);
  const ModelFile file = read_model_file(bytes, "m");
  CHECK(file.seed == 7);
  CHECK(file.scenario == 0x0102030405060708);
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors[0].name == "w");
  CHECK(file.tensors[0].shape == kShape);
  CHECK(file.tensors[0].codec == "lowbit");
  CHECK(file.tensors[1].elements() == 2);
  std::vector<float> bias(2), weights(6);
  load_tensor(file.tensors[1], bias);
  CHECK(bias == std::vector<float>{1.5f, -2});
  load_tensor(file.tensors[0], weights);
  // Rows on their own. 0.9, -0.2, 0.35 begin with 0.4833, above whose half are 0.9 and 0.35;
  // (0.9 + 0.35) / 2 = 0.625, above whose half are the same. -0.6, 0.1, 0.4: (0.6 + 0.4) / 2.
  CHECK(weights == std::vector<float>{0.625f, 0, 0.625f, -0.5f, 0, 0.5f});
}

TEST_CASE("what a table holds already is stored without loss") {
  for (const char* table : {"binary", "ternary", "pm012", "pm0124"})
    for (const char* tie : {"layer", "node"}) {
      CAPTURE(table, tie);
      const CodecChoice codec{"lowbit", {{"table", table}, {"tie", tie}}};
      std::vector<float> once(6), twice(6);
      load_tensor(store_tensor({"w", kShape, kWeights}, codec), once);
      load_tensor(store_tensor({"w", kShape, once}, codec), twice);
      CHECK(std::memcmp(once.data(), twice.data(), 24) == 0);
      CHECK(once != kWeights);
    }
}

TEST_CASE("a scalar is a tensor of no dimensions") {
  const std::vector<float> one = {3};
  ModelFile file;
  file.tensors.push_back(store_tensor({"s", {}, one}, {}));
  const ModelFile back = read_model_file(write_model_file(file), "m");
  std::vector<float> value(back.tensors[0].elements());
  load_tensor(back.tensors[0], value);
  CHECK(value == one);
}

TEST_CASE("every cut and every flipped bit of a model file is noticed") {
  const auto bytes = sample_bytes();
  for (std::size_t n = 0; n < bytes.size(); ++n)
    CHECK_THROWS_AS(read_model_file(std::span(bytes).first(n), "m"), Error);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    CHECK_THROWS_AS(read_model_file(damaged, "m"), Error);
  }
}

/// With a checksum that is right again, so that the fields themselves are judged.
std::vector<std::byte> with_bytes(std::size_t at, std::string_view hex) {
  auto bytes = sample_bytes();
  const auto put = testing::from_hex(hex);
  std::copy(put.begin(), put.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  const std::uint32_t crc = crc32c(std::span(bytes).first(bytes.size() - 4));
  std::memcpy(bytes.data() + bytes.size() - 4, &crc, 4);
  return bytes;
}

TEST_CASE("hostile model files with a right checksum are refused, naming file and byte") {
  const auto refused = [](std::size_t at, std::string_view hex) {
    try {
      read_model_file(with_bytes(at, hex), "models/a.grwm");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  CHECK(refused(0, "4752574d") == "read");
  CHECK_THAT(refused(0, "00"), Contains("cannot read model file models/a.grwm: byte 0 does not"));
  CHECK_THAT(refused(4, "0200"), Contains("version 2"));
  CHECK_THAT(refused(6, "01"), Contains("is beyond the last tensor"));
  CHECK_THAT(refused(6, "03"), Contains("begins a field of"));
  CHECK_THAT(refused(27, "ffffffffffffffff"), Contains("more elements than the payload can hold"));
  CHECK_THAT(refused(36, "746f706b2020"), Contains("names a codec"));
  CHECK_THAT(refused(42, "ffffffffffffff7f"), Contains("begins a field of"));
  CHECK_THAT(refused(42, "ffffffffffffff7f"), Contains("export the model again"));
}

TEST_CASE("a payload that the codec refuses is refused") {
  StoredTensor tensor = sample_file().tensors[0];
  tensor.payload[8] = std::byte{9};  // the table
  std::vector<float> values(6);
  CHECK_THROWS_WITH(load_tensor(tensor, values), Contains("byte 8 names no table"));
}

TEST_CASE("names that no field of a model file can say are refused") {
  ModelFile file = sample_file();
  file.tensors[0].name = std::string(256, 'x');
  CHECK_THROWS_AS(write_model_file(file), CodecError);
}

}  // namespace
}  // namespace gradwire::compressors
