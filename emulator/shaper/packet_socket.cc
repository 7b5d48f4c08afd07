#include "emulator/shaper/packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "emulator/shaper/kernel_stamp.h"

namespace gradwire::emulator {
namespace {

constexpr int kReceiveBuffer = 32 << 20;

void enable(const FileDescriptor& socket, int level, int option, const char* what) {
  const int on = 1;
  if (::setsockopt(socket.get(), level, option, &on, sizeof on) != 0)
    throw Error(ErrorKind::kCapability, "set", what, std::strerror(errno),
                "a Linux kernel of 4.20 or later is needed");
}

}  // namespace

struct PacketSocket::Batch {
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> parts{};
  std::array<sockaddr_ll, kBatch> addresses{};
  std::array<std::array<char, 64>, kBatch> controls{};
};

void PacketSocket::Free::operator()(Batch* batch) const {
  delete batch;
}

PacketSocket::PacketSocket()
    : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP))),
      realtime_offset_(realtime_offset()),
      batch_(new Batch) {
  if (!socket_.valid())
    throw Error(ErrorKind::kCapability, "open", "a packet socket", std::strerror(errno),
                "it needs CAP_NET_RAW in its namespace");
  enable(socket_, SOL_PACKET, PACKET_VNET_HDR, "PACKET_VNET_HDR");
  enable(socket_, SOL_PACKET, PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING");
  stamp_arrivals(socket_.get());
  const int on = 1;
  ::setsockopt(socket_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
  // Beyond the system's limit as root alone; less room is as good while nothing is missed.
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer,
                   sizeof kReceiveBuffer) != 0)
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
}

int PacketSocket::receive(std::span<std::byte* const> frames, std::span<Received> received) {
  Batch& batch = *batch_;
  const std::size_t room = std::min<std::size_t>(frames.size(), kBatch);
  for (std::size_t i = 0; i < room; ++i) {
    batch.parts[i] = {frames[i], kFrameBytes};
    msghdr& header = batch.messages[i].msg_hdr;
    header = {};
    header.msg_name = &batch.addresses[i];
    header.msg_namelen = sizeof(sockaddr_ll);
    header.msg_iov = &batch.parts[i];
    header.msg_iovlen = 1;
    header.msg_control = batch.controls[i].data();
    header.msg_controllen = batch.controls[i].size();
  }
  const int count = ::recvmmsg(socket_.get(), batch.messages.data(), static_cast<unsigned>(room),
                               MSG_DONTWAIT, nullptr);
  for (int i = 0; i < count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const msghdr& header = batch.messages[n].msg_hdr;
    received[n] = {batch.addresses[n].sll_ifindex, batch.messages[n].msg_len,
                   stamp_of(header) - realtime_offset_, (header.msg_flags & MSG_TRUNC) != 0};
  }
  return std::max(count, 0);
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
