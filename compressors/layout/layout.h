#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compressors/codec.h"
#include "compressors/layout/checks.h"
#include "compressors/payload.h"

/// A payload's layout: its sections, one behind the other, declared once for the encoder, the
/// decoder, `gradwire codec inspect` and CUDA. A section (compressors/layout/sections.h) is
///   GRADWIRE_HD constexpr std::uint64_t bytes(const Extent&) const;
///   GRADWIRE_HD constexpr std::uint64_t checked(const Extent&) const;   // how many things there
///   are to check GRADWIRE_HD std::uint64_t bad(std::uint64_t i, const std::byte* section, const
///   Extent&) const;
///                                           // the byte at which thing i is wrong, or kNoBadByte
///   std::string reason(std::uint64_t i, const std::byte* section, const Extent&) const;
///   void describe(const Described&, std::vector<PayloadField>&) const;
///   void place(PackedPlan&, const Extent&) const;
/// All of it is known to the compiler: what a call does with a layout is loads, comparisons and
/// sums.
namespace gradwire::compressors {

inline constexpr std::uint64_t kNoBadByte = ~std::uint64_t{0};

/// What is described: a section that begins at byte `at` of `payload`.
struct Described {
  std::span<const std::byte> payload;
  std::size_t at = 0;
  Extent extent;
  std::string_view of = {};  ///< appended to names: " of bucket 2"
};

/// Where a layout's elements lie, as far as its sections have been asked.
struct PackedPlan {
  PackedElements elements = {};  ///< bits: 0 as long as no section holds elements
  bool possible = true;
  void add_head(std::uint64_t bytes, std::uint64_t bucket = 0) {
    if (elements.bits != 0) possible = false;  // something that may matter follows the elements
    // Buckets depend on their own parts only where these are the whole head.
    elements.bucket = elements.head == 0 ? static_cast<std::size_t>(bucket) : 0;
    elements.head += static_cast<std::size_t>(bytes);
  }
  void add_elements(int bits) {
    possible = possible && elements.bits == 0;
    elements.bits = bits;
  }
};

template <class... Sections>
class Layout;

template <>
class Layout<> {
 public:
  static constexpr bool kCountsElements = false;
  GRADWIRE_HD constexpr std::uint64_t size(const Extent&) const { return 0; }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent&) const { return 0; }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t, const std::byte*, const Extent&) const {
    return kNoBadByte;
  }
  GRADWIRE_HD bool good(const std::byte*, const Extent&) const { return true; }
  std::string reason(std::uint64_t, const std::byte*, const Extent&) const { return {}; }
  void describe(const Described&, std::vector<PayloadField>&) const {}
  void place(PackedPlan&, const Extent&) const {}
};

template <class First, class... Rest>
class Layout<First, Rest...> {
 public:
  /// Whether a field of 32 bits says how many elements there are, which limits their number.
  static constexpr bool kCountsElements = requires { requires First::kCountsElements; }
  || Layout<Rest...>::kCountsElements;
  constexpr Layout() = default;
  GRADWIRE_HD constexpr explicit Layout(First first, Rest... rest)
      : first_(first), rest_(rest...) {}

  template <std::size_t kIndex>
  GRADWIRE_HD constexpr const auto& section() const {
    if constexpr (kIndex == 0)
      return first_;
    else
      return rest_.template section<kIndex - 1>();
  }
  /// The byte at which a section begins.
  template <std::size_t kIndex>
  GRADWIRE_HD constexpr std::uint64_t at(const Extent& extent) const {
    if constexpr (kIndex == 0)
      return 0;
    else
      return first_.bytes(extent) + rest_.template at<kIndex - 1>(extent);
  }
  /// The byte of entry i's field in a section of records.
  template <std::size_t kRecords, std::size_t kField>
  GRADWIRE_HD constexpr std::uint64_t entry_at(std::uint64_t i, const Extent& extent = {}) const {
    return at<kRecords>(extent) + section<kRecords>().template at<kField>(i);
  }
  GRADWIRE_HD constexpr std::uint64_t size(const Extent& extent) const {
    return first_.bytes(extent) + rest_.size(extent);
  }

  /// Things to check, and the byte of the payload at which thing i is wrong, or kNoBadByte.
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent& extent) const {
    return first_.checked(extent) + rest_.checked(extent);
  }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t i, const std::byte* payload,
                                const Extent& extent) const {
    const std::uint64_t here = first_.checked(extent);
    if (i < here) return first_.bad(i, payload, extent);
    const std::uint64_t bytes = first_.bytes(extent);
    const std::uint64_t behind = rest_.bad(i - here, payload + bytes, extent);
    return behind == kNoBadByte ? kNoBadByte : bytes + behind;
  }
  GRADWIRE_HD bool good(const std::byte* payload, const Extent& extent) const {
    const std::uint64_t here = first_.checked(extent);
    for (std::uint64_t i = 0; i < here; ++i)
      if (first_.bad(i, payload, extent) != kNoBadByte) return false;
    return rest_.good(payload + first_.bytes(extent), extent);
  }
  std::string reason(std::uint64_t i, const std::byte* payload, const Extent& extent) const {
    const std::uint64_t here = first_.checked(extent);
    return i < here ? first_.reason(i, payload, extent)
                    : rest_.reason(i - here, payload + first_.bytes(extent), extent);
  }

  /// Of single numbers.
  template <std::size_t kIndex>
  GRADWIRE_HD auto load(const std::byte* payload, const Extent& extent = {}) const {
    using Section = std::remove_cvref_t<decltype(section<kIndex>())>;
    return number_at<typename Section::Number>(payload + at<kIndex>(extent));
  }
  template <std::size_t kIndex, class T>
  void store(std::span<std::byte> payload, T number, const Extent& extent = {}) const {
    using Section = std::remove_cvref_t<decltype(section<kIndex>())>;
    store_field(payload, at<kIndex>(extent), static_cast<typename Section::Number>(number));
  }

  void describe(Described described, std::vector<PayloadField>& fields) const {
    first_.describe(described, fields);
    described.at += first_.bytes(described.extent);
    rest_.describe(described, fields);
  }
  void place(PackedPlan& plan, const Extent& extent) const {
    first_.place(plan, extent);
    rest_.place(plan, extent);
  }

 private:
  First first_ = {};
  Layout<Rest...> rest_ = {};
};

/// Throws CodecError for the first thing that is wrong in a layout that begins at byte `at` of the
/// payload. Precondition: something is.
template <class AnyLayout>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_payload(std::string_view codec,
                                                           std::span<const std::byte> payload,
                                                           const AnyLayout& layout,
                                                           const Extent& extent,
                                                           std::size_t at = 0) {
  const std::byte* bytes = payload.data() + at;
  std::uint64_t i = 0;
  while (layout.bad(i, bytes, extent) == kNoBadByte) ++i;
  refuse_payload(codec, payload.size(),
                 "byte " + std::to_string(at + layout.bad(i, bytes, extent)) + " " +
                     layout.reason(i, bytes, extent));
}

/// Refuses a payload of another size than the layout's, and numbers that its checks do not let
/// pass.
template <class AnyLayout>
void require_layout(std::string_view codec, std::span<const std::byte> payload,
                    const AnyLayout& layout, const Extent& extent) {
  require_size(codec, payload, static_cast<std::size_t>(layout.size(extent)));
  if (!layout.good(payload.data(), extent)) refuse_payload(codec, payload, layout, extent);
}

/// The same for a head that something of another size follows; `bytes`, or its own size, must be
/// there.
template <class AnyLayout>
void require_head(std::string_view codec, std::span<const std::byte> payload, const AnyLayout& head,
                  const Extent& extent, std::size_t bytes = 0) {
  require_header(codec, payload, bytes > 0 ? bytes : static_cast<std::size_t>(head.size(extent)));
  if (!head.good(payload.data(), extent)) refuse_payload(codec, payload, head, extent);
}

template <class AnyLayout>
std::vector<PayloadField> described(std::span<const std::byte> payload, const AnyLayout& layout,
                                    const Extent& extent) {
  std::vector<PayloadField> fields;
  layout.describe({.payload = payload, .extent = extent}, fields);
  return fields;
}

template <class AnyLayout>
std::optional<PackedElements> packed_elements_of(const AnyLayout& layout, const Extent& extent) {
  PackedPlan plan;
  layout.place(plan, extent);
  if (!plan.possible || plan.elements.bits == 0) return std::nullopt;
  return plan.elements;
}

}  // namespace gradwire::compressors
