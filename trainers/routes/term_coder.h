#pragma once
#include <cstdint>
#include <span>

#include "trainers/layout.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/sum_groups.h"

namespace gradwire::trainers {

/// One worker's tensors as terms of a sum, and a sum of terms as the mean's values; on the host.
/// Settings, layout and groups outlive it.
class TermCoder {
 public:
  TermCoder(const ExchangeSettings& settings, const Layout& layout, const SumGroups& groups);

  /// The scale that a worker proposes for tensor t.
  float scale_of(StateStore& states, int worker, std::size_t t, std::span<const float> data) const;
  /// Fills the tensor's terms at that scale (-1: none is shared); the codec's state moves on.
  void encode(StateStore& states, int worker, std::size_t t, std::span<const float> data,
              std::int64_t step, float scale, std::span<std::uint32_t> terms) const;
  /// `factor` times the values of the tensor's terms. `terms` and `values` are of the whole layout.
  void to_values(std::size_t t, std::span<std::uint32_t> terms, float scale, float factor,
                 std::span<float> values) const;

 private:
  compressors::TensorSpec spec(std::size_t t) const { return spec_of(layout_.tensors()[t]); }
  compressors::TensorView view(std::size_t t, std::span<const float> data) const;
  std::span<std::byte> state_of(StateStore& states, int worker, std::size_t t) const;

  const ExchangeSettings& settings_;
  const Layout& layout_;
  const SumGroups& groups_;
  std::size_t scratch_size_ = 0;
};

}  // namespace gradwire::trainers
