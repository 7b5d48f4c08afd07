#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// The rules that decide which elements a sparse codec sends, for the host and the device.
namespace gradwire::compressors {

inline constexpr std::uint64_t kSampleLine = 16;

/// Which elements a threshold is estimated from: `count` of them, at 0, stride, 2 stride, ...
struct SampleRule {
  std::uint64_t count = 0;
  std::uint64_t stride = 1;
};

/// At most `wanted` samples of n elements. The stride is odd, so that neither rows of even
/// length nor memory pages are in step with it.
GRADWIRE_HD SampleRule sample_rule(std::uint64_t n, std::uint64_t wanted) {
  if (wanted >= n || wanted == 0) return SampleRule{wanted == 0 ? 0 : n, 1};
  const std::uint64_t stride = n / wanted;
  return SampleRule{wanted, stride - (stride % 2 == 0 ? 1 : 0)};
}

/// What an exact selection's first guess is drawn from: `lines` times kSampleLine neighbours, from
/// elements 0, stride, 2 stride, ... A whole cache line costs no more than one element of it.
struct LineSample {
  std::uint64_t lines = 0;
  std::uint64_t stride = kSampleLine;
  GRADWIRE_HD std::uint64_t size() const { return lines * kSampleLine; }
};

/// At most 2,048 lines, and one element in 16. An odd number of lines apart, as above.
GRADWIRE_HD LineSample line_sample(std::uint64_t n) {
  const std::uint64_t all = n / kSampleLine;
  const SampleRule rule = sample_rule(all, all / 16 < 2048 ? all / 16 : 2048);
  return LineSample{rule.count, rule.stride * kSampleLine};
}

/// The k largest of n are about the first ceil(count k / n) of a sample of `count`: the smallest of
/// these is the sampled threshold (DGC, arXiv 1712.01887, section 3). n <= 2^32.
GRADWIRE_HD std::uint64_t sample_rank(std::uint64_t count, std::uint64_t k, std::uint64_t n) {
  return (count * k + n - 1) / n;
}

/// What a sampled threshold may select: at least 0.8 k, or it is lowered; at most 1.3 k, or the
/// selected are cut to exactly k (released code of DGC).
GRADWIRE_HD std::uint64_t fewest_sampled(std::uint64_t k) {
  return (8 * k + 9) / 10;
}
GRADWIRE_HD std::uint64_t most_sampled(std::uint64_t k) {
  return 13 * k / 10;
}
inline constexpr int kThresholdRetries = 10;

/// The next lower threshold, in magnitude bits.
GRADWIRE_HD std::uint32_t lowered_threshold(std::uint32_t magnitude) {
  return magnitude_bits(0.8f * float_of(magnitude));
}

/// Of the sampled threshold, lowered 0, 1, ... kThresholdRetries times, counts[j] elements pass.
/// The first j that at least fewest_sampled(k) pass decides: returns it if at most `most` do, else
/// (or if there is none) -1: exactly k are selected.
GRADWIRE_HD int sampled_retry(const std::uint32_t* counts, std::uint64_t k, std::uint64_t most) {
  for (int j = 0; j <= kThresholdRetries; ++j)
    if (counts[j] >= fewest_sampled(k)) return counts[j] <= most ? j : -1;
  return -1;
}

}  // namespace gradwire::compressors
