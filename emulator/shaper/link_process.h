#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "emulator/shaper/lateness.h"
#include "emulator/shaper/packet_socket.h"
#include "emulator/shaper/wire_network.h"

/// The links between emulated hosts: a thread that takes frames from the hosts' devices, asks a
/// WireNetwork when they would arrive, and hands them over then. Frames count from the instant at
/// which the kernel had them, so that a thread that wakes late delays nothing by it while delays of
/// links are longer than that.
namespace gradwire::emulator {

class LinkProcess {
 public:
  /// Until something is due: awake for the last microseconds, which is exact and takes a processor
  /// (and a real-time process that takes all of one is stopped by the kernel for a twentieth of
  /// each second); or asleep for a while each time, so that frames come and go in small batches.
  enum class Patience : std::uint8_t { kAwake, kAsleep };

  struct Report {
    Lateness lateness;
    WireNetwork::Counts counts;
    std::vector<WireChannel::Counts> channels;
    std::int64_t missed = 0;  ///< frames that the socket had no room for, either way
    /// Frames over a Mahimahi trace that left after the next millisecond's opportunity.
    std::int64_t missed_opportunities = 0;
  };

  /// `devices`: interface index of the way to each host; `route_of`[source * hosts + destination]:
  /// its route in `network`, or -1. Starts the thread.
  LinkProcess(PacketSocket socket, std::vector<int> devices, std::vector<std::int32_t> route_of,
              WireNetwork network, Patience patience);
  LinkProcess(const LinkProcess&) = delete;  // its thread refers to it
  LinkProcess& operator=(const LinkProcess&) = delete;
  ~LinkProcess();

  /// Links are as their plan says (WireChannel::set_live), `epoch` (CLOCK_MONOTONIC, s) being time
  /// 0 of their schedules, and lateness counts; or they are calm again. The first call forgets how
  /// late frames were before.
  void set_live(bool live, double epoch);
  /// s: the largest lateness of a frame since this was asked last.
  double take_worst() { return worst_.exchange(0); }
  /// What was seen so far. Throws what the thread threw.
  Report report();
  /// Stops the thread. Throws what it threw.
  Report finish();

 private:
  void work();
  void note_lateness(const WireNetwork::Exit& exit);
  Report report_now();
  bool take();
  void enter(std::uint32_t frame, const PacketSocket::Received& received);
  void hand_over();
  void wait();
  void wait_awake(double rest) const;
  void wait_asleep(double rest) const;
  std::uint32_t free_frame();
  std::byte* bytes_of(std::uint32_t frame) {
    return room_[frame / kBlock].get() + (frame % kBlock) * PacketSocket::kFrameBytes;
  }

  static constexpr std::uint32_t kBlock = 1024;  ///< frames that are allocated together

  PacketSocket socket_;
  std::vector<int> devices_;
  std::vector<int> host_of_;  ///< by interface index; -1: none
  std::vector<std::int32_t> route_of_;
  std::vector<int> destination_of_;  ///< device, by route
  WireNetwork network_;
  Patience patience_;
  double start_ = 0;  ///< CLOCK_MONOTONIC of the network's time 0

  std::vector<std::unique_ptr<std::byte[]>> room_;
  std::vector<std::uint16_t> size_;  ///< by frame, header included
  std::vector<std::uint32_t> free_;
  std::vector<WireNetwork::Exit> exits_;
  std::vector<PacketSocket::Received> received_;

  std::mutex mutex_;  ///< the thread has it while it works
  Report report_;
  bool live_ = false;
  bool begun_ = false;
  std::exception_ptr failure_;
  std::atomic<double> worst_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace gradwire::emulator
