#pragma once

/// How close rates are equal, in all parts of the max-min solver.
namespace gradwire::sim {

/// Shares this close are equal: far above rounding (1e-16 a step), far below anything that matters.
inline constexpr double kEqualShares = 1e-12;
/// A channel whose rates sum up to its capacity within this part of it is full.
inline constexpr double kFull = 1e-9;

}  // namespace gradwire::sim
