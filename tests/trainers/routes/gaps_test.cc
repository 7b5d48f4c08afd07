#include "trainers/routes/gaps.h"

#include <catch2/catch.hpp>

#include "tests/quantities.h"
#include "tests/trainers/routes/exchange_fixture.h"
#include "trainers/channel/framing.h"
#include "trainers/routes/sparse_sum.h"

namespace gradwire::trainers {
namespace {

template <class Range>
std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const std::vector<Range>& ranges) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const Range& range : ranges) pairs.emplace_back(range.first, range.first + range.count);
  return pairs;
}
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST_CASE("gaps join, are cut out of a message, and keep their share of another") {
  // [2, 5) and [8, 10) with [4, 8): one run from 2 to 10; [12, 13) stays apart.
  CHECK(pairs(joined(Gaps{{2, 3}, {8, 2}}, Gaps{{4, 4}, {12, 1}})) == Pairs{{2, 10}, {12, 13}});
  CHECK(pairs(joined(Gaps{{0, 9}}, Gaps{{1, 2}})) == Pairs{{0, 9}});
  CHECK(joined({}, {}).empty());
  // Bytes 4 to 8 of a message that lost 2 to 5 and 7 to 20.
  CHECK(pairs(within(Gaps{{2, 3}, {7, 13}}, 4, 4)) == Pairs{{0, 1}, {3, 4}});
  CHECK(within(Gaps{{2, 3}}, 5, 100).empty());
  // Of 10 bytes the third and fourth; of 15 bytes floor(3) to ceil(6); of 3, floor(0.6), ceil(1.2).
  CHECK(pairs(scaled(Gaps{{2, 2}}, 10, 15)) == Pairs{{3, 6}});
  CHECK(pairs(scaled(Gaps{{2, 2}}, 10, 3)) == Pairs{{0, 2}});
  CHECK(pairs(scaled(Gaps{{0, 10}}, 10, 7)) == Pairs{{0, 7}});
}

TEST_CASE("an element is lost if one of its bits is") {
  // Bytes [1, 2) are bits [8, 16).
  const Gaps gaps{{1, 1}};
  CHECK(pairs(touched_elements(gaps, 32, 9)) == Pairs{{0, 1}});
  CHECK(pairs(touched_elements(gaps, 8, 9)) == Pairs{{1, 2}});
  CHECK(pairs(touched_elements(gaps, 2, 9)) == Pairs{{4, 8}});
  CHECK(pairs(touched_elements(gaps, 2, 6)) == Pairs{{4, 6}});  // the rest is padding
  // At 3 bits element 2 is bits [6, 9), element 5 bits [15, 18).
  CHECK(pairs(touched_elements(gaps, 3, 9)) == Pairs{{2, 6}});
  // Neighbours that share an element become one run.
  CHECK(pairs(touched_elements(Gaps{{1, 1}, {3, 1}}, 32, 9)) == Pairs{{0, 1}});
}

std::vector<std::byte> two_payloads(std::size_t first, std::size_t second) {
  std::vector<std::byte> message;
  MessageWriter writer(message, first + second + 2 * kLengthBytes);
  for (const std::size_t size : {first, second})
    writer.add([&](std::span<std::byte>) { return size; });
  writer.finish();
  return message;
}

TEST_CASE("a lost length loses the rest of a message, unless it was known anyway") {
  // Lengths at bytes [0, 4) and [14, 18), payloads at [4, 14) and [18, 23).
  const auto message = two_payloads(10, 5);
  const auto read = [&](const Gaps& gaps, std::optional<std::size_t> usual) {
    MessageReader reader({message, gaps}, "test");
    std::vector<std::optional<Pairs>> found;
    for (int i = 0; i < 2; ++i) {
      const auto payload = reader.next("t", usual);
      found.push_back(payload ? std::optional(pairs(payload->gaps)) : std::nullopt);
    }
    return found;
  };
  using Found = std::vector<std::optional<Pairs>>;
  CHECK(read({}, {}) == Found{Pairs{}, Pairs{}});
  CHECK(read({{5, 2}}, {}) == Found{Pairs{{1, 3}}, Pairs{}});
  CHECK(read({{13, 7}}, {}) == Found{Pairs{{9, 10}}, std::nullopt});
  CHECK(read({{3, 1}}, {}) == Found{std::nullopt, std::nullopt});
  CHECK(read({{3, 2}}, 10) == Found{Pairs{{0, 1}}, Pairs{}});
}

TEST_CASE("of a server's sum, pairs and elements that arrived count") {
  std::vector<std::byte> message;
  std::vector<float> values(10);
  // Sparse: count at [0, 4), pairs (1, 2.0) at [4, 12) and (7, -3.0) at [12, 20).
  write_sum(std::vector<float>{0, 2, 0, 0, 0, 0, 0, -3, 0, 0}, message);
  REQUIRE(message.size() == 20);
  read_sum({message, {{11, 1}}}, 0.5f, values);
  CHECK(values == std::vector<float>{0, 0, 0, 0, 0, 0, 0, -1.5f, 0, 0});
  read_sum({message, {{3, 1}}}, 0.5f, values);
  CHECK(values == std::vector<float>(10));
  // Dense: elements at [4, 16); byte 11 is the second's last.
  values.resize(3);
  write_sum(std::vector<float>{1, 2, 3}, message);
  read_sum({message, {{11, 1}}}, 1.0f, values);
  CHECK(values == std::vector<float>{1, 0, 3});
}

}  // namespace
}  // namespace gradwire::trainers
