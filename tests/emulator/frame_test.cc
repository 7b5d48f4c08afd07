#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "emulator/exchange/pattern.h"
#include "emulator/hub/frame.h"
#include "emulator/hub/graph_json.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

TEST_CASE("frames survive being cut anywhere", "[unit]") {
  const nlohmann::json first = {{"kind", "a"}, {"n", 7}};
  const nlohmann::json second = {{"kind", "b"}, {"text", std::string(300, 'x')}};
  std::vector<std::byte> stream = encode_frame(3, first);
  const std::vector<std::byte> more = encode_frame(kHub, second);
  stream.insert(stream.end(), more.begin(), more.end());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, stream.size()}) {
    FrameBuffer buffer;
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < stream.size(); i += piece) {
      buffer.append(std::span(stream).subspan(i, std::min(piece, stream.size() - i)));
      while (auto frame = buffer.next()) frames.push_back(*frame);
    }
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].address == 3);
    CHECK(frames[0].message() == first);
    CHECK(frames[1].address == kHub);
    CHECK(frames[1].message() == second);
    CHECK_FALSE(buffer.next());
  }
}

TEST_CASE("a stream that is no stream of frames is refused", "[unit]") {
  FrameBuffer buffer;
  buffer.append(std::vector<std::byte>(16, std::byte{0xFF}));
  CHECK_THROWS_AS(buffer.next(), Error);
}

TEST_CASE("a graph crosses a pipe unchanged", "[unit]") {
  sim::GraphBuilder builder;
  const auto compute = builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 1, "work");
  const sim::TransferMeaning meaning{{1, 2}, {3, 4}, sim::Action::kDecodeAdd, 9};
  const auto sent = builder.add_transfer(1, 0, "move", meaning, std::vector{compute});
  sim::CollectiveSpec spec;
  spec.kind = sim::CollectiveKind::kPush;
  spec.members = {0, 1};
  spec.server = 2;
  spec.width_bits = {8, 16};
  spec.hop_per_element = Seconds(1e-9);
  builder.add_collective(spec, "push", std::vector{sent});
  sim::CollectiveSpec gossip;
  gossip.kind = sim::CollectiveKind::kGossip;
  gossip.members = {0, 1};
  gossip.group = 3;
  gossip.window = 2;
  gossip.neighbour_begin = {0, 1, 1};
  gossip.neighbour = {1};
  builder.add_collective(gossip, "gossip");
  const sim::GraphPtr graph = builder.finish();
  const auto bytes = nlohmann::json::to_cbor(to_json(*graph));
  const sim::GraphPtr copy = graph_from_json(nlohmann::json::from_cbor(bytes));
  CHECK(copy->kind == graph->kind);
  CHECK(copy->lane == graph->lane);
  CHECK(copy->worker == graph->worker);
  CHECK(copy->peer == graph->peer);
  CHECK(copy->labels == graph->labels);
  CHECK(copy->dependency == graph->dependency);
  CHECK(copy->dependency_begin == graph->dependency_begin);
  CHECK(copy->bytes_begin == graph->bytes_begin);
  CHECK(copy->hosts == 3);
  CHECK(copy->meaning[sent].destination.count == 4);
  CHECK(copy->meaning[sent].action == sim::Action::kDecodeAdd);
  REQUIRE(copy->collectives.size() == 2);
  CHECK(copy->collectives[1].group == 3);
  CHECK(copy->collectives[1].window == 2);
  CHECK(copy->collectives[1].neighbour_begin == gossip.neighbour_begin);
  CHECK(copy->collectives[1].neighbour == gossip.neighbour);
  CHECK(copy->collectives[0].members == spec.members);
  CHECK(copy->collectives[0].width_bits == spec.width_bits);
  CHECK(copy->collectives[0].hop_per_element == spec.hop_per_element);
}

TEST_CASE("the pattern tells hops and shifts apart", "[unit]") {
  Pattern pattern;
  const auto slice = [&](std::size_t offset) {
    const auto bytes = pattern.slice(offset, 64);
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  for (std::size_t shift = 1; shift < 4096; ++shift) CHECK(slice(0) != slice(shift));
  sim::HopTransfer a, b;
  b.hop = 1;
  CHECK(pattern_offset(5, a) != pattern_offset(5, b));
  CHECK(pattern_offset(5, a) != pattern_offset(6, a));
  // A longer slice makes a longer table; earlier spans stay as they were.
  const auto early = pattern.slice(10, 100);
  const std::vector<std::byte> copy(early.begin(), early.end());
  const auto late = pattern.slice(10, 5'000'000);
  CHECK(std::equal(copy.begin(), copy.end(), early.begin()));
  CHECK(std::equal(copy.begin(), copy.end(), late.begin()));
}

}  // namespace
}  // namespace gradwire::emulator
