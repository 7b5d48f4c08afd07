#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "compressors/codec.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/selection.h"

/// What sparse codecs share: payloads that are read entry by entry.
namespace gradwire::compressors {

/// Refuses a payload that is shorter than its header.
inline void require_header(std::string_view codec, std::span<const std::byte> payload,
                           std::size_t bytes) {
  if (payload.size() < bytes)
    refuse_payload(codec, payload.size(),
                   "it ends at byte " + std::to_string(payload.size()) + " in a header of " +
                       std::to_string(bytes) + " bytes");
}

/// The u32 count of entries at byte `at`; refuses one above n.
inline std::size_t checked_count(std::string_view codec, std::span<const std::byte> payload,
                                 std::size_t at, std::size_t n) {
  const auto k = load_field<std::uint32_t>(payload, at);
  if (k > n)
    refuse_payload(codec, payload.size(),
                   "byte " + std::to_string(at) + " begins a count of " + std::to_string(k) +
                       " for " + std::to_string(n) + " elements");
  return k;
}

/// Refuses a payload whose u32 at byte 0 is not n.
inline void require_length(std::string_view codec, std::span<const std::byte> payload,
                           std::size_t n) {
  if (load_field<std::uint32_t>(payload, 0) != n)
    refuse_payload(codec, payload.size(),
                   "byte 0 begins a length of " +
                       std::to_string(load_field<std::uint32_t>(payload, 0)) + " for " +
                       std::to_string(n) + " elements");
}

/// The f32 at byte `at`; refuses one that is not finite or, if `positive`, has its sign set.
inline float checked_value(std::string_view codec, std::span<const std::byte> payload,
                           std::size_t at, bool positive = false) {
  const auto value = load_field<float>(payload, at);
  if (!std::isfinite(value) || (positive && std::signbit(value)))
    refuse_payload(codec, payload.size(),
                   "byte " + std::to_string(at) + " begins a value that is not finite" +
                       (positive ? " and >= 0" : ""));
  return value;
}

inline void refuse_beyond(std::string_view codec, const TensorView& tensor, std::size_t limit) {
  if (tensor.data.size() > limit)
    refuse_tensor(codec, tensor.name,
                  "it has more than " + std::to_string(limit) + " elements, the format's limit");
}

/// A codec whose payload names entries. Derived gives
///   template <class Visit> void walk(const DecodeJob&, Visit&& visit(index, value)) const;
/// which refuses any payload that is not right, with indices ascending and below n.
template <class Derived>
class WalkedCodec : public Codec, public NamesElements {
 public:
  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    clear_values(job.values, job.team);
    float* values = job.values.data();
    self().walk(job, [values](std::size_t i, float value) { values[i] = value; });
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    float* values = job.values.data();
    self().walk(job, [values, factor](std::size_t i, float value) { values[i] += factor * value; });
  }
  void clear_sent(const DecodeJob& job, std::span<std::byte>) const override {
    float* values = job.values.data();
    self().walk(job, [values](std::size_t i, float) { values[i] = 0.0f; });
  }

 protected:
  /// Checks all of a payload without touching values; `values` stands for n elements.
  void check(std::span<const std::byte> payload, const TensorSpec& tensor,
             const SideInputs& side) const {
    // No visit writes: the pointer only has to be as long as the tensor says.
    const DecodeJob job{.payload = payload,
                        .side = side,
                        .values = {static_cast<float*>(nullptr), tensor.n},
                        .name = tensor.name,
                        .shape = tensor.shape};
    self().walk(job, [](std::size_t, float) {});
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace gradwire::compressors
