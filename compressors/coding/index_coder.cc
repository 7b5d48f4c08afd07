#include "compressors/coding/index_coder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "compressors/bit_packing.h"
#include "compressors/coding/bit_stream.h"
#include "compressors/coding/delta_gaps.h"
#include "compressors/coding/golomb_rice.h"

namespace gradwire::compressors {
namespace {

using Indices = std::span<const std::uint32_t>;

constexpr std::array<std::string_view, kIndexFormats> kNames = {
    "u32", "runs16", "bitmap", "golomb", "golomb-stored", "delta", "packed"};
constexpr std::uint32_t kFiller = 0xFFFF;

std::size_t bytes_of(std::uint64_t bits) {
  return static_cast<std::size_t>((bits + 7) / 8);
}

/// Calls visit(gap) for each index: the positions skipped since the one before.
template <class Visit>
void for_gaps(Indices indices, Visit&& visit) {
  std::uint64_t next = 0;
  for (const std::uint32_t index : indices) {
    visit(index - next);
    next = std::uint64_t{index} + 1;
  }
}

std::uint64_t golomb_bits(Indices indices, int b) {
  std::uint64_t bits = 0;
  for_gaps(indices, [&](std::uint64_t gap) { bits += gap >> b; });
  return bits + indices.size() * static_cast<std::uint64_t>(b + 1);
}

/// The b of fewest bits: their number is convex in b, so walking downhill finds it.
int best_golomb_parameter(Indices indices, std::size_t n) {
  int b = golomb_parameter(n, indices.size());
  std::uint64_t bits = golomb_bits(indices, b);
  for (const int step : {-1, 1})
    while (b + step >= 0 && b + step <= kLargestGolombParameter) {
      const std::uint64_t other = golomb_bits(indices, b + step);
      if (other >= bits) break;
      bits = other;
      b += step;
    }
  return b;
}

std::uint64_t delta_bits(Indices indices) {
  std::uint64_t bits = 0, next = 0;
  for (std::size_t first = 0; first < indices.size(); first += kDeltaBlock) {
    const Indices block = indices.subspan(first, std::min(kDeltaBlock, indices.size() - first));
    std::uint64_t largest = 0;
    for (const std::uint32_t index : block) {
      largest |= index - next;  // as many bits as the largest
      next = std::uint64_t{index} + 1;
    }
    bits += static_cast<std::uint64_t>(kDeltaWidthBits) +
            static_cast<std::uint64_t>(std::bit_width(largest)) * block.size();
  }
  return bits;
}

/// Blocks whose widths are worst: a width w needs a gap of 2^(w-1), and all gaps sum up to n - k at
/// most, so the dearest spread gives all blocks the same width but for some with one bit more.
std::uint64_t max_delta_bits(std::size_t n, std::size_t k) {
  const std::uint64_t blocks = (k + kDeltaBlock - 1) / kDeltaBlock, budget = n - k;
  if (blocks == 0) return 0;
  std::uint64_t width = 0, spent = 0;  // a block of width w spends 0, 1, 2, 4, ...
  const auto step = [&] { return width < 2 ? std::uint64_t{1} : std::uint64_t{1} << (width - 1); };
  while (spent + blocks * step() <= budget) {
    spent += blocks * step();
    ++width;
  }
  const std::uint64_t wider = (budget - spent) / step();
  return blocks * kDeltaWidthBits + k * width + std::min<std::uint64_t>(k, kDeltaBlock * wider);
}

std::uint64_t fillers(Indices indices) {
  std::uint64_t count = 0;
  for_gaps(indices, [&](std::uint64_t gap) { count += gap / kFiller; });
  return count;
}

std::size_t write_runs(Indices indices, std::span<std::byte> bytes) {
  std::byte* out = bytes.data();
  const auto put = [&](std::uint64_t run) {
    GRADWIRE_ASSERT(out + 2 <= bytes.data() + bytes.size());
    const auto run16 = static_cast<std::uint16_t>(run);
    std::memcpy(out, &run16, 2);
    out += 2;
  };
  for_gaps(indices, [&](std::uint64_t gap) {
    for (; gap >= kFiller; gap -= kFiller) put(kFiller);
    put(gap);
  });
  return static_cast<std::size_t>(out - bytes.data());
}

std::size_t write_bitmap(Indices indices, std::size_t n, std::span<std::byte> bytes) {
  const std::size_t size = bytes_of(n);
  GRADWIRE_ASSERT(bytes.size() >= size);
  std::fill_n(bytes.begin(), size, std::byte{0});
  for (const std::uint32_t index : indices)
    bytes[index / 8] |= static_cast<std::byte>(1u << (index % 8));
  return size;
}

std::size_t write_golomb(Indices indices, int b, std::span<std::byte> bytes) {
  BitWriter out(bytes);
  golomb_write(out, {b, 0}, indices.size(), [indices](std::size_t i) {
    return GolombEntry{indices[i], 0};
  });
  return out.finish();
}

std::size_t write_stored_golomb(Indices indices, std::size_t n, std::span<std::byte> bytes) {
  GRADWIRE_ASSERT(!bytes.empty());
  const int b = best_golomb_parameter(indices, n);
  bytes[0] = static_cast<std::byte>(b);
  return 1 + write_golomb(indices, b, bytes.subspan(1));
}

std::size_t write_delta(Indices indices, std::span<std::byte> bytes) {
  BitWriter out(bytes);
  write_delta_gaps(out, indices);
  return out.finish();
}

}  // namespace

void write_delta_gaps(BitWriter& out, Indices indices) {
  DeltaGapWriter gaps(out);
  for (const std::uint32_t index : indices) gaps.add(index);
  gaps.finish();
}

std::string_view name_of(IndexFormat format) {
  return format == IndexFormat::kAuto ? "auto" : kNames[static_cast<std::size_t>(format)];
}

std::vector<std::string> index_format_names() {
  std::vector<std::string> names(kNames.begin(), kNames.end());
  names.emplace_back("auto");
  return names;
}

IndexFormat index_format_named(std::string_view name) {
  if (name == "auto") return IndexFormat::kAuto;
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  GRADWIRE_ASSERT(at != kNames.end());
  return static_cast<IndexFormat>(at - kNames.begin());
}

int packed_index_width(std::size_t n) {
  return n <= 1 ? 0 : static_cast<int>(std::bit_width(n - 1));
}

std::size_t largest_indexed(IndexFormat format) {
  return std::size_t{1} << (format == IndexFormat::kDelta ? 31 : 32);
}

std::size_t max_index_bytes(IndexFormat format, std::size_t n, std::size_t k) {
  GRADWIRE_ASSERT(k <= n);
  switch (format) {
    case IndexFormat::kU32:
      return 4 * k;
    case IndexFormat::kRuns16:
      return k == 0 ? 0 : 2 * (k + (n - k) / kFiller);
    case IndexFormat::kBitmap:
      return bytes_of(n);
    case IndexFormat::kGolomb:
      return k == 0 ? 0 : bytes_of(golomb_max_bits(n, k, {golomb_parameter(n, k), 0}));
    case IndexFormat::kGolombStored:  // the best b is no worse than b*
      return 1 + max_index_bytes(IndexFormat::kGolomb, n, k);
    case IndexFormat::kDelta:
      return bytes_of(max_delta_bits(n, k));
    case IndexFormat::kPacked:
      return bytes_of(std::uint64_t{k} * static_cast<std::uint64_t>(packed_index_width(n)));
    case IndexFormat::kAuto:
      break;
  }
  std::size_t least = 4 * k;
  for (std::size_t f = 1; f < kIndexFormats; ++f)
    if (n <= largest_indexed(static_cast<IndexFormat>(f)))
      least = std::min(least, max_index_bytes(static_cast<IndexFormat>(f), n, k));
  return least;
}

std::size_t index_bytes(IndexFormat format, Indices indices, std::size_t n) {
  switch (format) {
    case IndexFormat::kRuns16:
      return 2 * (indices.size() + static_cast<std::size_t>(fillers(indices)));
    case IndexFormat::kGolomb:
      return bytes_of(golomb_bits(indices, golomb_parameter(n, indices.size())));
    case IndexFormat::kGolombStored:
      return 1 + bytes_of(golomb_bits(indices, best_golomb_parameter(indices, n)));
    case IndexFormat::kDelta:
      return bytes_of(delta_bits(indices));
    case IndexFormat::kAuto:
      return index_bytes(resolve_index_format(format, indices, n), indices, n);
    default:  // the size does not depend on the indices
      return max_index_bytes(format, n, indices.size());
  }
}

IndexFormat resolve_index_format(IndexFormat format, Indices indices, std::size_t n) {
  if (format != IndexFormat::kAuto) return format;
  IndexFormat best = IndexFormat::kU32;
  std::size_t least = 4 * indices.size();
  for (std::size_t f = 1; f < kIndexFormats; ++f) {
    const auto candidate = static_cast<IndexFormat>(f);
    if (n > largest_indexed(candidate)) continue;
    const std::size_t size = index_bytes(candidate, indices, n);
    if (size < least) best = candidate;
    least = std::min(least, size);
  }
  return best;
}

std::size_t encode_indices(IndexFormat format, Indices indices, std::size_t n,
                           std::span<std::byte> bytes) {
  GRADWIRE_ASSERT(n <= largest_indexed(format));
  switch (format) {
    case IndexFormat::kU32:
      GRADWIRE_ASSERT(bytes.size() >= indices.size_bytes());
      if (!indices.empty()) std::memcpy(bytes.data(), indices.data(), indices.size_bytes());
      return indices.size_bytes();
    case IndexFormat::kRuns16:
      return write_runs(indices, bytes);
    case IndexFormat::kBitmap:
      return write_bitmap(indices, n, bytes);
    case IndexFormat::kGolomb:
      return write_golomb(indices, golomb_parameter(n, indices.size()), bytes);
    case IndexFormat::kGolombStored:
      return write_stored_golomb(indices, n, bytes);
    case IndexFormat::kDelta:
      return write_delta(indices, bytes);
    default:
      break;
  }
  GRADWIRE_ASSERT(format == IndexFormat::kPacked);
  const std::size_t size = max_index_bytes(format, n, indices.size());
  GRADWIRE_ASSERT(bytes.size() >= size);
  const auto largest = static_cast<std::uint32_t>(n == 0 ? 0 : n - 1);
  if (size > 0) pack_bits(indices, packed_index_width(n), 0, largest, bytes.first(size));
  return size;
}

}  // namespace gradwire::compressors
