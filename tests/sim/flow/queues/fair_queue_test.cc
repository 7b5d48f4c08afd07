// FQ-CoDel packet by packet, against examples by hand.
#include "sim/flow/queues/fair_queue.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

using namespace gradwire::sim;

namespace {

constexpr double kRate = 1000;        // bytes a second
constexpr CoDelTimes kPatient{1, 1};  // s: nothing waits for so long

FairQueue::Packet packet(double came, std::int64_t number, std::int32_t wire = 100) {
  return {came, number, wire, 0};
}

struct Left {
  double time = 0;
  std::int32_t flow = 0;
  std::int64_t number = 0;
  double departure = 0;
};

/// The queue, and a device with a place behind the packet on the wire.
struct Device {
  FairQueue queue;
  double begun = -1;  ///< s: when the last one's time on the wire begins
  double ends = -1;

  void push(std::int32_t flow, const FairQueue::Packet& packet) {
    if (queue.empty() && packet.came > begun) queue.end_turns();
    queue.push(flow, packet);
  }
  /// All that leaves until `end`.
  std::vector<Left> run_until(double end, double now = 0) {
    std::vector<Left> left;
    while (!queue.empty() && begun <= end) {
      now = std::max(now, begun);
      FairQueue::Passed passed;
      queue.leave(now, passed);
      begun = std::max(now, ends);
      ends = begun + passed.packet.wire / kRate;
      left.push_back({now, passed.flow, passed.packet.number, ends});
    }
    return left;
  }
};

}  // namespace

TEST_CASE("Flows of a fair queue have turns, and one that comes is served next") {
  Device queue{FairQueue(kPatient, 100, 0, 1000)};
  const std::int32_t a = queue.queue.add_flow(), b = queue.queue.add_flow();
  for (int i = 0; i < 4; ++i) queue.push(a, packet(0, i));
  // The first is on the wire at once, the second in the place behind it.
  auto left = queue.run_until(0.05);
  REQUIRE(left.size() == 2);
  CHECK(left[0].departure == Approx(0.1));
  CHECK(left[1].time == 0);
  CHECK(left[1].departure == Approx(0.2));
  // Another flow comes: its first packet leaves next, when the second begins. The turn of the first
  // flow ends where it is looked at again, behind the other's second packet; then each has one.
  for (int i = 0; i < 3; ++i) queue.push(b, packet(0.05, i));
  left = queue.run_until(10, 0.05);
  REQUIRE(left.size() == 5);
  std::vector<std::int32_t> flows;
  for (const Left& each : left) flows.push_back(each.flow);
  CHECK(flows == std::vector<std::int32_t>{b, b, a, b, a});
  CHECK(left[0].time == Approx(0.1));
  CHECK(left[0].departure == Approx(0.3));
  CHECK(left[4].departure == Approx(0.7));
  CHECK(queue.queue.empty());
  // It has had its turn without a packet: it is new once more.
  for (int i = 4; i < 7; ++i) queue.push(a, packet(1, i));
  queue.run_until(1, 1);
  queue.push(b, packet(1.05, 3));
  CHECK(queue.run_until(1.1, 1.05).at(0).flow == b);
}

TEST_CASE("CoDel drops at the head of a flow's queue, but not its last packet's bytes") {
  // Packets of 2,000 B and 2 s. The first two leave at once, packet k after 2 (k - 1) s: 3 is the
  // first that has waited for 3 s, after 4 s; 5, which leaves after 8 s, is later than 3 s after
  // that.
  const CoDelTimes times{3, 3};
  Device queue{FairQueue(times, 2000, 0, 1000)};
  const std::int32_t a = queue.queue.add_flow();
  for (int i = 0; i < 8; ++i) queue.push(a, packet(0, i, 2000));
  const auto left = queue.run_until(100);
  REQUIRE(left.size() == 7);
  CHECK(left[4].number == 4);
  CHECK(left[5].number == 6);
  CHECK(left[5].departure == Approx(12));
  // Negative control: where 1,400 B are behind it nothing is dropped.
  Device other{FairQueue(times, 2000, 0, 1000)};
  const std::int32_t b = other.queue.add_flow();
  for (int i = 0; i < 6; ++i) other.push(b, packet(0, i, 2000));
  other.push(b, packet(0, 6, 1400));
  CHECK(other.run_until(100).size() == 7);
}

TEST_CASE("A full queue drops the first half of what the longest flow has") {
  Device queue{FairQueue(kPatient, 100, 0, 12)};
  const std::int32_t a = queue.queue.add_flow(), b = queue.queue.add_flow();
  for (int i = 0; i < 4; ++i) queue.push(a, packet(0, i));
  for (int i = 0; i < 8; ++i) queue.push(b, packet(0, i));
  queue.push(a, packet(0, 4));
  const auto left = queue.run_until(10);
  CHECK(std::ranges::count(left, a, &Left::flow) == 5);
  CHECK(std::ranges::count(left, b, &Left::flow) == 4);
}

TEST_CASE("With a limit packets leave in the order in which they came") {
  // Three of 100 B wait beside the one that the link takes at once; the next one finds no room.
  Device queue{FairQueue(kPatient, 100, 0, 1000)};
  queue.queue.set_limit(300);
  const std::int32_t a = queue.queue.add_flow(), b = queue.queue.add_flow();
  queue.push(a, packet(0, 0));
  auto left = queue.run_until(-1);
  queue.push(a, packet(0, 1));
  queue.push(b, packet(0, 0));
  queue.push(a, packet(0, 2));
  queue.push(b, packet(0, 1));
  std::ranges::move(queue.run_until(10), std::back_inserter(left));
  REQUIRE(left.size() == 4);
  std::vector<std::int32_t> flows;
  for (const Left& each : left) flows.push_back(each.flow);
  CHECK(flows == std::vector<std::int32_t>{a, a, b, a});
  CHECK(left[3].departure == Approx(0.4));
  // Once they are gone there is room again.
  queue.push(b, packet(1, 2));
  CHECK(queue.run_until(10, 1).size() == 1);
}

TEST_CASE("A link that has found its queue empty has ended all turns") {
  // The first flow has used up most of its turn of 150 B when the link asks for more, at the begin
  // of its packet's time: there is none. What it sends then is a new flow's, and goes before the
  // other flow's second packet.
  Device queue{FairQueue(kPatient, 150, 0, 1000)};
  const std::int32_t a = queue.queue.add_flow(), b = queue.queue.add_flow();
  queue.push(a, packet(0, 0));
  CHECK(queue.run_until(0.01).size() == 1);
  for (int i = 0; i < 3; ++i) queue.push(b, packet(0.02, i));
  queue.push(a, packet(0.03, 1));
  std::vector<std::int32_t> flows;
  for (const Left& each : queue.run_until(10, 0.1)) flows.push_back(each.flow);
  CHECK(flows == std::vector<std::int32_t>{b, b, a, b});
}
