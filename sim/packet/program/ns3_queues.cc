// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_queues.h"

#include <ns3/queue-size.h>
#include <ns3/string.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace gradwire::sim {
namespace {

constexpr double kCoDelTarget = 5e-3;     // s, ns-3's and Linux's default
constexpr double kCoDelInterval = 0.1;    // s
constexpr double kCoDelPackets = 100.25;  // TcpConstants::codel_segments
constexpr std::int64_t kLeastPackets = 10'240;
/// Of the hash's values. Queues are made as flows come: many cost nothing, and no two flows share
/// one. With ns-3's 1,024, as addresses and ports repeat, the same two of six always did.
constexpr std::uint32_t kQueues = 1u << 24;

}  // namespace

ns3::Ptr<ns3::QueueDisc> install_queue(ns3::Ptr<ns3::NetDevice> device, const LinkSpec& spec,
                                       BitsPerSecond rate, const TransportSettings& transport) {
  ns3::TrafficControlHelper helper;
  if (spec.queue.count() > 0) {
    helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize",
                            ns3::StringValue(std::to_string(spec.queue.count()) + "B"));
  } else {
    // Room for two bandwidth-delay products of a path of four such links, where that is more.
    const double segment = static_cast<double>(transport.wire_segment.count());
    const double product = rate.value() * spec.delay.value();
    const auto packets = std::max(kLeastPackets, static_cast<std::int64_t>(2 * product / segment));
    const double target = std::max(kCoDelTarget, kCoDelPackets * 8 * segment / rate.value());
    const double interval = std::max(kCoDelInterval, 2 * target);
    helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize",
                            ns3::StringValue(std::to_string(packets) + "p"), "Flows",
                            ns3::UintegerValue(kQueues), "Target",
                            ns3::StringValue(std::to_string(target) + "s"), "Interval",
                            ns3::StringValue(std::to_string(interval) + "s"));
  }
  return helper.Install(device).Get(0);
}

}  // namespace gradwire::sim
