// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_settings.h"

#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/nstime.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/string.h>
#include <ns3/type-id.h>
#include <ns3/uinteger.h>

#include "base/error.h"

namespace gradwire::sim {
namespace {

std::string type_of(TransportSettings::CongestionControl control) {
  switch (control) {
    case TransportSettings::CongestionControl::kCubic:
      return "ns3::TcpCubic";
    case TransportSettings::CongestionControl::kReno:
      return "ns3::TcpLinuxReno";
    case TransportSettings::CongestionControl::kBbr:
      return "ns3::TcpBbr";
  }
  GRADWIRE_ASSERT(false);
}

void set_time(const std::string& name, Seconds value) {
  ns3::Config::SetDefault(name, ns3::TimeValue(ns3::Seconds(value.value())));
}

void set_count(const std::string& name, std::int64_t value) {
  ns3::Config::SetDefault(name, ns3::UintegerValue(static_cast<std::uint64_t>(value)));
}

void set_switch(const std::string& name, bool value) {
  ns3::Config::SetDefault(name, ns3::BooleanValue(value));
}

}  // namespace

void apply_settings(const ExecutorOptions& options) {
  const TransportSettings& transport = options.transport;
  ns3::Config::SetDefault(
      "ns3::TcpL4Protocol::SocketType",
      ns3::TypeIdValue(ns3::TypeId::LookupByName(type_of(transport.congestion_control))));
  set_count("ns3::TcpSocket::SegmentSize", transport.segment.count());
  set_count("ns3::TcpSocket::InitialCwnd", transport.initial_window);
  set_count("ns3::TcpSocket::SndBufSize", transport.buffer.count());
  set_count("ns3::TcpSocket::RcvBufSize", transport.buffer.count());
  set_count("ns3::TcpSocket::DelAckCount", 2);
  set_count("ns3::TcpSocket::DataRetries", 15);
  set_time("ns3::TcpSocket::DelAckTimeout", transport.delayed_ack);
  set_time("ns3::TcpSocket::ConnTimeout", transport.initial_rto);
  set_time("ns3::TcpSocketBase::MinRto", transport.min_rto);
  set_time("ns3::RttEstimator::InitialEstimation", transport.initial_rto);
  set_switch("ns3::TcpSocket::TcpNoDelay", true);
  set_switch("ns3::TcpSocketBase::Sack", true);
  set_switch("ns3::TcpSocketBase::Timestamp", true);
  set_switch("ns3::TcpSocketBase::WindowScaling", true);
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(options.seed);
}

}  // namespace gradwire::sim
