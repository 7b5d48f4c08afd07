// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/ipv4.h>
#include <ns3/node.h>
#include <ns3/packet.h>
#include <ns3/queue-disc.h>
#include <ns3/tcp-header.h>

#include <array>
#include <cstdint>
#include <map>

#include "sim/packet/segment_books.h"

namespace gradwire::sim {

/// Which bytes of a stream have been seen.
class ByteRanges {
 public:
  /// Marks [begin, end) as seen. Returns how many bytes of it had not been.
  std::int64_t add(std::int64_t begin, std::int64_t end);
  /// All bytes before this one have been seen.
  std::int64_t contiguous() const;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  ///< begin to end, apart
};

/// Place in its stream, whose first byte has sequence number 1, of a segment that is not farther
/// than 2 GiB from `near`; numbers wrap after 4 GiB.
std::int64_t stream_offset(const ns3::TcpHeader& header, std::int64_t near);

/// Keeps the books of segments. Bytes of a segment that are partly new count in both columns, the
/// segment itself as new.
class SegmentLedger {
 public:
  /// Packets that enter and leave the node's links.
  void watch(ns3::Ptr<ns3::Node> node);
  void watch(ns3::Ptr<ns3::QueueDisc> queue);
  /// A link dropped a packet; `header`: bytes before its IP header.
  void lost(ns3::Ptr<const ns3::Packet> packet, std::uint32_t header);
  /// A socket sent `length` bytes, the last `fresh` of them for the first time.
  void sent(std::int64_t length, std::int64_t fresh);

  const SegmentBooks& books() const { return books_; }

 private:
  void entered(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4> ipv4, std::uint32_t);
  void left(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4> ipv4, std::uint32_t);
  void delivered(const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet, std::uint32_t);
  void dropped(ns3::Ptr<const ns3::QueueDiscItem> item);

  /// Addresses and ports, source first.
  using Stream = std::array<std::uint32_t, 3>;
  std::map<Stream, ByteRanges> arrived_;
  SegmentBooks books_;
};

}  // namespace gradwire::sim
