#pragma once
#include <cstdint>
#include <span>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {

/// How much later than without jitter the last of `segments` arrives, s. They come `spacing`
/// apart, each delayed by an independent uniform draw of [0, jitter], but none before its
/// forerunner, so that the last one waits for the latest of all:
///     D = max over k of (U_k - k spacing),  k = 0 (the last) .. segments - 1
///     P(D <= y) = product over k of min(1, (y + k spacing) / jitter)
/// `u` in [0, 1) is the value of that distribution at which D is taken.
double jitter_of_last(double jitter, double spacing, double segments, double u);

/// How much later than without jitter the last of `segments` of the connection `key` arrives over
/// these channels, s; `number`: of that segment. Channels delay independently.
double jitter_of(const Cluster& cluster, std::span<const ChannelId> route, std::uint64_t seed,
                 std::uint64_t key, double spacing, double segments, std::uint64_t number);

}  // namespace gradwire::sim
