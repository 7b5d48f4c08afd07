// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_UNIT_READER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_UNIT_READER_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_UNIT_READER_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_UNIT_READER_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compressors/kernels/levels-inl.h"

/// Packed codes of up to 8 bits into 32-bit lanes, a unit of 64 at a time.
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Where a decoder wants a code in its lane.
enum class CodeForm {
  kClean,  ///< in the lowest bits, zeros above
  kLow,    ///< in the lowest bits, anything above
  kTop,    ///< in the highest bits, anything below
};

template <CodeForm kForm>
HWY_INLINE LevelWords formed(const LevelWords& code, int bits) {
  return kForm == CodeForm::kTop ? hn::ShiftLeftSame(code, 32 - bits) : code;
}

HWY_INLINE LevelWords load_codes(const std::uint8_t* codes) {
  return hn::PromoteTo(LevelWordTag(), hn::LoadU(CodeTag(), codes));
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
/// Which two bytes of a vector's codes hold the code of a lane, and how far these are shifted.
struct LaneMoves {
  alignas(64) std::uint8_t pick[9][2][4 * kLevelLanes] = {};
  alignas(64) std::uint32_t right[9][2][kLevelLanes] = {};
  alignas(64) std::uint32_t left[9][2][kLevelLanes] = {};
};

constexpr LaneMoves make_lane_moves() {
  LaneMoves moves;
  for (unsigned bits = 1; bits <= 8; ++bits)
    for (unsigned lane = 0; lane < kLevelLanes; ++lane) {
      const unsigned byte = lane * bits / 8, skip = lane * bits % 8;
      const auto here = static_cast<std::uint8_t>(byte);
      const auto next = static_cast<std::uint8_t>(byte < 15 ? byte + 1 : 15);
      for (unsigned i = 0; i < 4; ++i)  // 128: a zero
        moves.pick[bits][0][4 * lane + i] = moves.pick[bits][1][4 * lane + i] = 128;
      moves.pick[bits][0][4 * lane] = moves.pick[bits][1][4 * lane + 1] = here;
      moves.pick[bits][0][4 * lane + 1] = moves.pick[bits][1][4 * lane] = next;
      moves.right[bits][0][lane] = skip;
      moves.right[bits][1][lane] = 16 - skip - bits;
      moves.left[bits][0][lane] = 32 - bits - skip;
      moves.left[bits][1][lane] = 16 + skip;
    }
  return moves;
}
inline constexpr LaneMoves kLaneMoves = make_lane_moves();

/// Each lane picks its bytes from 16 that all see, and shifts them into place.
template <CodeForm kForm>
class UnitReader {
 public:
  static constexpr std::size_t kBeyond = 16;  ///< bytes read beyond a unit's, at most

  HWY_INLINE UnitReader(int bits, BitOrder order)
      : bytes_(static_cast<std::size_t>(bits) * kLevelLanes / 8) {
    const int o = order == BitOrder::kHighFirst ? 1 : 0;
    const auto& shifts = kForm == CodeForm::kTop ? kLaneMoves.left : kLaneMoves.right;
    pick_ = hn::Load(ByteTag(), kLaneMoves.pick[bits][o]);
    shift_ = hn::Load(LevelWordTag(), shifts[bits][o]);
    mask_ = hn::Set(LevelWordTag(), (1u << bits) - 1);
  }
  HWY_INLINE LevelWords vector(const std::byte* in, std::size_t v) const {
    const auto* from = reinterpret_cast<const std::uint8_t*>(in) + v * bytes_;
    const auto both = hn::BitCast(LevelWordTag(),
                                  hn::TableLookupBytesOr0(hn::LoadDup128(ByteTag(), from), pick_));
    if constexpr (kForm == CodeForm::kTop) return hn::Shl(both, shift_);
    const auto code = hn::Shr(both, shift_);
    return kForm == CodeForm::kClean ? hn::And(code, mask_) : code;
  }
  HWY_INLINE WordUnit unit(const std::byte* in) const {
    WordUnit unit;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) unit.vector[v] = vector(in, v);
    return unit;
  }

 private:
  using ByteTag = hn::Repartition<std::uint8_t, LevelTag>;
  std::size_t bytes_;
  hn::Vec<ByteTag> pick_;
  LevelWords shift_, mask_;
};
#elif HWY_TARGET != HWY_SCALAR
/// Through bytes in memory.
template <CodeForm kForm>
class UnitReader {
 public:
  static constexpr std::size_t kBeyond = 8;

  HWY_INLINE UnitReader(int bits, BitOrder order) : bits_(bits), coder_(bits, order) {}
  HWY_INLINE WordUnit unit(const std::byte* in) const {
    WordUnit unit;
    alignas(64) std::uint8_t codes[kWordUnit];
    for (std::size_t i = 0; i < kWordUnit; i += kStep)
      coder_.unpack(in + i / 8 * static_cast<std::size_t>(bits_), codes + i);
    for (std::size_t v = 0; v < kWordVectors; ++v)
      unit.vector[v] = formed<kForm>(load_codes(codes + v * kLevelLanes), bits_);
    return unit;
  }

 private:
  int bits_;
  GroupCoder coder_;
};
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_UNIT_READER_INL_H_
