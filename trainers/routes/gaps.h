#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/collective.h"
#include "sim/session/network.h"

/// What of a message's bytes has not arrived (udp-lossy).
namespace gradwire::trainers {

/// Ascending and apart.
using Gaps = std::vector<sim::ByteRange>;

/// Bytes that are in one or the other, or in both.
Gaps joined(std::span<const sim::ByteRange> a, std::span<const sim::ByteRange> b);

/// Those among bytes [first, first + count), counted from `first`.
Gaps within(std::span<const sim::ByteRange> gaps, std::size_t first, std::size_t count);

/// The same share of a message of `actual` bytes: [a, b) of `planned` bytes becomes
/// [floor(a actual / planned), ceil(b actual / planned)).
Gaps scaled(std::span<const sim::ByteRange> gaps, std::int64_t planned, std::int64_t actual);

/// Of `count` elements of `bits` bits each, packed from byte 0 on, those that have a bit in a gap:
/// runs of elements, ascending and apart.
std::vector<sim::ChunkRange> touched_elements(std::span<const sim::ByteRange> gaps, int bits,
                                              std::int64_t count);

}  // namespace gradwire::trainers
