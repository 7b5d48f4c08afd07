#pragma once
#include <string>

#include "compressors/codec.h"

namespace gradwire::compressors {

/// A codec around another: what it does not override is the inner one's. Its payloads are read as
/// the inner codec reads them.
class Decorator : public Codec {
 public:
  std::string_view name() const override { return name_; }
  /// The inner one's, but kGather for kSum: sums' terms know nothing of decorators.
  AggregatePolicy policy() const override {
    const AggregatePolicy inner = inner_->policy();
    return inner == AggregatePolicy::kSum ? AggregatePolicy::kGather : inner;
  }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return inner_->max_encoded_size(tensor);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return inner_->scratch_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return inner_->state_size(tensor);
  }
  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    inner_->decode(job, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    inner_->decode_accumulate(job, factor, scratch);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec& tensor) const override {
    return inner_->packed_elements(tensor);
  }
  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    return inner_->explain(payload, tensor, side);
  }

 protected:
  /// Name: the inner name and `suffix`.
  Decorator(CodecPtr inner, std::string_view suffix)
      : inner_(std::move(inner)), name_(std::string(inner_->name()).append(suffix)) {}

  const Codec& inner() const { return *inner_; }

 private:
  CodecPtr inner_;
  std::string name_;
};

}  // namespace gradwire::compressors
