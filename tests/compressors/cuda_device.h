#pragma once
#include "codec_fixture.h"
#include "compressors/cuda/cuda_codec.h"
#include "cuda_variants.h"
#include "tests/skip.h"

namespace gradwire::compressors::testing {

inline void require_device() {
  const std::string reason = why_no_cuda_device();
  if (!reason.empty()) gradwire::testing::skip("no CUDA device can be used (" + reason + ")");
}

struct CodecPair {
  CodecPtr cpu;
  CudaCodecPtr gpu;
};

/// Every variant, and each with error feedback.
inline std::vector<CodecPair> all_pairs() {
  std::vector<CodecPair> pairs;
  for (const auto& [name, options] : kVariants) {
    pairs.push_back({make_codec(name, options), make_cuda_codec(name, options)});
    pairs.push_back({with_error_feedback(pairs.back().cpu), with_error_feedback(pairs.back().gpu)});
  }
  return pairs;
}

}  // namespace gradwire::compressors::testing
