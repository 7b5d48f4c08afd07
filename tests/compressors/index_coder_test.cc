#include "compressors/coding/index_coder.h"

#include <catch2/catch.hpp>
#include <vector>

#include "codec_fixture.h"
#include "compressors/coding/index_walk.h"
#include "compressors/layout/index_sections.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

using List = std::vector<std::uint32_t>;

constexpr IndexFormat kAll[] = {
    IndexFormat::kU32,          IndexFormat::kRuns16, IndexFormat::kBitmap, IndexFormat::kGolomb,
    IndexFormat::kGolombStored, IndexFormat::kDelta,  IndexFormat::kPacked};

std::vector<std::byte> coded(IndexFormat format, const List& list, std::size_t n) {
  std::vector<std::byte> bytes(index_bytes(format, list, n), std::byte{0xAA});
  REQUIRE(encode_indices(format, list, n, bytes) == bytes.size());
  REQUIRE(bytes.size() <= max_index_bytes(format, n, list.size()));
  return bytes;
}

List decoded(IndexFormat format, const std::vector<std::byte>& bytes, std::size_t n,
             std::size_t k) {
  List list(k);
  const std::size_t end =
      decode_indices(format, {.codec = "test", .payload = bytes, .n = n, .k = k}, list);
  REQUIRE(end == bytes.size());
  return list;
}

List random_list(std::size_t n, double share, std::uint32_t step) {
  List list;
  const RandomStream stream{.seed = 3, .step = step};
  for (std::size_t e = 0; e < n; ++e)
    if (uniform(stream, e) < static_cast<float>(share))
      list.push_back(static_cast<std::uint32_t>(e));
  return list;
}

std::vector<std::pair<std::size_t, List>> lists() {
  std::vector<std::pair<std::size_t, List>> all = {
      {0, {}}, {1, {}}, {1, {0}}, {2, {1}}, {70000, {69999}}, {9, {0, 1, 2, 3, 4, 5, 6, 7, 8}}};
  for (const std::size_t n : {63u, 64u, 65u, 1000u, 30000u})
    for (const double share : {0.001, 0.02, 0.3, 0.7, 1.0})
      all.emplace_back(n, random_list(n, share, static_cast<std::uint32_t>(n)));
  List ends;  // the largest possible gaps
  for (std::uint32_t i = 0; i < 200; ++i) ends.push_back(i < 100 ? i : 199900 + (i - 100));
  all.emplace_back(200000, ends);
  all.emplace_back(std::size_t{1} << 31, List{0, 5, 2147483647u});
  return all;
}

}  // namespace

TEST_CASE("every index format gives back what it was given, in as many bytes as it said") {
  for (const auto& [n, list] : lists())
    for (const IndexFormat format : kAll) {
      if (format == IndexFormat::kBitmap && n > 1000000) continue;
      INFO(name_of(format) << " n " << n << " k " << list.size());
      REQUIRE(decoded(format, coded(format, list, n), n, list.size()) == list);
    }
}

TEST_CASE("index formats, by hand") {
  // DGC's example: indices 1 4 9, runs 1 2 4.
  CHECK(hex(coded(IndexFormat::kRuns16, {1, 4, 9}, 12)) == "010002000400");
  // 150000 = 2 * 65535 + 18930 (49f2 little-endian).
  CHECK(hex(coded(IndexFormat::kRuns16, {150000}, 200000)) == "fffffffff249");
  CHECK(hex(coded(IndexFormat::kRuns16, {65535}, 200000)) == "ffff0000");
  CHECK(hex(coded(IndexFormat::kRuns16, {65534}, 200000)) == "feff");
  // FastSGD's example: gaps 1 2 7 with w = 3: 00011 001 010 111 -> 0001 1001 0101 1100
  CHECK(hex(coded(IndexFormat::kDelta, {1, 4, 12}, 16)) == "195c");
  // STC's example without signs: b* = 2, gaps 1 2 3 6: 001 010 011 1010 -> 0010 1001 1101 0000
  CHECK(hex(coded(IndexFormat::kGolomb, {1, 4, 8, 15}, 20)) == "29d0");
  CHECK(hex(coded(IndexFormat::kGolombStored, {1, 4, 8, 15}, 20)) == "0229d0");
  // DHQC's example: bits 1 2 3 4 5 7.
  CHECK(hex(coded(IndexFormat::kBitmap, {1, 2, 3, 4, 5, 7}, 8)) == "be");
  // 3 bits each, LSB first: 1 + 4 * 8 + 6 * 64 = 1 + 32 + 384 = 417 = 0x1a1
  CHECK(hex(coded(IndexFormat::kPacked, {1, 4, 6}, 8)) == "a101");
  CHECK(hex(coded(IndexFormat::kU32, {1, 258}, 300)) == "0100000002010000");
}

TEST_CASE("the widths of packed indices are ceil(log2 n)") {
  CHECK(packed_index_width(1) == 0);
  CHECK(packed_index_width(2) == 1);
  CHECK(packed_index_width(8) == 3);
  CHECK(packed_index_width(9) == 4);
  CHECK(packed_index_width(std::size_t{1} << 32) == 32);
}

TEST_CASE("auto takes the smallest format, and no more than any bound") {
  for (const auto& [n, list] : lists()) {
    if (n > 1000000) continue;
    const IndexFormat best = resolve_index_format(IndexFormat::kAuto, list, n);
    for (const IndexFormat format : kAll)
      CHECK(index_bytes(best, list, n) <= index_bytes(format, list, n));
    CHECK(index_bytes(IndexFormat::kAuto, list, n) == index_bytes(best, list, n));
    CHECK(index_bytes(best, list, n) <= max_index_bytes(IndexFormat::kAuto, n, list.size()));
  }
  CHECK(resolve_index_format(IndexFormat::kAuto, random_list(5000, 0.5, 1), 5000) ==
        IndexFormat::kBitmap);
  CHECK(resolve_index_format(IndexFormat::kAuto, random_list(50000, 0.01, 1), 50000) ==
        IndexFormat::kGolomb);
}

TEST_CASE("the stored Golomb parameter is the best of all") {
  for (const auto& [n, list] : lists()) {
    if (list.empty()) continue;
    std::size_t least = ~std::size_t{0};
    for (std::uint32_t b = 0; b <= 31; ++b) {
      std::uint64_t bits = 0, next = 0;
      for (const std::uint32_t index : list) {
        bits += ((index - next) >> b) + b + 1;
        next = std::uint64_t{index} + 1;
      }
      least = std::min(least, static_cast<std::size_t>((bits + 7) / 8));
    }
    CHECK(index_bytes(IndexFormat::kGolombStored, list, n) == 1 + least);
  }
}

TEST_CASE("the names of index formats lead back to them") {
  for (const std::string& name : index_format_names())
    CHECK(name_of(index_format_named(name)) == name);
  CHECK(index_format_names().back() == "auto");
}

TEST_CASE("index readers refuse what no writer writes, naming the byte") {
  const auto refuse = [](IndexFormat format, const char* bytes, std::size_t n, std::size_t k,
                         const char* reason) {
    const auto payload = from_hex(bytes);
    List list(k);
    CHECK_THROWS_WITH(
        decode_indices(format, {.codec = "test", .payload = payload, .n = n, .k = k}, list),
        Contains("test payload") && Contains(reason));
  };
  refuse(IndexFormat::kU32, "0100000002", 9, 2, "within index 1 of 2");
  refuse(IndexFormat::kU32, "0500000005000000", 9, 2, "byte 4 begins an index out of order");
  refuse(IndexFormat::kU32, "0500000009000000", 9, 2, "byte 4 begins an index beyond the tensor");
  refuse(IndexFormat::kPacked, "ff", 7, 1, "byte 0 begins an index beyond the tensor");
  refuse(IndexFormat::kRuns16, "0100", 9, 2, "within index 1 of 2");
  refuse(IndexFormat::kRuns16, "01000900", 9, 2, "byte 2 begins an index beyond");
  refuse(IndexFormat::kRuns16, "ffffffffffff", 70000, 1, "byte 2 begins an index beyond");
  refuse(IndexFormat::kBitmap, "0f", 8, 3, "more than 3 bits");
  refuse(IndexFormat::kBitmap, "0f", 8, 5, "4 bits where 5");
  refuse(IndexFormat::kBitmap, "0f", 9, 4, "ends within");
  refuse(IndexFormat::kGolomb, "fffe00", 20, 4, "byte 0 begins an index beyond");
  refuse(IndexFormat::kGolomb, "29", 20, 4, "within index 2 of 4");
  refuse(IndexFormat::kGolombStored, "2029d0", 20, 4, "Golomb parameter above 31");
  refuse(IndexFormat::kGolombStored, "", 20, 4, "within index 0 of 4");
  refuse(IndexFormat::kDelta, "195c", 12, 3, "byte 1 begins an index beyond");
  refuse(IndexFormat::kDelta, "19", 16, 3, "within index 1 of 3");
}

TEST_CASE("a payload's byte names an index format that can hold the tensor") {
  const auto require = [](const char* payload, std::uint64_t n, IndexFormat expected) {
    const Layout<IndexFormatField> layout(IndexFormatField{{expected}});
    require_head("test", from_hex(payload), layout, {.n = n});
  };
  CHECK_NOTHROW(require("05", 5, IndexFormat::kAuto));
  CHECK_NOTHROW(require("05", 5, IndexFormat::kDelta));
  CHECK_THROWS_WITH(require("07", 5, IndexFormat::kAuto), Contains("byte 0 is 7, which names no"));
  CHECK_THROWS_WITH(require("", 5, IndexFormat::kAuto), Contains("header of 1"));
  CHECK_THROWS_WITH(require("05", std::uint64_t{1} << 32, IndexFormat::kAuto),
                    Contains("cannot hold"));
  CHECK_THROWS_WITH(require("05", 5, IndexFormat::kU32), Contains("another index format"));
}

TEST_CASE("index readers give ascending indices below n from any bytes, or refuse") {
  const RandomStream stream{.seed = 8};
  std::uint64_t draw = 0;
  const auto below = [&](std::uint32_t limit) { return philox_word(stream, draw++) % limit; };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const IndexFormat format = kAll[below(7)];
    const std::size_t n = below(300);
    const List list = random_list(n, 0.1 * below(11), static_cast<std::uint32_t>(round));
    auto bytes = coded(format, list, n);
    if (below(3) == 0) bytes.resize(below(static_cast<std::uint32_t>(bytes.size()) + 1));
    for (std::uint32_t edits = bytes.empty() ? 0 : below(3); edits > 0; --edits)
      bytes[below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1u << below(8));
    std::uint64_t next = 0;
    std::size_t visited = 0;
    try {
      walk_indices(format, {.codec = "test", .payload = bytes, .n = n, .k = list.size()},
                   [&](std::size_t i, std::uint32_t index) {
                     REQUIRE(i == visited++);
                     REQUIRE((index >= next && index < n));
                     next = std::uint64_t{index} + 1;
                   });
      CHECK(visited == list.size());
      ++accepted;
    } catch (const CodecError&) {
      ++refused;
    }
  }
  CHECK(accepted > 2000);
  CHECK(refused > 2000);
}
