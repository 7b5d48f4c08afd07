#include "emulator/shaper/packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "emulator/shaper/kernel_stamp.h"

namespace gradwire::emulator {
namespace {

constexpr unsigned kBlockBytes = 1 << 16;

void enable(const FileDescriptor& socket, int level, int option, const char* what) {
  const int on = 1;
  if (::setsockopt(socket.get(), level, option, &on, sizeof on) != 0)
    throw Error(ErrorKind::kCapability, "set", what, std::strerror(errno),
                "a Linux kernel of 4.20 or later is needed");
}

}  // namespace

PacketSocket::Ring::Ring(const FileDescriptor& socket) {
  const int version = TPACKET_V2;
  tpacket_req request{};
  request.tp_block_size = kBlockBytes;
  request.tp_frame_size = kFrameBytes;
  request.tp_frame_nr = kSlots;
  request.tp_block_nr = kSlots * kFrameBytes / kBlockBytes;
  const bool made =
      ::setsockopt(socket.get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) == 0 &&
      ::setsockopt(socket.get(), SOL_PACKET, PACKET_RX_RING, &request, sizeof request) == 0;
  void* memory = made ? ::mmap(nullptr, kSlots * kFrameBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                               socket.get(), 0)
                      : MAP_FAILED;
  if (memory == MAP_FAILED)
    throw Error(ErrorKind::kCapability, "make", "the ring of a packet socket",
                std::strerror(errno));
  memory_ = static_cast<std::byte*>(memory);
}

PacketSocket::Ring& PacketSocket::Ring::operator=(Ring&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

PacketSocket::Ring::~Ring() {
  if (memory_ != nullptr) ::munmap(memory_, kSlots * kFrameBytes);
}

FileDescriptor PacketSocket::open_socket() {
  FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!socket.valid())
    throw Error(ErrorKind::kCapability, "open", "a packet socket", std::strerror(errno),
                "it needs CAP_NET_RAW in its namespace");
  enable(socket, SOL_PACKET, PACKET_VNET_HDR, "PACKET_VNET_HDR");
  enable(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING");
  stamp_arrivals(socket.get());
  const int on = 1;
  ::setsockopt(socket.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
  return socket;
}

PacketSocket::PacketSocket()
    : socket_(open_socket()), realtime_offset_(realtime_offset()), ring_(socket_) {
  // Of all devices, from now on: nothing came while there was no ring.
  sockaddr_ll all{};
  all.sll_family = AF_PACKET;
  all.sll_protocol = htons(ETH_P_IP);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&all), sizeof all) != 0)
    throw system_error("bind", "a packet socket", errno);
}

int PacketSocket::receive(std::span<std::byte* const> frames, std::span<Received> received) {
  const std::size_t room = std::min<std::size_t>(frames.size(), kBatch);
  std::size_t count = 0;
  for (; count < room; ++count) {
    std::byte* const slot = ring_.slot(next_);
    auto& header = *reinterpret_cast<tpacket2_hdr*>(slot);
    std::atomic_ref<__u32> status(header.tp_status);
    if ((status.load(std::memory_order_acquire) & TP_STATUS_USER) == 0) break;
    const auto& from =
        *reinterpret_cast<const sockaddr_ll*>(slot + TPACKET_ALIGN(sizeof(tpacket2_hdr)));
    const std::size_t bytes = kHeader + header.tp_snaplen;
    const bool truncated = header.tp_snaplen < header.tp_len || bytes > kFrameBytes;
    if (!truncated) std::memcpy(frames[count], slot + header.tp_mac - kHeader, bytes);
    received[count] = {from.sll_ifindex, bytes,
                       header.tp_sec + 1e-9 * header.tp_nsec - realtime_offset_, truncated};
    status.store(TP_STATUS_KERNEL, std::memory_order_release);
    next_ = (next_ + 1) % kSlots;
  }
  return static_cast<int>(count);
}

bool PacketSocket::send(int device, const std::byte* frame, std::size_t bytes) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = device;
  address.sll_protocol = htons(ETH_P_IP);
  return ::sendto(socket_.get(), frame, bytes, 0, reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == static_cast<ssize_t>(bytes);
}

std::int64_t PacketSocket::missed() {
  tpacket_stats statistics{};
  socklen_t length = sizeof statistics;
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &length) == 0)
    missed_ += statistics.tp_drops;  // reading resets it
  return missed_;
}

}  // namespace gradwire::emulator
