#pragma once
#include <algorithm>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "compressors/arithmetic/half.h"
#include "compressors/bit_packing.h"
#include "compressors/field_text.h"
#include "compressors/layout/layout.h"

/// The sections of which layouts are made.
namespace gradwire::compressors {

/// binary16.
struct Binary16 {
  std::uint16_t bits = 0;
};

/// "u32", "i8", "f32".
template <class T>
std::string number_type() {
  if constexpr (std::is_same_v<T, Binary16>) return "f16";
  const char* kind = std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u";
  return std::string(kind).append(std::to_string(8 * sizeof(T)));
}

template <class T>
std::string number_text(T number) {
  if constexpr (std::is_same_v<T, float>)
    return float_text(number);
  else if constexpr (std::is_same_v<T, Binary16>)
    return float_text(float_from_half(number.bits));
  else
    return std::to_string(number);
}

/// One number. A check may have a `text(number)` of its own for people.
template <Text kName, class T, class Check = AnyNumber>
struct Field {
  using Number = T;
  static constexpr bool kCountsElements = requires { Check::kCountsElements; };
  Check check = {};

  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent&) const { return sizeof(T); }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent&) const { return 1; }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t, const std::byte* at, const Extent& extent) const {
    return check.good(number_at<T>(at), at, extent) ? kNoBadByte : 0;
  }
  std::string reason(std::uint64_t, const std::byte* at, const Extent& extent) const {
    return check.reason(number_at<T>(at), extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    const T number = number_at<T>(d.payload.data() + d.at);
    std::string text;
    if constexpr (requires { check.text(number); })
      text = check.text(number);
    else
      text = number_text(number);
    fields.push_back({d.at, sizeof(T), std::string(kName.view()).append(d.of), number_type<T>(),
                      std::move(text)});
  }
  void place(PackedPlan& plan, const Extent&) const { plan.add_head(sizeof(T)); }
};

template <class T, class Check>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_number(std::string_view codec,
                                                          std::span<const std::byte> payload,
                                                          std::size_t at, const Check& check,
                                                          const Extent& extent) {
  refuse_payload(
      codec, payload.size(),
      "byte " + std::to_string(at) + " " + check.reason(number_at<T>(payload.data() + at), extent));
}

/// The number at byte `at`, if the check lets it pass; otherwise the payload is refused.
template <class T, class Check>
T checked_number(std::string_view codec, std::span<const std::byte> payload, std::size_t at,
                 const Check& check, const Extent& extent = {}) {
  const T number = number_at<T>(payload.data() + at);
  if (!check.good(number, payload.data() + at, extent))
    refuse_number<T>(codec, payload, at, check, extent);
  return number;
}

// ---- How often something is repeated.

struct EachElement {
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent& extent) const { return extent.n; }
};
struct EachBucket {
  std::uint64_t bucket = 1;  ///< elements
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent& extent) const {
    return extent.n / bucket + (extent.n % bucket != 0 ? 1 : 0);
  }
};
struct EachRow {
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent& extent) const {
    return extent.rows();
  }
};
struct EachColumn {
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent& extent) const {
    return extent.columns;
  }
};
/// Once for each of k entries; k is known from elsewhere.
struct EachSent {
  std::uint64_t k = 0;
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent&) const { return k; }
};

template <class Count>
constexpr std::uint64_t bucket_of(const Count& count) {
  if constexpr (std::is_same_v<Count, EachBucket>)
    return count.bucket;
  else
    return 0;
}

/// Numbers of one kind, in one field for people. Those of each element are the elements themselves.
template <Text kName, class T, class Count, class Check = AnyNumber>
struct Numbers {
  using Number = T;
  Count count = {};
  Check check = {};

  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    return at(count(extent));
  }
  /// Of number i, from the section's first byte.
  GRADWIRE_HD constexpr std::uint64_t at(std::uint64_t i) const { return sizeof(T) * i; }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent& extent) const {
    return std::is_same_v<Check, AnyNumber> ? 0 : count(extent);
  }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t i, const std::byte* section,
                                const Extent& extent) const {
    const std::byte* number = section + at(i);
    return check.good(number_at<T>(number), number, extent) ? kNoBadByte : at(i);
  }
  std::string reason(std::uint64_t i, const std::byte* section, const Extent& extent) const {
    return check.reason(number_at<T>(section + at(i)), extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    const auto number = static_cast<std::size_t>(count(d.extent));
    if (number == 0 && !std::is_same_v<Count, EachElement>) return;
    const std::byte* section = d.payload.data() + d.at;
    fields.push_back({d.at, sizeof(T) * number, std::string(kName.view()).append(d.of),
                      counted(number_type<T>(), number), first_few(number, [&](std::size_t i) {
                        return number_text(number_at<T>(section + at(i)));
                      })});
  }
  void place(PackedPlan& plan, const Extent& extent) const {
    if constexpr (std::is_same_v<Count, EachElement>)
      plan.add_elements(8 * static_cast<int>(sizeof(T)));
    else
      plan.add_head(bytes(extent), bucket_of(count));
  }
};

/// The values of k entries, as they are.
using SentValues = Numbers<"values", float, EachSent, Finite<"a value">>;

/// A few fields for each bucket, one bucket behind the other.
template <class... Fields>
struct BucketFields {
  EachBucket count = {};
  Layout<Fields...> fields = {};

  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    return fields.size({}) * count(extent);
  }
  /// Of bucket b's field, from the section's first byte.
  template <std::size_t kIndex>
  GRADWIRE_HD constexpr std::uint64_t at(std::uint64_t b) const {
    return fields.size({}) * b + fields.template at<kIndex>({});
  }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent& extent) const { return count(extent); }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t b, const std::byte* section,
                                const Extent& extent) const {
    const std::byte* bucket = section + at<0>(b);
    for (std::uint64_t i = 0; i < sizeof...(Fields); ++i)
      if (const std::uint64_t byte = fields.bad(i, bucket, extent); byte != kNoBadByte)
        return at<0>(b) + byte;
    return kNoBadByte;
  }
  std::string reason(std::uint64_t b, const std::byte* section, const Extent& extent) const {
    const std::byte* bucket = section + at<0>(b);
    std::uint64_t i = 0;
    while (fields.bad(i, bucket, extent) == kNoBadByte) ++i;
    return fields.reason(i, bucket, extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& list) const {
    for (std::uint64_t b = 0; b < count(d.extent); ++b) {
      const std::string of = " of bucket " + std::to_string(b);
      fields.describe({d.payload, d.at + static_cast<std::size_t>(at<0>(b)), d.extent, of}, list);
    }
  }
  void place(PackedPlan& plan, const Extent& extent) const {
    plan.add_head(bytes(extent), count.bucket);
  }
};

/// What has no checks of its own: elements are read by kernels, which tell of codes that mean
/// nothing.
struct Unchecked {
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent&) const { return 0; }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t, const std::byte*, const Extent&) const {
    return kNoBadByte;
  }
  std::string reason(std::uint64_t, const std::byte*, const Extent&) const { return {}; }
};

/// A code of `bits` bits for each element, low bits first, or high bits first. Unused bits are 0.
template <Text kName, class Check = AnyCode, bool kHighFirst = false>
struct Codes : Unchecked {
  int bits = 8;
  Check check = {};

  constexpr Codes() = default;
  GRADWIRE_HD constexpr explicit Codes(int width, Check allowed = {})
      : bits(width), check(allowed) {}
  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    const auto w = static_cast<std::uint64_t>(bits);
    return extent.n / 8 * w + (extent.n % 8 * w + 7) / 8;
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    const auto n = static_cast<std::size_t>(d.extent.n);
    const auto packed = d.payload.subspan(d.at, static_cast<std::size_t>(bytes(d.extent)));
    fields.push_back({d.at, packed.size(), std::string(kName.view()).append(d.of),
                      code_array(bits, n) + (kHighFirst ? ", high bits first" : ""),
                      first_few(n, [&](std::size_t i) {
                        return std::to_string(code_at(packed, i, bits, kHighFirst));
                      })});
  }
  void place(PackedPlan& plan, const Extent&) const { plan.add_elements(bits); }

  /// Throws CodecError for the first code that means nothing. Precondition: there is one.
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_code(std::string_view codec,
                                                          std::span<const std::byte> payload,
                                                          std::size_t at) const {
    std::size_t i = 0;
    while (check.good(code_at(payload.subspan(at), i, bits, kHighFirst))) ++i;
    refuse_payload(codec, payload.size(),
                   "byte " + std::to_string(at + i * static_cast<std::size_t>(bits) / 8) + " " +
                       check.reason(code_at(payload.subspan(at), i, bits, kHighFirst)));
  }
};

/// Zeros up to a multiple of 8 bytes behind a section of codes.
struct CodePadding : Unchecked {
  int bits = 8;
  constexpr CodePadding() = default;
  GRADWIRE_HD constexpr explicit CodePadding(int width) : bits(width) {}
  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    const std::uint64_t codes = Codes<"codes">(bits).bytes(extent);
    return (codes + 7) / 8 * 8 - codes;
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    if (const auto size = static_cast<std::size_t>(bytes(d.extent)); size > 0)
      fields.push_back({d.at, size, "padding", "bytes", "to 8 bytes"});
  }
  void place(PackedPlan&, const Extent&) const {}
};

/// The type of a section's number; of any other section, none.
template <class Section>
auto number_of() {
  if constexpr (requires { typename Section::Number; }) return typename Section::Number();
}

/// A section that some payloads have.
template <class Section>
struct Optional {
  using Number = decltype(number_of<Section>());
  bool present = false;
  Section section = {};

  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    return present ? section.bytes(extent) : 0;
  }
  GRADWIRE_HD constexpr std::uint64_t checked(const Extent& extent) const {
    return present ? section.checked(extent) : 0;
  }
  GRADWIRE_HD std::uint64_t bad(std::uint64_t i, const std::byte* at, const Extent& extent) const {
    return section.bad(i, at, extent);
  }
  std::string reason(std::uint64_t i, const std::byte* at, const Extent& extent) const {
    return section.reason(i, at, extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    if (present) section.describe(d, fields);
  }
  void place(PackedPlan& plan, const Extent& extent) const {
    if (present) section.place(plan, extent);
  }
};

/// Entries of a few fields each, one behind the other. What is right of them depends on the
/// entries before, so that their reader checks them.
template <Text kName, class... Fields>
struct Records : Unchecked {
  EachSent count = {};
  Layout<Fields...> fields = {};

  constexpr Records() = default;
  GRADWIRE_HD constexpr explicit Records(std::uint64_t k) : count{k} {}
  GRADWIRE_HD constexpr std::uint64_t bytes(const Extent& extent) const {
    return at<0>(count(extent));
  }
  /// Of entry i's field, from the section's first byte.
  template <std::size_t kIndex>
  GRADWIRE_HD constexpr std::uint64_t at(std::uint64_t i) const {
    return fields.size({}) * i + fields.template at<kIndex>({});
  }
  template <std::size_t kIndex>
  GRADWIRE_HD auto load(const std::byte* section, std::uint64_t i) const {
    return fields.template load<kIndex>(section + at<0>(i));
  }
  /// Writes all fields of the entry that begins at `to`.
  template <class... Values>
  void store(std::byte* to, Values... values) const {
    static_assert((std::is_same_v<Values, typename Fields::Number> && ...));
    (void)std::initializer_list<int>{
        (memcpy(to, &values, sizeof values), to += sizeof values, 0)...};
  }
  void describe(const Described& d, std::vector<PayloadField>& list) const {
    const auto k = static_cast<std::size_t>(count(d.extent));
    if (k == 0) return;
    const std::string text = first_few(k, [&](std::size_t i) {
      std::string entry;
      for (const PayloadField& field : entry_of(d, i))
        entry.append(entry.empty() ? "" : ": ").append(field.value);
      return entry;
    });
    std::string type;
    for (const PayloadField& field : entry_of(d, 0))
      type.append(type.empty() ? "{" : ", ").append(field.type).append(" ").append(field.name);
    list.push_back({d.at, static_cast<std::size_t>(bytes(d.extent)),
                    std::string(kName.view()).append(d.of), counted(type + "}", k), text});
  }
  void place(PackedPlan& plan, const Extent&) const { plan.possible = false; }

 private:
  std::vector<PayloadField> entry_of(const Described& d, std::size_t i) const {
    std::vector<PayloadField> list;
    fields.describe({d.payload, d.at + static_cast<std::size_t>(at<0>(i)), d.extent}, list);
    return list;
  }
};

/// Bytes that are read one after the other, because where something lies in them depends on what is
/// before it. `Shown` tells people of them: type() and value().
template <Text kName, class Shown>
struct Stream : Unchecked {
  std::uint64_t size = 0;
  Shown shown = {};

  constexpr Stream() = default;
  constexpr Stream(std::uint64_t size_in_bytes, Shown about)
      : size(size_in_bytes), shown(std::move(about)) {}
  constexpr std::uint64_t bytes(const Extent&) const { return size; }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    if (size > 0)
      fields.push_back({d.at, static_cast<std::size_t>(size),
                        std::string(kName.view()).append(d.of), shown.type(), shown.value()});
  }
  void place(PackedPlan& plan, const Extent&) const { plan.possible = false; }
};

}  // namespace gradwire::compressors
