#include "emulator/shaper/frame_queue.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::emulator {
namespace {

constexpr double kTurn = 1538;          // bytes on the wire
constexpr double kAround = 38;          // of them, that are none of the packet
constexpr std::int64_t kMost = 10'240;  // packets, as Linux's fq_codel

}  // namespace

FrameQueue::FrameQueue(const sim::CoDelTimes& times, double rate)
    : queue_(times, kTurn, kAround, kMost), rate_(rate) {}

std::deque<Passage>& FrameQueue::waiting_of(std::uint32_t flow) {
  const auto [place, is_new] = number_of_.try_emplace(flow, 0);
  if (is_new) place->second = queue_.add_flow();
  const auto number = static_cast<std::size_t>(place->second);
  if (waiting_.size() <= number) waiting_.resize(number + 1);
  return waiting_[number];
}

void FrameQueue::push(const Passage& frame, double time) {
  waiting_of(frame.flow).push_back(frame);
  sim::FairQueue::Packet packet;
  packet.came = time;
  packet.number = frame.frame;
  packet.wire = static_cast<std::int32_t>(frame.bytes);
  if (queue_.empty() && time > begins_) queue_.end_turns();
  queue_.push(number_of_.at(frame.flow), packet);
}

Passage FrameQueue::take(double now, double& departs, std::vector<Passage>& dropped) {
  sim::FairQueue::Passed passed;
  const bool waits = queue_.leave(now, passed);
  GRADWIRE_ASSERT(waits);
  begins_ = std::max(now, ends_);
  departs = ends_ = begins_ + passed.packet.wire / rate_;
  // A flow's frames leave in order: those before the one that passed were dropped.
  std::deque<Passage>& waiting = waiting_[static_cast<std::size_t>(passed.flow)];
  for (;;) {
    GRADWIRE_ASSERT(!waiting.empty());
    const Passage frame = waiting.front();
    waiting.pop_front();
    if (frame.frame == static_cast<std::uint32_t>(passed.packet.number)) return frame;
    dropped.push_back(frame);
  }
}

}  // namespace gradwire::emulator
