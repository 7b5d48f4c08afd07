#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "compressors/coding/golomb_rice.h"
#include "compressors/coding/golomb_walk.h"
#include "compressors/coding/index_coder.h"

/// Reading index lists (compressors/coding/index_coder.h) index by index, so that decoding needs no
/// array of them.
namespace gradwire::compressors {

/// Where a payload holds a list. The section may be followed by others.
struct IndexSection {
  std::string_view codec;  ///< named by errors
  std::span<const std::byte> payload;
  std::size_t offset = 0;  ///< its first byte; at most payload.size()
  std::size_t n = 0;       ///< elements of the tensor; k <= n <= largest_indexed(format)
  std::size_t k = 0;       ///< indices of the list

  std::span<const std::byte> bytes() const { return payload.subspan(offset); }
};

/// Like walk_indices into indices[k].
std::size_t decode_indices(IndexFormat format, const IndexSection& section,
                           std::span<std::uint32_t> indices);

namespace index_detail {

[[noreturn]] void refuse_short(const IndexSection& section, std::size_t i);
[[noreturn]] void refuse_index(const IndexSection& section, std::uint64_t bit, const char* why);
inline constexpr const char* kBeyond = "an index beyond the tensor";
inline constexpr const char* kDisorder = "an index out of order";

/// Reads little-endian fields of up to 32 bits at any bit, never beyond the bytes.
class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, int width)
      : bytes_(bytes), mask_((std::uint64_t{1} << width) - 1) {}
  std::uint32_t at(std::uint64_t bit) const {
    const auto byte = static_cast<std::size_t>(bit / 8);
    std::uint64_t word = 0;
    if (byte < bytes_.size())
      std::memcpy(&word, bytes_.data() + byte,
                  bytes_.size() - byte < 8 ? bytes_.size() - byte : std::size_t{8});
    return static_cast<std::uint32_t>(word >> (bit % 8) & mask_);
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t mask_;
};

/// kU32 and kPacked.
template <class Visit>
std::size_t walk_fields(const IndexSection& section, int width, Visit&& visit) {
  const auto w = static_cast<std::uint64_t>(width);
  const auto bytes = section.bytes();
  if (bytes.size() < (section.k * w + 7) / 8)
    refuse_short(section, width == 0 ? 0 : 8 * bytes.size() / static_cast<std::size_t>(width));
  const FieldReader fields(bytes, width);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < section.k; ++i) {
    const std::uint32_t index = fields.at(i * w);
    if (index < next) refuse_index(section, i * w, kDisorder);
    if (index >= section.n) refuse_index(section, i * w, kBeyond);
    visit(i, index);
    next = std::uint64_t{index} + 1;
  }
  return section.offset + static_cast<std::size_t>((section.k * w + 7) / 8);
}

template <class Visit>
std::size_t walk_runs(const IndexSection& section, Visit&& visit) {
  const auto bytes = section.bytes();
  std::uint64_t next = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < section.k; at += 2) {
    if (bytes.size() - at < 2) refuse_short(section, i);
    std::uint16_t run;
    std::memcpy(&run, bytes.data() + at, 2);
    next += run;
    if (next >= section.n) refuse_index(section, 8 * at, kBeyond);
    if (run == 0xFFFF) continue;  // the filler holds no index
    visit(i++, static_cast<std::uint32_t>(next++));
  }
  return section.offset + at;
}

[[noreturn]] void refuse_bits(const IndexSection& section, std::uint64_t bits);

template <class Visit>
std::size_t walk_bitmap(const IndexSection& section, Visit&& visit) {
  const std::size_t size = (section.n + 7) / 8;
  if (section.bytes().size() < size) refuse_short(section, section.k);
  const std::byte* bytes = section.payload.data() + section.offset;
  std::size_t i = 0;
  for (std::size_t at = 0; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, size - at < 8 ? size - at : std::size_t{8});
    if (section.n - 8 * at < 64) word &= (std::uint64_t{1} << (section.n - 8 * at)) - 1;
    for (; word != 0; word &= word - 1) {
      if (i == section.k) refuse_bits(section, section.k + 1);
      visit(i++, static_cast<std::uint32_t>(8 * at) +
                     static_cast<std::uint32_t>(std::countr_zero(word)));
    }
  }
  if (i < section.k) refuse_bits(section, i);
  return section.offset + size;
}

template <class Visit>
std::size_t walk_golomb(const IndexSection& section, int b, std::size_t skipped, Visit&& visit) {
  const GolombWalk walk =
      golomb_walk(BitReader(section.bytes().subspan(skipped)), {b, 0}, section.k, section.n,
                  [&](std::size_t i, std::uint32_t index, std::uint32_t) { visit(i, index); });
  if (walk.beyond_bytes) refuse_short(section, walk.visited);
  if (walk.beyond_tensor) refuse_index(section, 8 * skipped + walk.bit_position, kBeyond);
  return section.offset + skipped + static_cast<std::size_t>((walk.bit_position + 7) / 8);
}

/// The stored b; refuses one that is missing or too large.
int stored_parameter(const IndexSection& section);

/// Leaves the reader after the gaps. A block without gaps is given to run(first, count) before,
/// which takes it by returning true; otherwise, as other blocks, it goes index by index.
template <class Visit, class Run>
void walk_delta_blocks(const IndexSection& section, BitReader& in, Visit&& visit, Run&& run) {
  std::uint64_t next = 0;
  for (std::size_t first = 0; first < section.k; first += kDeltaBlock) {
    const std::size_t last = section.k - first < kDeltaBlock ? section.k : first + kDeltaBlock;
    const int width = static_cast<int>(in.read(kDeltaWidthBits));
    if (width == 0 && !in.overrun() && next + (last - first) <= section.n &&
        run(static_cast<std::size_t>(next), last - first)) {
      next += last - first;
      continue;
    }
    for (std::size_t i = first; i < last; ++i) {
      next += in.read(width);
      if (in.overrun()) refuse_short(section, i);
      if (next >= section.n)
        refuse_index(section, in.bit_position() - static_cast<std::uint64_t>(width), kBeyond);
      visit(i, static_cast<std::uint32_t>(next++));
    }
  }
}

template <class Visit>
void walk_delta_gaps(const IndexSection& section, BitReader& in, Visit&& visit) {
  walk_delta_blocks(section, in, visit, [](std::size_t, std::size_t) { return false; });
}

template <class Visit>
std::size_t walk_delta(const IndexSection& section, Visit&& visit) {
  BitReader in(section.bytes());
  walk_delta_gaps(section, in, visit);
  return section.offset + static_cast<std::size_t>((in.bit_position() + 7) / 8);
}

}  // namespace index_detail

/// Calls visit(i, index) for i = 0 ... k - 1, indices ascending and below n; returns the payload's
/// byte after the section. Any bytes are safe: refuses (CodecError) lists that end early, indices
/// out of order or beyond n, naming the byte; some indices may have been visited by then.
template <class Visit>
std::size_t walk_indices(IndexFormat format, const IndexSection& section, Visit&& visit) {
  using namespace index_detail;
  switch (format) {
    case IndexFormat::kU32:
      return walk_fields(section, 32, visit);
    case IndexFormat::kRuns16:
      return walk_runs(section, visit);
    case IndexFormat::kBitmap:
      return walk_bitmap(section, visit);
    case IndexFormat::kGolomb:
      return walk_golomb(section, golomb_parameter(section.n, section.k), 0, visit);
    case IndexFormat::kGolombStored:
      return walk_golomb(section, stored_parameter(section), 1, visit);
    case IndexFormat::kDelta:
      return walk_delta(section, visit);
    default:
      return walk_fields(section, packed_index_width(section.n), visit);
  }
}

}  // namespace gradwire::compressors
