#pragma once

namespace gradwire::sim {

/// How much later than without jitter the last of `segments` arrives, s. They come `spacing`
/// apart, each delayed by an independent uniform draw of [0, jitter], but none before its
/// forerunner, so that the last one waits for the latest of all:
///     D = max over k of (U_k - k spacing),  k = 0 (the last) .. segments - 1
///     P(D <= y) = product over k of min(1, (y + k spacing) / jitter)
/// `u` in [0, 1) is the value of that distribution at which D is taken.
double jitter_of_last(double jitter, double spacing, double segments, double u);

}  // namespace gradwire::sim
