#include "emulator/shaper/link_process.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/shaper/addresses.h"

namespace gradwire::emulator {
namespace {

constexpr double kSpin = 30e-6;  // s: a wake-up takes about as long
constexpr double kNap = 30e-6;
constexpr double kPatience = 50e-3;  // s: between looks at stop_
/// What Ethernet adds to a frame: preamble 8, check sequence 4, gap 12.
constexpr double kOnTheWire = 24;
constexpr std::size_t kLeastFrame = 60;
constexpr double kOpportunity = 1e-3;  // s from one to the next

timespec time_of(double seconds) {
  timespec time{};
  time.tv_nsec = static_cast<long>(seconds * 1e9);
  return time;
}

/// Until the socket has something, for less than a second. No time at all: not even a look.
void poll_for(int socket, double seconds) {
  if (seconds <= 0) return;
  const timespec time = time_of(seconds);
  pollfd polled{socket, POLLIN, 0};
  ::ppoll(&polled, 1, &time, nullptr);
}

void sleep_for(double seconds) {
  const timespec time = time_of(seconds);
  ::nanosleep(&time, nullptr);
}

}  // namespace

LinkProcess::LinkProcess(PacketSocket socket, std::vector<int> devices,
                         std::vector<std::int32_t> route_of, WireNetwork network, Patience patience)
    : socket_(std::move(socket)),
      devices_(std::move(devices)),
      route_of_(std::move(route_of)),
      network_(std::move(network)),
      patience_(patience),
      start_(monotonic_now().value()),
      received_(PacketSocket::kBatch) {
  for (std::size_t host = 0; host < devices_.size(); ++host) {
    const auto device = static_cast<std::size_t>(devices_[host]);
    if (host_of_.size() <= device) host_of_.resize(device + 1, -1);
    host_of_[device] = static_cast<int>(host);
  }
  const std::size_t hosts = devices_.size();
  for (std::size_t pair = 0; pair < route_of_.size(); ++pair) {
    if (route_of_[pair] < 0) continue;
    const auto route = static_cast<std::size_t>(route_of_[pair]);
    if (destination_of_.size() <= route) destination_of_.resize(route + 1, -1);
    destination_of_[route] = devices_[pair % hosts];
  }
  thread_ = std::thread([this] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  });
}

LinkProcess::~LinkProcess() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void LinkProcess::set_live(bool live, double epoch) {
  const std::lock_guard lock(mutex_);
  network_.set_live(live, epoch - start_);
  live_ = live;
  if (!live || std::exchange(begun_, true)) return;
  report_.lateness = {};
  report_.missed_opportunities = 0;
}

LinkProcess::Report LinkProcess::report_now() {
  if (failure_) std::rethrow_exception(failure_);
  Report report = report_;
  report.counts = network_.counts();
  report.missed += socket_.missed();
  for (std::size_t id = 0; id < network_.channels(); ++id)
    report.channels.push_back(network_.channel(id).counts());
  return report;
}

LinkProcess::Report LinkProcess::report() {
  const std::lock_guard lock(mutex_);
  return report_now();
}

LinkProcess::Report LinkProcess::finish() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return report_now();
}

void LinkProcess::work() {
  sharpen_timers();
  while (!stop_) {
    {
      const std::lock_guard lock(mutex_);
      while (take()) hand_over();
      hand_over();
    }
    wait();
  }
}

std::uint32_t LinkProcess::free_frame() {
  if (free_.empty()) {
    const auto first = static_cast<std::uint32_t>(room_.size()) * kBlock;
    room_.push_back(std::make_unique<std::byte[]>(kBlock * PacketSocket::kFrameBytes));
    size_.resize(first + kBlock);
    for (std::uint32_t i = kBlock; i-- > 0;) free_.push_back(first + i);
  }
  const std::uint32_t frame = free_.back();
  free_.pop_back();
  return frame;
}

/// Takes what has come, a batch at most. Whether there may be more.
bool LinkProcess::take() {
  std::uint32_t frames[PacketSocket::kBatch];
  std::byte* bytes[PacketSocket::kBatch];
  for (int i = 0; i < PacketSocket::kBatch; ++i) {
    frames[i] = free_frame();
    bytes[i] = bytes_of(frames[i]);
  }
  const int count = socket_.receive(bytes, received_);
  for (int i = 0; i < PacketSocket::kBatch; ++i) {
    if (i < count)
      enter(frames[i], received_[static_cast<std::size_t>(i)]);
    else
      free_.push_back(frames[i]);
  }
  return count == PacketSocket::kBatch;
}

void LinkProcess::enter(std::uint32_t frame, const PacketSocket::Received& received) {
  if (received.truncated)
    throw Error(ErrorKind::kCapability, "carry", "a frame of an emulated host",
                "its device was to cut it into segments", "the kernel ignores ETHTOOL_STSO");
  const auto device = static_cast<std::size_t>(received.device);
  const int source = device < host_of_.size() ? host_of_[device] : -1;
  const std::byte* packet = bytes_of(frame) + PacketSocket::kHeader;
  const std::size_t length = received.bytes - PacketSocket::kHeader;
  const int destination = destination_host(packet, length);
  const auto hosts = static_cast<int>(devices_.size());
  if (source < 0 || destination < 0 || destination >= hosts ||
      route_of_[static_cast<std::size_t>(source * hosts + destination)] < 0) {
    free_.push_back(frame);
    return;
  }
  size_[frame] = static_cast<std::uint16_t>(received.bytes);
  const std::size_t bytes = std::max(received.bytes - PacketSocket::kHeader, kLeastFrame);
  const std::int32_t route = route_of_[static_cast<std::size_t>(source * hosts + destination)];
  // Odd, so that all bits of the route count.
  const std::uint32_t flow =
      ports_of(packet, length) ^ (static_cast<std::uint32_t>(route) * 0x9E3779B1u);
  network_.enter(frame, static_cast<double>(bytes) + kOnTheWire, route, received.time - start_,
                 flow);
}

void LinkProcess::hand_over() {
  exits_.clear();
  network_.advance(monotonic_now().value() - start_, exits_);
  for (const WireNetwork::Exit& exit : exits_) {
    if (!exit.lost) {
      note_lateness(exit);
      if (!socket_.send(destination_of_[static_cast<std::size_t>(exit.route)], bytes_of(exit.frame),
                        size_[exit.frame]))
        ++report_.missed;
    }
    free_.push_back(exit.frame);
  }
}

void LinkProcess::note_lateness(const WireNetwork::Exit& exit) {
  const double late = monotonic_now().value() - start_ - exit.time;
  if (late > worst_) worst_ = late;
  if (!live_) return;
  report_.lateness.add(late);
  if (late > kOpportunity && network_.follows_trace(exit.route)) ++report_.missed_opportunities;
}

/// Until a frame comes or is due.
void LinkProcess::wait() {
  const double rest = network_.next_event() - (monotonic_now().value() - start_);
  if (rest <= 0) return;
  patience_ == Patience::kAwake ? wait_awake(rest) : wait_asleep(rest);
}

void LinkProcess::wait_awake(double rest) const {
  poll_for(socket_.descriptor(), std::min(kPatience, rest - kSpin));
}

/// Frames bear the kernel's stamps, and are on their way for longer than this: they need not be
/// taken as they come.
void LinkProcess::wait_asleep(double rest) const {
  const bool idle = rest > kPatience;
  if (!idle) sleep_for(kNap);
  poll_for(socket_.descriptor(), std::min(kPatience, rest - (idle ? 0 : kNap)));
}

}  // namespace gradwire::emulator
