#pragma once
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "compressors/kernels/output.h"
#include "compressors/layout/layout.h"

namespace gradwire::compressors {

/// A codec all of whose payload is laid out by its options and the tensor's extent: from the layout
/// follow the size, what decoders refuse before they read, where elements lie, and what people are
/// shown. Derived gives
///   void read(const DecodeJob&, kernels::Output, float factor, std::span<std::byte> scratch)
///   const;
///     // values = decoded, or += factor * decoded; the factor is 1 where values are stored
/// and where people should be shown decoded values in place of codes
///   void show(const std::vector<float>& decoded, std::vector<PayloadField>&) const;
template <class Derived, class LayoutOfIt>
class LaidOutCodec : public Codec {
 public:
  std::size_t max_encoded_size(const TensorSpec& tensor) const final {
    return static_cast<std::size_t>(layout_.size(extent_of(tensor)));
  }
  std::optional<PackedElements> packed_elements(const TensorSpec& tensor) const final {
    return packed_elements_of(layout_, extent_of(tensor));
  }
  void decode(const DecodeJob& job, std::span<std::byte> scratch) const final {
    check(job);
    self().read(job, kernels::output_of(job.values.size_bytes()), 1.0f, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const final {
    check(job);
    self().read(job, kernels::Output::kAdd, factor, scratch);
  }
  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const final {
    std::vector<float> values(tensor.n);
    std::vector<std::uint64_t> scratch(self().scratch_size(tensor) / 8 + 1);
    decode({.payload = payload,
            .side = side,
            .values = values,
            .name = tensor.name,
            .shape = tensor.shape},
           std::as_writable_bytes(std::span(scratch)));
    auto fields = described(payload, layout_, extent_of(tensor));
    if constexpr (requires { self().show(values, fields); }) self().show(values, fields);
    return fields;
  }

 protected:
  explicit LaidOutCodec(LayoutOfIt layout) : layout_(layout) {}

  const LayoutOfIt& layout() const { return layout_; }
  /// The byte at which a section begins.
  template <std::size_t kIndex>
  std::size_t at(std::size_t n) const {
    return static_cast<std::size_t>(layout_.template at<kIndex>({.n = n, .columns = n}));
  }
  /// What an encoder begins with: refuses a tensor that the layout cannot count; returns the size
  /// of its payload, for which there is room.
  std::size_t begin_encoding(const EncodeJob& job) const {
    if constexpr (LayoutOfIt::kCountsElements)
      require_countable(self().name(), job.tensor.name, job.tensor.data.size());
    const std::size_t size = max_encoded_size(job.tensor);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    return size;
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  void check(const DecodeJob& job) const {
    require_layout(self().name(), job.payload, layout_, extent_of(job.spec()));
  }

  LayoutOfIt layout_;
};

}  // namespace gradwire::compressors
