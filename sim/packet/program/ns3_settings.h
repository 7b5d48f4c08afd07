// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include "sim/session/executor.h"

namespace gradwire::sim {

/// Sets ns-3's defaults (global) to the transport of `options` and seeds its random numbers.
/// Beside what TransportSettings names: selective acknowledgements, timestamps, window scaling and
/// proportional rate reduction are on, Nagle's algorithm is off, an acknowledgement is sent for two
/// segments, and a connection gives up after 15 timeouts in a row, all as on Linux.
void apply_settings(const ExecutorOptions& options);

}  // namespace gradwire::sim
