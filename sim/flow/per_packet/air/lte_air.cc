#include "sim/flow/per_packet/air/lte_air.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/flow/per_packet/air/transport_blocks.h"

namespace gradwire::sim {
namespace {

constexpr double kSubframe = 1e-3;
// What is sent in a subframe is there just before the next one begins; up there is a symbol of
// sounding behind it. Between MAC and air lie 2 subframes of the base and 4 of a phone.
constexpr double kJustBefore = 1e-9;
constexpr double kSymbols = kSubframe / 14;
constexpr double kDownDelay = 3 * kSubframe - kJustBefore;
constexpr double kReportDelay = 5 * kSubframe;
constexpr double kGrantDelay = 2 * kSubframe + 3 * kSymbols;  // the control symbols of its subframe
constexpr double kUpDelay = 7 * kSubframe - kSymbols - kJustBefore;
constexpr double kMeanOver = 99;  // subframes
// A HARQ process down, until what it sent is acknowledged; nothing acknowledges what carried
// nothing.
constexpr double kProcessTime = 7e-3, kProcessTimeOut = 12e-3;
constexpr int kLeastBlocks = 3;
constexpr double kLeastUseful = 7;  // bytes
constexpr double kOverhead = 2;     // bytes of a transport block that schedulers leave for headers

// The core network's links, and what a packet has there beyond its length on a wire.
constexpr double kCoreRate = 1.25e9;  // bytes/s
constexpr double kCoreFraming = 4;

/// The scheduler has granted a transport block: of what it was told one thing is dealt with.
void deal_with(Rlc::Report& told, double bytes) {
  if (told.status > 0) {
    told.status = 0;
  } else if (told.unacknowledged > 0 && bytes >= told.unacknowledged) {
    told.unacknowledged = 0;
  } else {
    told.data = std::max(0.0, told.data - (bytes - kOverhead));
  }
}

}  // namespace

double lte::reported(double bytes) {
  constexpr std::size_t kSteps = 61;
  constexpr double kLeast = 10, kMost = 150e3;
  static const auto sizes = [] {
    std::array<double, kSteps + 1> made{};
    for (std::size_t i = 0; i <= kSteps; ++i)
      made[i] = std::ceil(kLeast * std::pow(kMost / kLeast, double(i) / kSteps) - 1e-6);
    made[58] = 93749;  // 93,479 in the standard; ns-3 has two digits the other way round
    return made;
  }();
  if (bytes <= 0) return 0;
  const auto found = std::ranges::lower_bound(sizes, bytes);
  return found == sizes.end() ? kMost : *found;
}

LteAir::LteAir(const Cell& cell, std::vector<const Link*> links, const RandomStream& draws)
    : cell_(cell), links_(std::move(links)), phones_(links_.size()), order_(links_.size()) {
  blocks_up_ = static_cast<int>(std::lround(cell.width < 2e6 ? 6 : cell.width / 200e3));
  group_ = blocks_up_ <= 10 ? 1 : blocks_up_ <= 26 ? 2 : blocks_up_ <= 63 ? 3 : 4;
  blocks_down_ = blocks_up_ / group_ * group_;
  std::vector<float> drawn;
  for (std::size_t i = 0; i < phones_.size(); ++i) {
    phones_[i].index_up = index_at(i, true, 0);
    phones_[i].index_down = index_at(i, false, 0);
    drawn.push_back(uniform(draws, i));
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return drawn[i]; });
}

/// Of the transport blocks whose 50 blocks carry what the scheme says; -1: out of range.
int LteAir::index_at(std::size_t phone, bool up, double now) const {
  constexpr double kOfBlocks = 50;
  const double rate = air_rate(cell_, distance_at(cell_.stations[phone], session(now)), up);
  const double bytes = rate * kSubframe / 8 / (up ? blocks_up_ : blocks_down_) * kOfBlocks;
  if (bytes <= 0) return -1;
  const auto nearest = std::ranges::min_element(lte::kTransportBlocks, {}, [&](const auto& row) {
    return std::abs(row[static_cast<std::size_t>(kOfBlocks) - 1] - bytes);
  });
  return static_cast<int>(nearest - lte::kTransportBlocks.begin());
}

/// Of so many resource blocks in a subframe; 0: it is out of range, or away.
double LteAir::block_bytes(std::size_t phone, bool up, int blocks, double now) const {
  if (outage(*links_[phone], now)) return 0;
  const bool moves = cell_.stations[phone].speed != 0;
  const int index = moves ? index_at(phone, up, now)
                    : up  ? phones_[phone].index_up
                          : phones_[phone].index_down;
  if (index < 0) return 0;
  return lte::kTransportBlocks[static_cast<std::size_t>(index)]
                              [static_cast<std::size_t>(blocks) - 1];
}

/// Whether it is out of range for ever.
bool LteAir::is_gone(std::size_t phone, double now) const {
  const RateSchedulePtr& up = links_[phone]->spec.schedule;
  return up && up->pieces().back().rate.value() <= 0 &&
         session(now) >= up->pieces().back().begin.value();
}

bool LteAir::push(double now, std::size_t station, bool up, AirPacket packet) {
  look_again();
  last_ = std::max(last_, now);
  Phone& phone = phones_[station];
  if (is_gone(station, now)) return false;
  if (up) return phone.own.push(now, packet);
  core_down_.enter(now, station, packet);
  return phone.base.has_room(packet);
}

void LteAir::Core::enter(double now, std::size_t phone, const AirPacket& packet) {
  const double link = (packet.wire + kCoreFraming) / kCoreRate;
  sends_until = std::max(sends_until, now) + link;
  crossing.push_back({sends_until + link, phone, packet});
}

/// What comes as a subframe begins is too late for it.
double LteAir::next_subframe() const {
  return (std::floor((last_ + kSameTime) / kSubframe) + 1) * kSubframe;
}

double LteAir::find_next_event() const {
  double next = kNever;
  for (const auto* list : {&reports_, &grants_, &ups_, &downs_})
    if (!list->empty()) next = std::min(next, list->front().time);
  next = std::min({next, core_up_.next_event(), core_down_.next_event()});
  bool works = false;
  for (std::size_t i = 0; i < phones_.size(); ++i) {
    const Phone& phone = phones_[i];
    if (is_gone(i, last_)) continue;
    works = works || phone.base.told().sum() > 0 || phone.own.has_news() || phone.known > 0;
    next = std::min({next, phone.base.next_event(), phone.own.next_event()});
  }
  return works ? std::min(next, next_subframe()) : next;
}

/// When the first of its processes is free.
double* LteAir::free_process(Phone& phone) {
  return std::ranges::min_element(phone.busy_until);
}

void LteAir::schedule_down(double now) {
  const double passed = std::max(1.0, std::round((now - last_subframe_) / kSubframe));
  const double kept = 1 - 1 / kMeanOver;
  const double decay = passed > 1 ? std::pow(kept, passed - 1) : 1;
  Phone* chosen = nullptr;
  double best = 0, granted = 0;
  for (const std::size_t i : order_) {
    Phone& phone = phones_[i];
    phone.mean *= decay;
    if (phone.base.told().sum() <= 0 || *free_process(phone) > now + kSameTime) continue;
    const double of_group = block_bytes(i, false, group_, now);
    if (of_group <= 0 || of_group / phone.mean <= best) continue;
    best = of_group / phone.mean;
    chosen = &phone;
    granted = block_bytes(i, false, blocks_down_, now);
  }
  for (Phone& phone : phones_) {
    phone.mean *= kept;
    if (&phone == chosen) phone.mean += granted / kSubframe / kMeanOver;
  }
  if (!chosen) return;
  busy_down_ += kSubframe;
  deal_with(chosen->base.told(), granted);
  Rlc::Pdu pdu = chosen->base.send(now, granted);
  *free_process(*chosen) = now + (pdu.is_nothing() ? kProcessTimeOut : kProcessTime);
  const auto number = static_cast<std::size_t>(chosen - phones_.data());
  if (!pdu.is_nothing()) downs_.push_back({now + kDownDelay, number, granted, std::move(pdu)});
}

void LteAir::schedule_up(double now) {
  const auto waits = [&](std::size_t i) {
    return phones_[i].known > 0 && block_bytes(i, true, kLeastBlocks, now) > 0;
  };
  int count = 0;
  for (std::size_t i = 0; i < phones_.size(); ++i) count += waits(i);
  if (count == 0) return;
  busy_up_ += kSubframe;
  const int each = std::max(kLeastBlocks, blocks_up_ / count);
  int left = blocks_up_;
  if (!next_phone_)
    next_phone_ = static_cast<std::size_t>(std::ranges::find_if(order_, waits) - order_.begin());
  const auto before = static_cast<std::ptrdiff_t>(grants_.size());
  std::size_t place = *next_phone_;
  for (std::size_t seen = 0; seen < phones_.size(); ++seen, place = (place + 1) % phones_.size()) {
    const std::size_t i = order_[place];
    if (!waits(i)) continue;
    const int blocks = std::min(each, left);
    if (blocks < kLeastBlocks) break;
    left -= blocks;
    const double bytes = block_bytes(i, true, blocks, now);
    phones_[i].known = std::max(0.0, phones_[i].known - (bytes - kOverhead));
    grants_.push_back({now + kGrantDelay, i, bytes});
    if (left > 0) continue;
    place = (place + 1) % phones_.size();
    break;
  }
  next_phone_ = place;
  // They use them in their own order, whoever was looked at first.
  std::ranges::sort(grants_.begin() + before, grants_.end(), {}, &Coming::phone);
}

/// A phone fills a transport block: its status report, and data.
void LteAir::use_grant(const Coming& grant) {
  Rlc& own = phones_[grant.phone].own;
  Rlc::Report& told = own.told();
  const double there = grant.time - kGrantDelay + kUpDelay;
  double bytes = grant.bytes;
  const auto send = [&](double size) {
    Rlc::Pdu pdu = own.send(grant.time, size);
    if (!pdu.is_nothing()) ups_.push_back({there, grant.phone, size, std::move(pdu)});
  };
  if (told.status > 0) {
    send(told.status);
    bytes -= told.status;
    told.status = 0;
  }
  if (bytes <= kLeastUseful) return;
  if (told.unacknowledged > 0) {
    send(bytes);
    told.unacknowledged = std::max(0.0, told.unacknowledged - bytes);
  } else if (told.data > 0) {
    send(bytes);
    told.data = std::max(0.0, told.data - (bytes - kOverhead));
  }
}

void LteAir::run_subframe(double now) {
  schedule_down(now);
  schedule_up(now);
  for (std::size_t i = 0; i < phones_.size(); ++i) {
    Rlc& own = phones_[i].own;
    if (own.take_news())
      reports_.push_back({now + kReportDelay, i, lte::reported(own.told().sum())});
  }
  last_subframe_ = now;
}

void LteAir::run(std::vector<AirPacket>& through) {
  const double now = next_event();
  look_again();
  last_ = std::max(last_, now);
  const auto is_due = [now](const auto& list) {
    return !list.empty() && list.front().time <= now + kSameTime;
  };
  // Timers were set before what comes at the same instant was sent.
  for (Phone& phone : phones_) {
    phone.base.run(now);
    phone.own.run(now);
  }
  for (; is_due(reports_); reports_.pop_front())
    phones_[reports_.front().phone].known = reports_.front().bytes;
  for (; is_due(ups_); ups_.pop_front()) {
    arrived_.clear();
    phones_[ups_.front().phone].base.receive(now, ups_.front().pdu, arrived_);
    for (const AirPacket& packet : arrived_) core_up_.enter(now, ups_.front().phone, packet);
  }
  for (auto& list = core_up_.crossing; is_due(list); list.pop_front())
    through.push_back(list.front().packet);
  for (auto& list = core_down_.crossing; is_due(list); list.pop_front())
    phones_[list.front().phone].base.push(now, list.front().packet);
  for (; is_due(downs_); downs_.pop_front())
    phones_[downs_.front().phone].own.receive(now, downs_.front().pdu, through);
  for (; is_due(grants_); grants_.pop_front()) use_grant(grants_.front());
  const double subframe = std::round(now / kSubframe) * kSubframe;
  if (std::abs(now - subframe) < kSameTime && now > last_subframe_ + kSubframe / 2)
    run_subframe(now);
}

}  // namespace gradwire::sim
