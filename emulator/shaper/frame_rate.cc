#include "emulator/shaper/frame_rate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "emulator/clock.h"

namespace gradwire::emulator {
namespace {

constexpr int kRounds = 5;
constexpr int kBursts = 20;   // a round
constexpr int kFrames = 128;  // a burst
constexpr std::size_t kProbeBytes = 1514;
constexpr double kProbePatience = 20e-3;  // s
constexpr auto kBetween = std::chrono::milliseconds(5);

/// An Ethernet frame of IPv4 to nobody.
std::vector<std::byte> probe_frame() {
  std::vector<std::byte> frame(PacketSocket::kHeader + kProbeBytes);
  for (std::size_t i = 0; i < 12; ++i) frame[PacketSocket::kHeader + i] = std::byte{2};
  frame[PacketSocket::kHeader + 12] = std::byte{8};
  return frame;
}

/// s from the first frame's sending to the last one's arrival; 0: some did not come.
double time_burst(PacketSocket& socket, int device, int peer, const std::vector<std::byte>& frame) {
  std::vector<std::byte> room(PacketSocket::kBatch * PacketSocket::kFrameBytes);
  std::array<std::byte*, PacketSocket::kBatch> frames;
  for (std::size_t i = 0; i < frames.size(); ++i)
    frames[i] = room.data() + i * PacketSocket::kFrameBytes;
  std::array<PacketSocket::Received, PacketSocket::kBatch> received;
  const double begin = monotonic_now().value();
  for (int i = 0; i < kFrames; ++i) socket.send(device, frame.data(), frame.size());
  for (int missing = kFrames; missing > 0;) {
    const int count = socket.receive(frames, received);
    for (int i = 0; i < count; ++i)
      missing -= received[static_cast<std::size_t>(i)].device == peer ? 1 : 0;
    if (count == 0 && monotonic_now().value() > begin + kProbePatience) return 0;
  }
  return monotonic_now().value() - begin;
}

/// Frames a second of a round; 0: none came.
double round_rate(PacketSocket& socket, int device, int peer, const std::vector<std::byte>& frame) {
  std::vector<double> rates;
  for (int burst = 0; burst < kBursts; ++burst)
    if (const double time = time_burst(socket, device, peer, frame); time > 0)
      rates.push_back(kFrames / time);
  if (rates.empty()) return 0;
  // The median: what it holds most of the time, beside whatever else runs here.
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2),
                   rates.end());
  return rates[rates.size() / 2];
}

}  // namespace

double measure_frame_rate(PacketSocket& socket, int device, int peer) {
  const std::vector<std::byte> frame = probe_frame();
  // A round is some milliseconds: a machine that stands still for a moment spoils one, not all.
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) std::this_thread::sleep_for(kBetween);
    best = std::max(best, round_rate(socket, device, peer, frame));
  }
  return best;
}

}  // namespace gradwire::emulator
