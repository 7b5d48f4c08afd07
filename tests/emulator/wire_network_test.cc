#include <catch2/catch.hpp>

#include "emulator/lab/lab.h"
#include "emulator/shaper/addresses.h"
#include "emulator/shaper/lateness.h"
#include "emulator/shaper/wire_network.h"

namespace gradwire::emulator {
namespace {

/// 1,000,000 bytes a second, 10 ms, a queue of `limit` bytes.
WireNetwork::Channel slow_channel(double limit, double loss = 0) {
  return {1e6, 0.010, loss, {0, 0}, limit};
}

TEST_CASE("A frame waits, is sent, and flies on each channel of its route") {
  WireNetwork network({slow_channel(1e6), {2e6, 0.001, 0, {0, 0}, 1e6}}, {{0, 1}}, 1);
  network.enter(7, 1000, 0, 0.5);
  network.enter(8, 1000, 0, 0.5);
  // First channel: 1 ms each, then 10 ms: 0.511 and 0.512. Second: 0.5 ms, then 1 ms: the second
  // one finds it free again (0.5115 < 0.512).
  std::vector<WireNetwork::Exit> exits;
  network.advance(0.5124, exits);
  CHECK(exits.empty());
  network.advance(0.6, exits);
  REQUIRE(exits.size() == 2);
  CHECK(exits[0].frame == 7);
  CHECK(exits[0].time == Approx(0.5 + 0.001 + 0.010 + 0.0005 + 0.001));
  CHECK(exits[1].frame == 8);
  CHECK(exits[1].time == Approx(0.5 + 0.002 + 0.010 + 0.0005 + 0.001));
  CHECK_FALSE(exits[0].lost);
}

TEST_CASE("A full queue drops the frame that finds no room") {
  // Room for 2,500 bytes, the one being sent included: of four at one instant two pass.
  WireNetwork network({slow_channel(2500)}, {{0}}, 1);
  for (std::uint32_t frame = 0; frame < 4; ++frame) network.enter(frame, 1000, 0, 0);
  std::vector<WireNetwork::Exit> exits;
  network.advance(1, exits);
  CHECK(network.counts().dropped == 2);
  CHECK(network.counts().left == 2);
  CHECK(network.counts().entered == 4);
}

TEST_CASE("Losses begin when they are asked for, and frames are conserved") {
  WireNetwork network({slow_channel(1e9, 0.1)}, {{0}}, 3);
  std::vector<WireNetwork::Exit> exits;
  for (std::uint32_t frame = 0; frame < 1000; ++frame) network.enter(frame, 100, 0, frame * 1e-3);
  network.advance(10, exits);
  CHECK(network.counts().lost == 0);
  network.set_live(true, 0);
  for (std::uint32_t frame = 0; frame < 1000; ++frame)
    network.enter(frame, 100, 0, 10 + frame * 1e-3);
  network.advance(30, exits);
  // Binomial of 1,000 at 0.1: 100, standard deviation 9.5; five of them.
  CHECK(std::abs(network.counts().lost - 100) < 48);
  CHECK(network.counts().entered ==
        network.counts().left + network.counts().lost + network.counts().dropped);
  CHECK(exits.size() == 2000);
}

TEST_CASE("Flows have queues of their own before a link whose queue has no size") {
  WireNetwork::Channel channel = slow_channel(0);
  channel.codel = {1, 2};  // s: nothing is dropped
  channel.fair = true;
  WireNetwork network({channel}, {{0}}, 1);
  // Ten frames of flow 1 are there when one of flow 2 comes.
  for (std::uint32_t frame = 0; frame < 10; ++frame) network.enter(frame, 1538, 0, 0, 1);
  network.enter(10, 1538, 0, 0.001, 2);
  std::vector<WireNetwork::Exit> exits;
  network.advance(1, exits);
  REQUIRE(exits.size() == 11);
  // 1.538 ms a frame. The first is on the wire and the second in the device's place behind it; the
  // new flow's goes next.
  CHECK(exits[0].time == Approx(0.001538 + 0.010));
  CHECK(exits[2].frame == 10);
  CHECK(exits[2].time == Approx(3 * 0.001538 + 0.010));
  CHECK(exits[10].time == Approx(11 * 0.001538 + 0.010));
  CHECK(network.channel(0).counts().busy == Approx(11 * 0.001538));
}

TEST_CASE("CoDel drops from the queue of a flow that stays long, and says which frames") {
  WireNetwork::Channel channel = slow_channel(0);
  channel.codel = {0.005, 0.1};
  channel.fair = true;
  WireNetwork network({channel}, {{0}}, 1);
  std::vector<WireNetwork::Exit> exits;
  // Ten per cent more than the link carries, for two seconds: 1,430 frames.
  for (std::uint32_t frame = 0; frame < 1430; ++frame)
    network.enter(frame, 1538, 0, frame * 1.538e-3 / 1.1, 1);
  network.advance(10, exits);
  CHECK(exits.size() == 1430);
  CHECK(network.counts().dropped > 5);
  CHECK(network.counts().dropped == network.channel(0).counts().dropped);
  CHECK(network.counts().left + network.counts().dropped == 1430);
}

TEST_CASE("Lateness: quantiles are the upper edges of bins of 2^(1/4)") {
  Lateness lateness;
  for (int i = 0; i < 99; ++i) lateness.add(10e-6);
  lateness.add(5e-3);
  CHECK(lateness.quantile(0.5) >= 10e-6);
  CHECK(lateness.quantile(0.5) <= 12e-6);  // 10 x 1.19
  CHECK(lateness.quantile(0.99) <= 12e-6);
  CHECK(lateness.quantile(1) == Approx(5e-3));
  CHECK(lateness.largest() == 5e-3);
}

TEST_CASE("The host a frame is for is in its IPv4 address") {
  std::byte frame[34]{};
  frame[30] = std::byte{10};
  frame[31] = std::byte{77};
  frame[32] = std::byte{2};
  frame[33] = std::byte{4};
  CHECK(destination_host(frame, sizeof frame) == 2 * 250 + 3);
  std::byte segment[60]{};
  segment[14] = std::byte{0x45};  // a header of 20 bytes
  CHECK(ports_of(segment, sizeof segment) == 0);
  segment[23] = std::byte{6};
  segment[35] = std::byte{7};
  segment[36] = std::byte{30};
  segment[37] = std::byte{20};
  CHECK(ports_of(segment, sizeof segment) == (7u << 16 | 30u << 8 | 20u));
  CHECK(ports_of(segment, 36) == 0);
  frame[31] = std::byte{78};
  CHECK(destination_host(frame, sizeof frame) == -1);
  CHECK(destination_host(frame, 20) == -1);
}

}  // namespace
}  // namespace gradwire::emulator
