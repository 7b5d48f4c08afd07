#include "sim/flow/queues/fair_queue.h"

namespace gradwire::sim {
namespace {

constexpr int kMostDrops = 64;  // RFC 8290, 4.1: at a time, to make room

}  // namespace

std::int32_t FairQueue::add_flow() {
  Flow& added = flows_.emplace_back();
  added.codel.times = times_;
  added.codel.by_steps = true;
  return static_cast<std::int32_t>(flows_.size()) - 1;
}

void FairQueue::push(std::int32_t f, const Packet& packet) {
  if (limit_ > 0) {
    if (filled_ + packet.wire - framing_ > limit_) return;
    filled_ += packet.wire - framing_;
    order_.push({f, packet});
    ++waiting_;
    return;
  }
  Flow& to = flow(f);
  to.packets.push(packet);
  to.bytes += packet.wire - framing_;
  note_bytes(to);
  ++waiting_;
  if (to.state == State::kInactive) {
    to.state = State::kNew;
    to.deficit = quantum_;
    new_.push(f);
  }
  if (waiting_ > most_) make_room();
}

void FairQueue::end_turns() {
  most_bytes_.forget();
  for (auto* const list : {&new_, &old_})
    for (; !list->empty(); list->pop()) {
      flow(list->front()).state = State::kInactive;
      flow(list->front()).codel.leave();
    }
}

FairQueue::Packet FairQueue::take_first(Flow& of) {
  const Packet first = of.packets.front();
  of.packets.pop();
  of.bytes -= first.wire - framing_;
  note_bytes(of);
  --waiting_;
  return first;
}

void FairQueue::make_room() {
  if (most_bytes_.room() < flows_.size()) {
    most_bytes_.keep(flows_.size());
    for (const Flow& each : flows_) note_bytes(each);
  }
  Flow& longest = flows_[most_bytes_.first()];
  const double half = longest.bytes / 2;
  for (int i = 0; i < kMostDrops && longest.bytes > half; ++i) take_first(longest);
}

/// False: the flow has none.
bool FairQueue::take_of(Flow& of, double now, Packet& packet) {
  while (!of.packets.empty()) {
    packet = take_first(of);
    if (of.bytes < kLeastBehind) {
      of.codel.leave();
      return true;
    }
    if (!of.codel.drops(now, now - packet.came)) return true;
  }
  of.codel.leave();
  return false;
}

bool FairQueue::leave(double now, Passed& passed) {
  if (waiting_ == 0) {
    if (limit_ <= 0) end_turns();
    return false;
  }
  if (limit_ <= 0) {
    passed = take_by_turns(now);
    return true;
  }
  passed = order_.front();
  order_.pop();
  filled_ -= passed.packet.wire - framing_;
  --waiting_;
  return true;
}

FairQueue::Passed FairQueue::take_by_turns(double now) {
  Passed passed;
  for (;;) {
    const bool is_new = !new_.empty();
    auto& list = is_new ? new_ : old_;
    const std::int32_t f = list.front();
    Flow& of = flow(f);
    const bool has_turn = of.deficit > 0;
    if (has_turn && take_of(of, now, passed.packet)) {
      passed.flow = f;
      of.deficit -= passed.packet.wire - framing_;
      return passed;
    }
    // Its turn is over. One without packets stays for a round if it was new, so that it cannot
    // be new again before the others have had their turns.
    list.pop();
    if (!has_turn) of.deficit += quantum_;
    of.state = has_turn && !is_new ? State::kInactive : State::kOld;
    if (of.state == State::kOld) old_.push(f);
  }
}

}  // namespace gradwire::sim
