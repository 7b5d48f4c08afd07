#pragma once
#include <string_view>

#include "compressors/codec.h"

namespace gradwire::compressors {

/// TernGrad's sums T of t over j workers, |T| <= j: terms are int32, sent as codes T + j of
/// ceil(log2(2 j + 1)) bits. All workers share the scale.
class TernaryTerms final : public SumTerms {
 public:
  /// `name` is the codec's, for messages; it outlives this.
  explicit TernaryTerms(std::string_view name) : name_(name) {}
  int width_bits(int contributors) const override;
  void to_terms(const TensorView& tensor, const SideInputs& side, const Draws& draws,
                std::span<std::uint32_t> terms) const override;
  void pack(std::span<const std::uint32_t> terms, int contributors,
            std::span<std::byte> payload) const override;
  void unpack_add(std::span<const std::byte> payload, int contributors,
                  std::span<std::uint32_t> terms) const override;
  void unpack_store(std::span<const std::byte> payload, int contributors,
                    std::span<std::uint32_t> terms) const override;
  void to_values(std::span<const std::uint32_t> terms, const SideInputs& side, float factor,
                 std::span<float> values) const override;

 private:
  void require_codes(std::uint32_t seen, std::span<const std::byte> payload, std::size_t n,
                     int contributors) const;
  std::string_view name_;
};

}  // namespace gradwire::compressors
