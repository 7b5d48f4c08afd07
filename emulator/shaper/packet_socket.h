#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"

/// Frames of all Ethernet devices of one network namespace, through one AF_PACKET socket. They
/// carry a virtio header, so that checksums that the kernel left open stay so on the way. The
/// kernel puts them into a ring that it shares with the process (PACKET_RX_RING): hosts send all
/// that their windows allow at once, more than the system's limit on receive buffers has room for.
namespace gradwire::emulator {

class PacketSocket {
 public:
  static constexpr std::size_t kFrameBytes = 2048;  ///< room of a frame, header included
  static constexpr std::size_t kHeader = 10;        ///< virtio_net_hdr
  static constexpr int kBatch = 32;
  static constexpr std::size_t kSlots = 16'384;  ///< frames that wait to be taken

  struct Received {
    int device = 0;          ///< interface index
    std::size_t bytes = 0;   ///< header included
    double time = 0;         ///< CLOCK_MONOTONIC, s: when the kernel got it
    bool truncated = false;  ///< it was no frame of an MTU: segmentation was left to the device
  };

  /// Of the calling thread's namespace. Throws Error(kCapability) where that is forbidden.
  PacketSocket();

  int descriptor() const { return socket_.get(); }
  /// Fills frames[i] (kFrameBytes each, at most kBatch of them) without waiting; returns how many.
  int receive(std::span<std::byte* const> frames, std::span<Received> received);
  /// `bytes` with the header. False if the kernel had no room.
  bool send(int device, const std::byte* frame, std::size_t bytes);
  /// Frames that came while nobody read.
  std::int64_t missed();

 private:
  /// The ring, of kSlots slots of kFrameBytes. Unmapped with it.
  class Ring {
   public:
    /// Throws Error(kCapability) where the kernel has none.
    explicit Ring(const FileDescriptor& socket);
    Ring(Ring&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    Ring& operator=(Ring&& other) noexcept;
    ~Ring();
    std::byte* slot(std::size_t i) const { return memory_ + i * kFrameBytes; }

   private:
    std::byte* memory_ = nullptr;
  };

  static FileDescriptor open_socket();

  FileDescriptor socket_;
  double realtime_offset_ = 0;  ///< s: CLOCK_REALTIME - CLOCK_MONOTONIC
  Ring ring_;
  std::size_t next_ = 0;  ///< slot
  std::int64_t missed_ = 0;
};

}  // namespace gradwire::emulator
