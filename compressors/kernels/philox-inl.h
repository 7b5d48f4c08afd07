// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_PHILOX_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_PHILOX_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/philox.h"
#include "compressors/codec.h"

/// Philox words in registers, in element order, for encoders that use them at once: a buffer of
/// words costs as much as the draws. To use it, write a struct and give it to for_words():
///
///   struct Encoder {
///   #if HWY_TARGET != HWY_SCALAR
///     // Elements i .. i + kWordUnit - 1: words.vector[v] has the words of elements
///     // i + v Lanes(WordTag()) and the following, in element order.
///     HWY_INLINE void unit(std::size_t i, const WordUnit& words);
///   #endif
///     // Elements i .. i + count - 1, count <= kWordUnit, by the shared scalar arithmetic: the
///     last
///     // ones, and all of them where the instruction set is HWY_SCALAR (which lacks much).
///     HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words);
///   };
///   HWY_ATTR void Encode(const float* values, std::size_t n, const Draws& draws, ...) {
///     Encoder encoder{...};
///     for_words(draws, 0, n, encoder);
///   }
///
/// i is a multiple of kWordUnit, in ascending order. words[] has room for kWordUnit words, readable
/// beyond `count`. Keep what is carried along (maxima, pointers) in members: all of it is inlined.
/// Injected draws arrive as words too (rounded down to a multiple of 2^-24), so that an encoder
/// needs no code for them.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::CappedTag<std::uint32_t, 16>;
using WordVector = hn::Vec<WordTag>;

inline constexpr std::size_t kWordUnit = 64;  ///< elements a call of unit()
inline constexpr std::size_t kWordVectors = kWordUnit / hn::MaxLanes(WordTag());

struct WordUnit {
  WordVector vector[kWordVectors];
};

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE WordUnit load_unit(const std::uint32_t* words) {
  WordUnit unit;
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kWordVectors; ++v)
    unit.vector[v] = hn::LoadU(WordTag(), words + v * hn::Lanes(WordTag()));
  return unit;
}

HWY_INLINE void store_unit(const WordUnit& unit, std::uint32_t* words) {
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kWordVectors; ++v)
    hn::StoreU(unit.vector[v], WordTag(), words + v * hn::Lanes(WordTag()));
}

namespace philox {

// One counter in each 64-bit lane. The low halves of products stay where they are and their high
// halves are carried along as garbage that the next multiplication ignores.
using LaneTag = hn::Repartition<std::uint64_t, WordTag>;
using LaneVector = hn::Vec<LaneTag>;
inline constexpr std::size_t kLanes = hn::MaxLanes(LaneTag());
inline constexpr std::size_t kGroupWords = 4 * kLanes;  ///< words of one vector of counters
inline constexpr std::size_t kUnitGroups = kWordUnit / kGroupWords;

/// As many vectors of counters in flight as the registers hold, and rounds unrolled as far as the
/// compiler keeps them there: .60 cycles a word with AVX-512, 2.0 with AVX2 (Zen 5).
#if HWY_TARGET <= HWY_AVX3
inline constexpr std::size_t kUnitsInFlight = 3;
inline constexpr int kRoundsUnrolled = 2;
#else
inline constexpr std::size_t kUnitsInFlight = 1;
inline constexpr int kRoundsUnrolled = 8;
#endif

inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;

struct Group {
  LaneVector c0, c1, c2, c3;
};

/// What all counters of a stream share: round keys, and the first two rounds as far as they do not
/// depend on the element.
struct Schedule {
  explicit Schedule(const RandomStream& stream) {
    std::uint32_t k0 = static_cast<std::uint32_t>(stream.seed);
    std::uint32_t k1 = static_cast<std::uint32_t>(stream.seed >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      key0[round] = k0;
      key1[round] = k1;
    }
    const std::uint64_t p1 = std::uint64_t{kMultiplier1} * stream.worker;  // round 1
    const std::uint32_t c0 = static_cast<std::uint32_t>(p1 >> 32) ^ stream.tensor ^ key0[0];
    const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c0;  // round 2
    first_c2 = stream.step ^ key1[0];
    second_c0 = static_cast<std::uint32_t>(p1) ^ key0[1];
    second_c2 = static_cast<std::uint32_t>(p0 >> 32) ^ key1[1];
    second_c3 = static_cast<std::uint32_t>(p0);
  }
  std::uint64_t key0[10], key1[10];
  std::uint64_t first_c2, second_c0, second_c2, second_c3;
};

HWY_INLINE LaneVector multiply(LaneVector a, LaneVector b) {
  const hn::Repartition<std::uint32_t, LaneTag> half;
  return hn::MulEven(hn::BitCast(half, a), hn::BitCast(half, b));
}

// A lane pair holds counters b and b + kLanes / 2, so that interleaving gives element order.
HWY_INLINE LaneVector first_counters(std::uint32_t block) {
  alignas(64) std::uint64_t counters[kLanes];
  for (std::size_t l = 0; l < kLanes; ++l)
    counters[l] = std::uint64_t{block} + l / 2 + l % 2 * (kLanes / 2);
  return hn::Load(LaneTag(), counters);
}

/// kGroups vectors of counters at once, to hide the latency of the multiplications.
template <std::size_t kGroups>
struct Batch {
  Group group[kGroups];

  HWY_INLINE Batch(const Schedule& schedule, LaneVector counters) {
    const LaneTag d;
    const auto multiplier0 = hn::Set(d, kMultiplier0), multiplier1 = hn::Set(d, kMultiplier1);
#pragma GCC unroll 16
    for (std::size_t g = 0; g < kGroups; ++g) {
      const auto c0 = hn::Add(counters, hn::Set(d, g * kLanes));
      const auto p0 = multiply(c0, multiplier0);
      const auto c2 = hn::Xor(hn::ShiftRight<32>(p0), hn::Set(d, schedule.first_c2));
      const auto p1 = multiply(c2, multiplier1);
      group[g].c0 = hn::Xor(hn::ShiftRight<32>(p1), hn::Set(d, schedule.second_c0));
      group[g].c1 = p1;
      group[g].c2 = hn::Xor(p0, hn::Set(d, schedule.second_c2));
      group[g].c3 = hn::Set(d, schedule.second_c3);
    }
#pragma GCC unroll kRoundsUnrolled
    for (int round = 2; round < 10; ++round) {
      const auto key0 = hn::Set(d, schedule.key0[round]), key1 = hn::Set(d, schedule.key1[round]);
#pragma GCC unroll 16
      for (std::size_t g = 0; g < kGroups; ++g) {
        Group& x = group[g];
        const auto p0 = multiply(x.c0, multiplier0), p1 = multiply(x.c2, multiplier1);
        x.c0 = hn::Xor3(hn::ShiftRight<32>(p1), x.c1, key0);
        x.c2 = hn::Xor3(hn::ShiftRight<32>(p0), x.c3, key1);
        x.c1 = p1;
        x.c3 = p0;
      }
    }
  }

  /// The words of unit `u`, in element order.
  HWY_INLINE WordUnit unit(std::size_t u) const {
    const LaneTag d;
    WordUnit words;
#pragma GCC unroll 16
    for (std::size_t g = 0; g < kUnitGroups; ++g) {
      const Group& x = group[u * kUnitGroups + g];
      const auto low = join(x.c0, x.c1), high = join(x.c2, x.c3);
      words.vector[2 * g] = hn::BitCast(WordTag(), hn::InterleaveLower(d, low, high));
      words.vector[2 * g + 1] = hn::BitCast(WordTag(), hn::InterleaveUpper(d, low, high));
    }
    return words;
  }

 private:
  static HWY_INLINE LaneVector join(LaneVector low, LaneVector high) {
    const hn::Repartition<std::uint32_t, LaneTag> half;
    return hn::BitCast(
        LaneTag(), hn::OddEven(hn::BitCast(half, hn::ShiftLeft<32>(high)), hn::BitCast(half, low)));
  }
};

/// Elements whose first word begins a counter.
template <class Encoder>
HWY_INLINE void aligned_words(const RandomStream& stream, std::uint64_t first, std::size_t n,
                              Encoder& encoder) {
  const LaneTag d;
  const Schedule schedule(stream);
  auto counters = first_counters(static_cast<std::uint32_t>(first / 4));
  std::size_t i = 0;
  const auto large_step = hn::Set(d, kUnitsInFlight * kWordUnit / 4);
  for (; i + kUnitsInFlight * kWordUnit <= n; i += kUnitsInFlight * kWordUnit) {
    const Batch<kUnitsInFlight * kUnitGroups> batch(schedule, counters);
#pragma GCC unroll 16
    for (std::size_t u = 0; u < kUnitsInFlight; ++u) encoder.unit(i + u * kWordUnit, batch.unit(u));
    counters = hn::Add(counters, large_step);
  }
  const auto small_step = hn::Set(d, kWordUnit / 4);
  for (; i < n; i += kWordUnit, counters = hn::Add(counters, small_step)) {
    const WordUnit unit = Batch<kUnitGroups>(schedule, counters).unit(0);
    if (n - i >= kWordUnit) {
      encoder.unit(i, unit);
    } else {
      alignas(64) std::uint32_t words[kWordUnit];
      store_unit(unit, words);
      encoder.tail(i, n - i, words);
    }
  }
}

/// Words of one unit that begins at a counter.
HWY_INLINE void draw_unit(const RandomStream& stream, std::uint64_t first, std::uint32_t* words) {
  const auto block = static_cast<std::uint32_t>(first / 4);
  store_unit(Batch<kUnitGroups>(Schedule(stream), first_counters(block)).unit(0), words);
}

}  // namespace philox
#else
namespace philox {

HWY_INLINE void draw_unit(const RandomStream& stream, std::uint64_t first, std::uint32_t* words) {
  for (std::size_t j = 0; j < kWordUnit; j += 4) {
    const auto block = philox_block(stream, static_cast<std::uint32_t>((first + j) / 4));
    std::copy_n(block.word, 4, words + j);
  }
}

}  // namespace philox
#endif

namespace philox {

/// Words from anywhere: fill(i, words) writes those of elements i .. i + kWordUnit - 1.
template <class Fill, class Encoder>
HWY_INLINE void buffered_words(std::size_t n, Fill&& fill, Encoder& encoder) {
  alignas(64) std::uint32_t words[kWordUnit];
  for (std::size_t i = 0; i < n; i += kWordUnit) {
    fill(i, words);
#if HWY_TARGET != HWY_SCALAR
    if (n - i >= kWordUnit) {
      encoder.unit(i, load_unit(words));
      continue;
    }
#endif
    encoder.tail(i, std::min(n - i, kWordUnit), words);
  }
}

/// Elements whose first word is anywhere in a counter.
template <class Encoder>
HWY_INLINE void shifted_words(const RandomStream& stream, std::uint64_t first, std::size_t n,
                              Encoder& encoder) {
  const std::size_t skip = first % 4;
  alignas(64) std::uint32_t drawn[2 * kWordUnit];
  draw_unit(stream, first, drawn + kWordUnit);
  const auto fill = [&](std::size_t i, std::uint32_t* words) HWY_ATTR {
    std::copy_n(drawn + kWordUnit, kWordUnit, drawn);
    draw_unit(stream, first + i + kWordUnit, drawn + kWordUnit);
    std::copy_n(drawn + skip, kWordUnit, words);
  };
  buffered_words(n, fill, encoder);
}

}  // namespace philox

/// A draw that a test injects, as the word that gives it: u = (w >> 8) 2^-24, rounded down.
HWY_INLINE std::uint32_t word_of_uniform(float u) {
  const float draw = std::min(std::max(u, 0.0f) * 16777216.0f, 16777215.0f);
  return static_cast<std::uint32_t>(draw) << 8;
}

/// Gives `encoder` (see above) the words of elements [begin, begin + n) of a tensor drawn from
/// `draws`; the encoder's i counts from 0, at `begin`. Precondition: draws.first_element + begin +
/// n <= 2^34.
template <class Encoder>
HWY_INLINE void for_words(const Draws& draws, std::size_t begin, std::size_t n, Encoder& encoder) {
  const std::uint64_t first = draws.first_element + begin;
  if (!draws.injected.empty()) {
    const float* u = draws.injected.data() + begin;
    const auto fill = [&](std::size_t i, std::uint32_t* words) HWY_ATTR {
      for (std::size_t j = 0; j < kWordUnit; ++j)
        words[j] = i + j < n ? word_of_uniform(u[i + j]) : 0;
    };
    philox::buffered_words(n, fill, encoder);
    return;
  }
#if HWY_TARGET != HWY_SCALAR
  if (first % 4 == 0) return philox::aligned_words(draws.stream, first, n, encoder);
#endif
  philox::shifted_words(draws.stream, first, n, encoder);
}

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_PHILOX_INL_H_
