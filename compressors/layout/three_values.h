#pragma once
#include "compressors/layout/sections.h"
#include "compressors/trits.h"

namespace gradwire::compressors {

/// A code 0, 1 or 2 for each element: at two bits, low bits first, or five a byte
/// (compressors/trits.h).
template <Text kName>
struct ThreeValues : Unchecked {
  bool base3 = false;

  constexpr ThreeValues() = default;
  constexpr explicit ThreeValues(bool in_base3) : base3(in_base3) {}
  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    return base3 ? extent.n / 5 + (extent.n % 5 != 0 ? 1 : 0) : two_bits().bytes(extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    if (!base3) return two_bits().describe(d, fields);
    const auto n = static_cast<std::size_t>(d.extent.n);
    const auto trits = d.payload.subspan(d.at, static_cast<std::size_t>(bytes(d.extent)));
    std::byte first[(kFew + 3) / 4] = {};
    codes_from_trits(trits, std::min(n, kFew), first);
    fields.push_back({d.at, trits.size(), std::string(kName.view()).append(d.of),
                      counted("base-3", n) + ", five a byte", first_few(n, [&](std::size_t i) {
                        return std::to_string(code_at(first, i, 2));
                      })});
  }
  /// Five elements share a byte of base 3.
  void place(PackedPlan& plan, const Extent&) const {
    plan.possible = plan.possible && !base3;
    plan.add_elements(2);
  }

  /// How far into the section the codes of element e begin, a multiple of 20.
  GRADWIRE_HD constexpr std::uint64_t offset(std::uint64_t e) const {
    return base3 ? e / 5 : e / 4;
  }

  /// read(codes, first, count) for part after part of elements [begin, end), begin a multiple of
  /// kChunk; `codes` are packed at two bits, and read() returns true if one of them is 3. `at` is
  /// where the section begins in the payload. Refuses what is no code.
  template <std::size_t kChunk, class Read>
  void for_codes(std::string_view codec, std::span<const std::byte> payload, std::size_t at,
                 std::size_t begin, std::size_t end, Read&& read) const {
    static_assert(kChunk % 20 == 0);
    const std::span<const std::byte> section = payload.subspan(at);
    if (!base3) {
      if (read(section.data() + begin / 4, begin, end - begin))
        two_bits().refuse_code(codec, payload, at);
      return;
    }
    std::byte codes[kChunk / 4];
    for (std::size_t e = begin; e < end; e += kChunk) {
      const std::size_t count = std::min(kChunk, end - e);
      const std::size_t bad = codes_from_trits(section.subspan(e / 5), count, codes);
      if (bad < trit_bytes(count)) refuse_trits(codec, payload, at + e / 5 + bad);
      read(codes, e, count);
    }
  }

 private:
  GRADWIRE_HD static constexpr Codes<kName, CodeAtMost> two_bits() {
    return Codes<kName, CodeAtMost>(2, CodeAtMost{2});
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse_trits(
      std::string_view codec, std::span<const std::byte> payload, std::size_t byte) {
    refuse_payload(codec, payload.size(),
                   "byte " + std::to_string(byte) + " is above 242, five codes of 2");
  }
};

}  // namespace gradwire::compressors
