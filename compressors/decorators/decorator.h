#pragma once
#include <string>
#include <vector>

#include "compressors/codec.h"

namespace gradwire::compressors {

/// A codec around another: what it does not override is the inner one's. Its payloads and its terms
/// are read as the inner codec reads them. One that changes tensors says so in all of encode,
/// encode_terms and proposed_scale, or a sum would differ from a message.
class Decorator : public Codec {
 public:
  std::string_view name() const override { return name_; }
  AggregatePolicy policy() const override { return inner_->policy(); }
  bool wants_shared_scale() const override { return inner_->wants_shared_scale(); }
  bool one_scale_for_all() const override { return inner_->one_scale_for_all(); }
  /// proposed_scale of a fresh state; it allocates.
  float local_scale(const TensorView& tensor) const override {
    if (!wants_shared_scale()) return inner_->local_scale(tensor);
    const std::vector<std::uint64_t> state(state_size(tensor) / 8 + 1);
    std::vector<std::uint64_t> scratch(scratch_size(tensor) / 8 + 1);
    return proposed_scale(tensor, std::as_bytes(std::span(state)).first(state_size(tensor)),
                          std::as_writable_bytes(std::span(scratch)));
  }
  float proposed_scale(const TensorView& tensor, std::span<const std::byte> state,
                       std::span<std::byte> scratch) const override {
    return inner_->proposed_scale(tensor, state, scratch);
  }
  const SumTerms* sum_terms() const override { return inner_->sum_terms(); }
  void encode_terms(const TermsJob& job, std::span<std::byte> scratch) const override {
    inner_->encode_terms(job, scratch);
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
  /// Whether encode_terms or proposed_scale may be called.
  bool sums() const {
    return inner_->policy() == AggregatePolicy::kSum || inner_->wants_shared_scale();
  }

 private:
  CodecPtr inner_;
  std::string name_;
};

}  // namespace gradwire::compressors
