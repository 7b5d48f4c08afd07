// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/net-device.h>
#include <ns3/queue-disc.h>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {

/// Installs the queue of one direction of a link in front of its device.
///
/// ns-3's default queue disc, FQ-CoDel (at least 10,240 packets), stands in front of a device queue
/// of one packet, much as byte queue limits keep it on Linux. ns-3's own device queue of 100
/// packets would make acknowledgements wait behind the host's data wherever both share a direction:
/// the first steps of a ring at 1 Gbps took 5-20 % longer by it. In its place CoDel's target is
/// max(5 ms, 100.25 full segments' time), its interval max(100 ms, 2 targets): on slow links, too,
/// up to 100 packets of a flow stand before any is dropped. `rate`: the link's, or its schedule's
/// mean. A link with an explicit `queue` has a drop-tail FIFO of that many bytes instead. Returns
/// the queue disc. Each flow has a queue of its own, as in `flow`'s model of it.
ns3::Ptr<ns3::QueueDisc> install_queue(ns3::Ptr<ns3::NetDevice> device, const LinkSpec& spec,
                                       BitsPerSecond rate, const TransportSettings& transport);

}  // namespace gradwire::sim
