// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <unordered_map>

#include "sim/packet/program/ns3_network.h"
#include "sim/session/session.h"

namespace gradwire::sim {

/// Answers requests (sim/packet/wire_format.h): one graph session on one ns-3 network.
class PacketServer {
 public:
  /// Called every few hundred packets with the session's time and the events run so far.
  using Progress = std::function<void(Seconds, std::uint64_t)>;
  explicit PacketServer(Progress progress) : progress_(std::move(progress)) {}

  nlohmann::json handle(const nlohmann::json& request);
  /// How long the parent waits for a sign of life.
  Seconds wall_limit() const { return wall_limit_; }

 private:
  nlohmann::json open(const nlohmann::json& fields);
  nlohmann::json submit(const nlohmann::json& fields);
  nlohmann::json advance(const nlohmann::json& fields);
  nlohmann::json statistics() const;
  nlohmann::json clock() const;

  Progress progress_;
  Seconds wall_limit_{120};
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Network> network_;
  Ns3Network* ns3_ = nullptr;  ///< network_, or what it adds background traffic to
  std::unique_ptr<GraphSession> session_;
  std::unordered_map<std::uint64_t, GraphPtr> templates_;
};

}  // namespace gradwire::sim
