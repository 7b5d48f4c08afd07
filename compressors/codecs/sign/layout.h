#pragma once
#include "compressors/layout/sections.h"

/// The payload of `sign`: blocks, each with its mean magnitude (with scales) and then its bits, 1 =
/// negative, on whole bytes.
namespace gradwire::compressors {

/// Where the blocks of n elements lie, in elements and bytes.
struct SignBlocks {
  std::uint64_t n = 0, length = 1;
  std::uint64_t header = 0;  ///< bytes of a block's scale

  GRADWIRE_HD constexpr std::uint64_t count() const { return n == 0 ? 0 : (n - 1) / length + 1; }
  GRADWIRE_HD constexpr std::uint64_t elements(std::uint64_t b) const {
    const std::uint64_t left = n - b * length;
    return left < length ? left : length;
  }
  GRADWIRE_HD constexpr std::uint64_t offset(std::uint64_t b) const {
    return b * (header + bits_of_whole());
  }
  /// Bytes of the bits of a whole block.
  GRADWIRE_HD constexpr std::uint64_t bits_of_whole() const { return bit_bytes(length); }
  GRADWIRE_HD constexpr std::uint64_t size() const {
    const std::uint64_t blocks = count();
    return blocks == 0 ? 0 : offset(blocks - 1) + header + bit_bytes(elements(blocks - 1));
  }
  GRADWIRE_HD static constexpr std::uint64_t bit_bytes(std::uint64_t elements) {
    return elements / 8 + (elements % 8 != 0 ? 1 : 0);
  }
};

struct SignSection {
  std::uint64_t block = 0;  ///< elements; 0 = the whole tensor
  bool scaled = true;
  FiniteScale<"a scale"> check = {};

  GRADWIRE_HD constexpr SignBlocks blocks(std::uint64_t n) const {
    const std::uint64_t whole = n > 0 ? n : 1;
    return SignBlocks{n, block == 0 || block > whole ? whole : block,
                      scaled ? sizeof(float) : std::uint64_t{0}};
  }
  GRADWIRE_HD float scale(const std::byte* block_begin) const {
    return scaled ? number_at<float>(block_begin) : 1.0f;
  }
  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    return blocks(extent.n).size();
  }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent& extent) const {
    return scaled ? blocks(extent.n).count() : 0;
  }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t b, const std::byte* section,
                                const Extent& extent) const {
    const std::uint64_t at = blocks(extent.n).offset(b);
    return check.good(number_at<float>(section + at), section + at, extent) ? kNoBadByte : at;
  }
  std::string reason(std::uint64_t, const std::byte*, const Extent& extent) const {
    return check.reason(0.0f, extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    const SignBlocks all = blocks(d.extent.n);
    for (std::uint64_t b = 0; b < all.count(); ++b) {
      const std::size_t at = d.at + static_cast<std::size_t>(all.offset(b));
      const auto n = static_cast<std::size_t>(all.elements(b));
      const std::string which = all.count() > 1 ? counted("", static_cast<std::size_t>(b)) : "";
      const auto bits = d.payload.subspan(at + static_cast<std::size_t>(all.header),
                                          static_cast<std::size_t>(SignBlocks::bit_bytes(n)));
      if (scaled)
        fields.push_back(
            {at, sizeof(float), "mu" + which, "f32", float_text(scale(d.payload.data() + at))});
      fields.push_back({at + static_cast<std::size_t>(all.header), bits.size(), "signs" + which,
                        code_array(1, n), signs_text(bits, n)});
    }
  }
  void place(PackedPlan& plan, const Extent& extent) const {
    const SignBlocks all = blocks(extent.n);
    if (all.count() > 1) plan.possible = false;  // scales stand between the bits
    plan.add_head(all.header);
    plan.add_elements(1);
  }

 private:
  static std::string signs_text(std::span<const std::byte> bits, std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(n, 16); ++i)
      text += code_at(bits, i, 1) != 0 ? '-' : '+';
    return n > 16 ? text + "..." : text;
  }
};

struct SignLayout : Layout<SignSection> {
  constexpr SignLayout() = default;
  SignLayout(std::uint64_t block, bool scaled) : Layout({.block = block, .scaled = scaled}) {}
  GRADWIRE_HD constexpr bool scaled() const { return section<0>().scaled; }
  GRADWIRE_HD constexpr SignBlocks blocks(std::uint64_t n) const { return section<0>().blocks(n); }
  GRADWIRE_HD float scale(const std::byte* block_begin) const {
    return section<0>().scale(block_begin);
  }
};

}  // namespace gradwire::compressors
