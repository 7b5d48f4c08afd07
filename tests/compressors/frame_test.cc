#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "compressors/crc32c.h"
#include "compressors/frame.h"
#include "tests/compressors/codec_fixture.h"

namespace gradwire::compressors {
namespace {

using Catch::Contains;

FrameHeader sample_header() {
  return {.codec = "topk",
          .options = {{"ratio", "0.25"}},
          .tensor = "conv1.weight",
          .shape = {2, 3, 4},
          .n = 24,
          .stream = {.seed = 0x1122334455667788, .step = 5, .worker = 6, .tensor = 7},
          .first_element = 9,
          .shared_scale = 1.5f};
}

std::vector<std::byte> sample_payload() {
  return testing::from_hex("00ff10203040");
}

TEST_CASE("CRC-32C of the check string and of RFC 3720's examples") {
  const std::string text = "123456789";
  CHECK(crc32c(std::as_bytes(std::span(text))) == 0xE3069283u);
  CHECK(crc32c(std::vector<std::byte>(32)) == 0x8A9136AAu);
  CHECK(crc32c(std::vector<std::byte>(32, std::byte{0xFF})) == 0x62A8AB43u);
  CHECK(crc32c({}) == 0);
}

TEST_CASE("the instruction and the tables agree, in pieces too") {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(1000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::size_t n : {0u, 1u, 7u, 8u, 9u, 63u, 1000u}) {
    const auto part = std::span<const std::byte>(bytes).first(n);
    CHECK(crc32c(part) == crc32c_portable(part));
    CHECK(crc32c(part.subspan(n / 3), crc32c(part.first(n / 3))) == crc32c(part));
  }
}

TEST_CASE("a frame gives back everything that was put into it") {
  const auto payload = sample_payload();
  auto bytes = write_frame(sample_header(), payload);
  const std::size_t size = bytes.size();
  // 64 fixed, 1 + 3 * 8 shape, 1 + 4 codec, 2 + 12 tensor, 2 + (1 + 5 + 2 + 4) options, CRC,
  // payload, CRC
  CHECK(size == 64 + 25 + 5 + 14 + 14 + 4 + 6 + 4);
  bytes.resize(size + 3);  // what follows is not read
  const Frame frame = read_frame(bytes);
  CHECK(frame.bytes == size);
  CHECK(frame.header_bytes == size - 10);
  CHECK(std::equal(frame.payload.begin(), frame.payload.end(), payload.begin(), payload.end()));
  const FrameHeader want = sample_header();
  CHECK(frame.header.codec == want.codec);
  CHECK(frame.header.options == want.options);
  CHECK(frame.header.tensor == want.tensor);
  CHECK(frame.header.shape == want.shape);
  CHECK(frame.header.n == want.n);
  CHECK(frame.header.stream.seed == want.stream.seed);
  CHECK(frame.header.stream.step == 5);
  CHECK(frame.header.stream.worker == 6);
  CHECK(frame.header.stream.tensor == 7);
  CHECK(frame.header.first_element == 9);
  CHECK(frame.header.shared_scale == 1.5f);
}

TEST_CASE("every cut and every flipped bit is noticed") {
  const auto bytes = write_frame(sample_header(), sample_payload());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    CHECK_THROWS_AS(read_frame(std::span(bytes).first(n)), CodecError);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    CHECK_THROWS_AS(read_frame(damaged), CodecError);
  }
}

/// The header's CRC made right again, so that the fields themselves are judged.
std::vector<std::byte> with_bytes(std::size_t at, std::string_view hex) {
  auto bytes = write_frame(sample_header(), sample_payload());
  const auto put = testing::from_hex(hex);
  std::copy(put.begin(), put.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  std::uint32_t size;
  std::memcpy(&size, bytes.data() + 8, 4);
  const std::uint32_t crc = crc32c(std::span(bytes).first(size - 4));
  std::memcpy(bytes.data() + size - 4, &crc, 4);
  return bytes;
}

TEST_CASE("hostile headers with a right checksum are refused, naming the byte") {
  CHECK_NOTHROW(read_frame(with_bytes(0, "47525746")));
  CHECK_THROWS_WITH(read_frame(with_bytes(0, "00")), Contains("GRWF"));
  CHECK_THROWS_WITH(read_frame(with_bytes(4, "0200")), Contains("version 2"));
  CHECK_THROWS_WITH(read_frame(with_bytes(6, "02")), Contains("byte 6"));
  CHECK_THROWS_WITH(read_frame(with_bytes(12, "0000c07f")), Contains("shared scale"));
  CHECK_THROWS_WITH(read_frame(with_bytes(16, "19")), Contains("25 elements"));
  CHECK_THROWS_WITH(read_frame(with_bytes(24, "ffffffffffffffff")), Contains("cut off"));
  CHECK_THROWS_WITH(read_frame(with_bytes(64, "ff")), Contains("but the header ends"));
  // 2^33 * 2^33 * 4 = 2^68 overflows to something that could be anything
  CHECK_THROWS_WITH(read_frame(with_bytes(65, "00000000020000000000000002000000")),
                    Contains("elements"));
}

TEST_CASE("names that no length field can say are refused") {
  FrameHeader header = sample_header();
  header.codec = std::string(256, 'x');
  CHECK_THROWS_AS(write_frame(header, {}), CodecError);
}

}  // namespace
}  // namespace gradwire::compressors
