// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/segment_ledger.h"

#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-queue-disc-item.h>
#include <ns3/tcp-l4-protocol.h>

#include <algorithm>
#include <iterator>

namespace gradwire::sim {
namespace {

void count(SegmentCount& column, std::int64_t bytes, std::int64_t sign = 1) {
  if (bytes <= 0) return;
  column.segments += sign;
  column.bytes += sign * bytes;
}

/// Of a TCP packet whose IP header was taken off.
std::int64_t payload_of(const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet) {
  if (ip.GetProtocol() != ns3::TcpL4Protocol::PROT_NUMBER) return 0;
  ns3::TcpHeader tcp;
  packet->PeekHeader(tcp);
  return packet->GetSize() - 4 * static_cast<std::int64_t>(tcp.GetLength());
}

std::int64_t payload_of(ns3::Ptr<const ns3::Packet> packet) {
  const ns3::Ptr<ns3::Packet> copy = packet->Copy();
  ns3::Ipv4Header ip;
  copy->RemoveHeader(ip);
  return payload_of(ip, copy);
}

void split(SegmentCount& fresh_column, SegmentCount& old_column, std::int64_t length,
           std::int64_t fresh) {
  fresh_column.bytes += fresh;
  old_column.bytes += length - fresh;
  (fresh > 0 ? fresh_column : old_column).segments += 1;
}

}  // namespace

void SegmentLedger::watch(ns3::Ptr<ns3::Node> node) {
  const auto ip = node->GetObject<ns3::Ipv4L3Protocol>();
  ip->TraceConnectWithoutContext("Tx", ns3::MakeCallback(&SegmentLedger::entered, this));
  ip->TraceConnectWithoutContext("Rx", ns3::MakeCallback(&SegmentLedger::left, this));
  ip->TraceConnectWithoutContext("LocalDeliver",
                                 ns3::MakeCallback(&SegmentLedger::delivered, this));
}

void SegmentLedger::watch(ns3::Ptr<ns3::QueueDisc> queue) {
  queue->TraceConnectWithoutContext("Drop", ns3::MakeCallback(&SegmentLedger::dropped, this));
}

void SegmentLedger::entered(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>,
                            std::uint32_t) {
  count(books_.in_flight, payload_of(packet));
}

void SegmentLedger::left(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, std::uint32_t) {
  count(books_.in_flight, payload_of(packet), -1);
}

void SegmentLedger::dropped(ns3::Ptr<const ns3::QueueDiscItem> item) {
  const auto ip = ns3::DynamicCast<const ns3::Ipv4QueueDiscItem>(item);
  const std::int64_t payload = payload_of(ip->GetHeader(), ip->GetPacket());
  count(books_.lost_in_queues, payload);
  count(books_.in_flight, payload, -1);
}

void SegmentLedger::lost(ns3::Ptr<const ns3::Packet> packet, std::uint32_t header) {
  const ns3::Ptr<ns3::Packet> copy = packet->Copy();
  copy->RemoveAtStart(header);
  const std::int64_t payload = payload_of(copy);
  count(books_.lost_on_links, payload);
  count(books_.in_flight, payload, -1);
}

void SegmentLedger::sent(std::int64_t length, std::int64_t fresh) {
  split(books_.first, books_.again, length, fresh);
}

/// Sockets discard some copies before they count them: so here, where IP hands packets to TCP.
void SegmentLedger::delivered(const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet,
                              std::uint32_t) {
  const std::int64_t length = payload_of(ip, packet);
  if (length <= 0) return;
  ns3::TcpHeader tcp;
  packet->PeekHeader(tcp);
  const std::uint32_t ports = std::uint32_t{tcp.GetSourcePort()} << 16 | tcp.GetDestinationPort();
  ByteRanges& ranges = arrived_[{ip.GetSource().Get(), ip.GetDestination().Get(), ports}];
  const std::int64_t offset = stream_offset(tcp, ranges.contiguous());
  count(books_.arrived, length);
  split(books_.unique, books_.duplicate, length, ranges.add(offset, offset + length));
}

std::int64_t stream_offset(const ns3::TcpHeader& header, std::int64_t near) {
  const auto low = static_cast<std::uint32_t>(near + 1);
  return near + static_cast<std::int32_t>(header.GetSequenceNumber().GetValue() - low);
}

std::int64_t ByteRanges::add(std::int64_t begin, std::int64_t end) {
  auto next = ranges_.upper_bound(begin);
  if (next != ranges_.begin() && std::prev(next)->second >= begin) --next;
  std::int64_t fresh = end - begin, low = begin, high = end;
  while (next != ranges_.end() && next->first <= end) {
    const auto [known_begin, known_end] = *next;
    fresh -= std::max<std::int64_t>(std::min(known_end, end) - std::max(known_begin, begin), 0);
    low = std::min(low, known_begin);
    high = std::max(high, known_end);
    next = ranges_.erase(next);
  }
  ranges_[low] = high;
  return fresh;
}

std::int64_t ByteRanges::contiguous() const {
  const auto first = ranges_.begin();
  return first != ranges_.end() && first->first == 0 ? first->second : 0;
}

}  // namespace gradwire::sim
