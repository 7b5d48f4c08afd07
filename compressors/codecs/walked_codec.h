#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compressors/codec.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/field_text.h"
#include "compressors/layout/sections.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/selection.h"

/// What sparse codecs share: payloads that are read entry by entry.
namespace gradwire::compressors {

inline constexpr const char* kNoFiniteValue = "an entry with no finite value";
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_entry(std::string_view codec,
                                                                std::span<const std::byte> payload,
                                                                std::uint64_t at,
                                                                const char* what) {
  refuse_payload(codec, payload.size(), "byte " + std::to_string(at) + " begins " + what);
}

inline void refuse_beyond(std::string_view codec, const TensorView& tensor, std::size_t limit) {
  if (tensor.data.size() > limit)
    refuse_tensor(codec, tensor.name,
                  "it has more than " + std::to_string(limit) + " elements, the format's limit");
}

/// A codec whose payload names entries. Derived gives
///   auto open(const DecodeJob&, std::span<std::byte> scratch) const;
///     // what is known before an entry is read; refuses what can be seen to be wrong
///   template <class Visit>
///   void walk(const DecodeJob&, const Opened&, Visit&& visit(index, value)) const;
///     // refuses any payload that is not right; indices are below n
template <class Derived>
class WalkedCodec : public Codec, public NamesElements {
 public:
  void decode(const DecodeJob& job, std::span<std::byte> scratch) const final {
    const auto opened = self().open(job, scratch);
    clear_values(job.values, job.team);
    float* values = job.values.data();
    self().walk(job, opened, [values](std::size_t i, float value) { values[i] = value; });
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const final {
    float* values = job.values.data();
    self().walk(job, self().open(job, scratch),
                [values, factor](std::size_t i, float value) { values[i] += factor * value; });
  }
  void clear_sent(const DecodeJob& job, std::span<std::byte> scratch) const final {
    float* values = job.values.data();
    self().walk(job, self().open(job, scratch),
                [values](std::size_t i, float) { values[i] = 0.0f; });
  }

 protected:
  /// Checks all of a payload without touching values; visit(index, value) sees the entries.
  template <class Visit>
  void check(std::span<const std::byte> payload, const TensorSpec& tensor, const SideInputs& side,
             Visit&& visit) const {
    // No visit writes: the pointer only has to be as long as the tensor says.
    const DecodeJob job{.payload = payload,
                        .side = side,
                        .values = {static_cast<float*>(nullptr), tensor.n},
                        .name = tensor.name,
                        .shape = tensor.shape};
    std::vector<std::uint64_t> scratch(self().scratch_size(tensor) / 8 + 1);
    self().walk(job, self().open(job, std::as_writable_bytes(std::span(scratch))), visit);
  }
  void check(std::span<const std::byte> payload, const TensorSpec& tensor,
             const SideInputs& side) const {
    check(payload, tensor, side, [](std::size_t, float) {});
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace gradwire::compressors
