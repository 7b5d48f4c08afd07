#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/store/store.h"

/// The packed form of one step's timeline (column `timelines.data`), layout 1:
///
///   byte      1                         layout
///   8 bytes   base                      IEEE binary64, little-endian: the first segment's start, s
///   varint    labels; each: varint length, bytes (UTF-8)
///   varint    segments; each:
///     varint  label index
///     zigzag  worker - previous worker          (previous starts at 0)
///     byte    lane (255 = transfer)
///     zigzag  start - previous start, in ps     (previous starts at base)
///     zigzag  end - start, in ps
///     zigzag  bytes
///
/// varint is LEB128 (7 bits a byte, low first); zigzag maps n to (n << 1) ^ (n >> 63) first. Times
/// are kept to 1 ps (10^-12 s); a step may span up to 100 days. Typically 10-14 bytes a segment.
namespace gradwire::results {

/// All segments are of one step, in any order, which is kept. Throws StoreError for times that are
/// not finite or out of range.
std::vector<std::byte> pack_timeline(std::span<const TimelineSegment> segments);

/// Appends the segments of `step`. Throws StoreError naming `subject` if the data is damaged.
void unpack_timeline(std::span<const std::byte> data, std::int64_t step, const std::string& subject,
                     std::vector<TimelineSegment>& out);

}  // namespace gradwire::results
