#pragma once
#include "compressors/codecs/natural/arithmetic.h"
#include "compressors/layout/sections.h"

/// The payload of `dither`: the norm N, as binary32 or by natural compression, then codes: sign
/// above level j, where 0 is zero and j >= 1 is N 2^(j - s).
namespace gradwire::compressors {

struct DitherNorm {
  bool natural = false;

  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent&) const { return natural ? 2 : 4; }
  GRADWIRE_HD float value(const std::byte* at) const {
    return natural ? natural_value9(number_at<std::uint16_t>(at)) : number_at<float>(at);
  }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent&) const { return 1; }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t, const std::byte* at, const Extent&) const {
    const bool good = natural ? number_at<std::uint16_t>(at) <= 254 : is_scale(value(at));
    return good ? kNoBadByte : 0;
  }
  std::string reason(std::uint64_t, const std::byte*, const Extent&) const {
    return natural ? "begins a norm code above 254" : "begins a norm that is not finite and >= 0";
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    fields.push_back({d.at, static_cast<std::size_t>(bytes(d.extent)), "norm",
                      natural ? "u16, a C_nat code" : "f32",
                      float_text(value(d.payload.data() + d.at))});
  }
  void place(PackedPlan& plan, const Extent& extent) const { plan.add_head(bytes(extent)); }
};

struct DitherLayout : Layout<DitherNorm, Codes<"codes", LevelAtMost>> {
  enum Section { kNorm, kCodes };
  constexpr DitherLayout() = default;
  /// `levels`: s; a code has a sign and ceil(log2(s + 1)) bits.
  DitherLayout(int levels, bool natural_norm)
      : Layout({natural_norm}, codes_of(static_cast<std::uint32_t>(levels))) {}
  GRADWIRE_HD constexpr int bits() const { return section<kCodes>().bits; }
  GRADWIRE_HD constexpr int levels() const {
    return static_cast<int>(section<kCodes>().check.largest);
  }
  GRADWIRE_HD constexpr bool natural_norm() const { return section<kNorm>().natural; }

 private:
  static Codes<"codes", LevelAtMost> codes_of(std::uint32_t levels) {
    const int bits = 1 + static_cast<int>(std::bit_width(levels));
    return Codes<"codes", LevelAtMost>(bits, {levels, bits});
  }
};

}  // namespace gradwire::compressors
