// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <functional>

#include "sim/session/network.h"

namespace gradwire::sim {

/// What carries the transfers from one host to another, one after the other.
class HostConnection {
 public:
  /// Gets id, wire, retransmissions, failed and missing; whoever takes it fills in the time.
  using Report = std::function<void(const Delivery&)>;

  virtual ~HostConnection() = default;
  /// The peer could not be reached, or stopped answering for good: nothing will be delivered.
  virtual bool broken() const = 0;
  virtual void send(TransferId id, Bytes payload) = 0;
  /// Takes the transfer back; it is not reported. `spent` gets what was sent of it.
  virtual void cancel(TransferId id, Delivery& spent) = 0;
};

}  // namespace gradwire::sim
