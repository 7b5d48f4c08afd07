#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "compressors/codecs/fastsgd_r/kernel.h"
#include "compressors/coding/byte_codes.h"
#include "compressors/coding/delta_gaps.h"
#include "compressors/coding/index_walk.h"

namespace gradwire::compressors {

/// fastsgd_r's stream where its keys are kDelta's blocks and its codes (a sign, then a level) fit a
/// byte: made and read without lists of entries. Where most elements are kept, keys are runs.
class LevelCodes {
 public:
  LevelCodes(std::size_t levels, int bits) : levels_(levels), bits_(bits) {}

  static bool can(std::size_t levels, int bits) {
    return levels <= kernels::kMostLevelCodes && bits <= kMostByteCodeBits;
  }

  struct Written {
    std::size_t kept, bytes;
  };

  /// Keys go out as they are found, codes wait in scratch [n]. least[levels] descends.
  Written encode(std::span<const float> data, std::span<const std::uint32_t> least,
                 std::span<std::byte> scratch, std::span<std::byte> stream) const {
    BitWriter out(stream);
    DeltaGapWriter gaps(out);
    std::uint64_t words[kBlock / 64];
    std::size_t kept = 0;
    for (std::size_t begin = 0; begin < data.size(); begin += kBlock) {
      const std::size_t count = std::min(kBlock, data.size() - begin);
      std::byte* const codes = scratch.data() + kept;  // so nothing moves where all are kept
      kernels::level_codes(data.data() + begin, count, least.data(), levels_, bits_ - 1,
                           reinterpret_cast<std::uint8_t*>(codes), words);
      for (std::size_t first = 0; first < count; first += 64)
        kept +=
            take_kept(words[first / 64], begin + first, codes + first, scratch.data() + kept, gaps);
    }
    gaps.finish();
    put_codes(out, scratch.first(kept), bits_);
    return {kept, out.finish()};
  }

  /// visit(index, value) for the runs whose levels all exist, by_level[levels]; for other entries
  /// entry(i, index), which takes a code.
  template <class Entry, class Visit>
  void walk(const IndexSection& keys, BitReader& codes, const float* by_level, Entry&& entry,
            Visit&& visit) const {
    float by_code[std::size_t{1} << kMostByteCodeBits];
    fill_by_code(by_level, by_code);
    BitReader in(keys.bytes());
    index_detail::walk_delta_blocks(keys, in, entry, [&](std::size_t first, std::size_t count) {
      float run[kDeltaBlock];
      if (count != kDeltaBlock || !look_up(codes, by_code, run)) return false;
      for (std::size_t j = 0; j < kDeltaBlock; ++j) visit(first + j, run[j]);
      return true;
    });
  }

 private:
  static constexpr std::size_t kBlock = 4096;

  /// The entries of a word: their keys to `gaps`, their codes to `to`, which is not behind `codes`.
  static std::size_t take_kept(std::uint64_t word, std::size_t first, const std::byte* codes,
                               std::byte* to, DeltaGapWriter& gaps) {
    const auto base = static_cast<std::uint32_t>(first);
    if (word == ~std::uint64_t{0}) {
      if (to != codes) std::memmove(to, codes, 64);
      gaps.add_run(base, 64);
      return 64;
    }
    std::size_t kept = 0;
    for (; word != 0; word &= word - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
      gaps.add(base + bit);
      to[kept++] = codes[bit];
    }
    return kept;
  }

  /// NaN where there is no such level.
  void fill_by_code(const float* by_level, float* by_code) const {
    const std::size_t negative = std::size_t{1} << (bits_ - 1);
    for (std::size_t q = 0; q < negative; ++q) {
      by_code[q] = q < levels_ ? by_level[q] : std::numeric_limits<float>::quiet_NaN();
      by_code[negative + q] = -by_code[q];
    }
  }

  /// run[kDeltaBlock]; false, with nothing taken, if there is no such level.
  bool look_up(BitReader& codes, const float* by_code, float* run) const {
    BitReader in = codes;
    bool known = true;
    for (std::size_t j = 0; j < kDeltaBlock; j += 8) {
      const std::uint64_t eight = take_codes(in, bits_);
      for (std::size_t i = 0; i < 8; ++i) {
        run[j + i] = by_code[eight >> (56 - 8 * i) & 0xFF];
        known &= run[j + i] == run[j + i];
      }
    }
    if (known) codes = in;
    return known;
  }

  std::size_t levels_;
  int bits_;
};

}  // namespace gradwire::compressors
