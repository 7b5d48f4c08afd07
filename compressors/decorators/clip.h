#pragma once
#include "compressors/codec.h"

/// Clipping around any codec: large gradients are bounded before anything else sees them.
namespace gradwire::compressors {

enum class ClipBy {
  kNorm,   ///< g * min(1, threshold / ||g||_2), as DGC clips locally (arXiv 1712.01887, 3.2)
  kValue,  ///< each element into [-threshold, threshold]
  kSigma,  ///< each element into +-threshold * sigma, as TernGrad clips (arXiv 1705.07878, 5)
};

/// Per tensor: norm and sigma are those of the one tensor that a call encodes. A threshold of n
/// sigma of a constant tensor (sigma = 0) does not clip: it would erase the tensor.
struct Clipping {
  ClipBy by = ClipBy::kNorm;
  double threshold = 1;  ///< > 0
};

/// Encodes the clipped tensor; what clipping cuts off is gone (error feedback inside it sees the
/// clipped tensor). Norm and sigma are ordered sums (compressors/ordered_sum.h). State: the inner
/// codec's. Policy: the inner one, but kGather for kRequantize unless clipped by value, since parts
/// of a tensor have other norms and sigmas than the tensor.
/// Name: the inner name and "+clip". Throws Error(kUsage) unless the threshold is finite and above
/// 0.
CodecPtr with_clipping(CodecPtr inner, const Clipping& clipping);

}  // namespace gradwire::compressors
