#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"

/// Frames of all Ethernet devices of one network namespace, through one AF_PACKET socket. They
/// carry a virtio header, so that checksums that the kernel left open stay so on the way.
namespace gradwire::emulator {

class PacketSocket {
 public:
  static constexpr std::size_t kFrameBytes = 2048;  ///< room of a frame, header included
  static constexpr std::size_t kHeader = 10;        ///< virtio_net_hdr
  static constexpr int kBatch = 32;

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
  struct Batch;
  struct Free {
    void operator()(Batch* batch) const;
  };

  FileDescriptor socket_;
  double realtime_offset_ = 0;  ///< s: CLOCK_REALTIME - CLOCK_MONOTONIC
  std::unique_ptr<Batch, Free> batch_;
  std::int64_t missed_ = 0;
};

}  // namespace gradwire::emulator
