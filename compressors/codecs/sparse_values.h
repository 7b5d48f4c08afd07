#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "compressors/codec.h"
#include "compressors/selection.h"

/// What the sparse codecs share: their options, and their values as f32 or through a dense codec.
namespace gradwire::compressors {

/// max(1, ceil(ratio n)), at most n; 0 for n = 0. The product is taken 1e-12 (relative) low, so
/// that a ratio that is exact in decimals (0.07 * 100) does not round up to one more.
std::size_t topk_count(std::size_t n, double ratio);
/// max(1, floor(ratio n)), at most n; 0 for n = 0. The product is taken 1e-12 (relative) high, so
/// that a ratio that is exact in decimals (0.29 * 100) does not round down to one less.
std::size_t floor_count(std::size_t n, double ratio);

/// How many elements a sparse codec sends.
struct SparseCount {
  std::size_t k = 0;  ///< 0 = by ratio
  double ratio = 0.01;
  std::size_t of(std::size_t n) const;
};

OptionSpec ratio_option(std::string default_text, std::string help);
OptionSpec k_option();
OptionTable selection_options(std::string default_selection);
SparseCount sparse_count(const OptionValues& options);
SelectionRule selection_rule(const OptionValues& options);

/// values = 0, on the team's threads.
void clear_values(std::span<float> values, ThreadTeam* team);

/// The section of a payload that holds k values: f32 each, or the payload of a dense codec with its
/// default options, to which they are a tensor of k elements (its draws are those of elements
/// first_element, first_element + 1, ...).
class ValueSection {
 public:
  /// "f32" or a dense codec that needs neither state, shape nor mask; throws Error(kUsage).
  explicit ValueSection(const std::string& name);
  bool plain() const { return codec_ == nullptr; }
  std::size_t max_size(std::size_t k) const;
  std::size_t scratch_size(std::size_t k) const;
  /// Writes `values` of job.tensor to `section`; returns the bytes written. Where `left` is not
  /// empty, left[k] (which may not overlap) is what was not sent: values - decoded.
  std::size_t encode(const EncodeJob& job, std::span<const float> values,
                     std::span<std::byte> section, std::span<float> left,
                     std::span<std::byte> scratch) const;
  /// `section` is the rest of `job.payload`. Errors name the byte in the section.
  void decode(std::string_view codec, const DecodeJob& job, std::span<const std::byte> section,
              std::span<float> values, std::span<std::byte> scratch) const;

 private:
  CodecPtr codec_;
};

}  // namespace gradwire::compressors
