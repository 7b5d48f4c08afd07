#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compressors/codec.h"

/// Selecting the elements of largest magnitude, for every sparse codec. Ties go to the lower index;
/// the result does not depend on threads or instruction set. Tensors of up to 2^32 - 1 elements.
namespace gradwire::compressors {

/// How the threshold is found. `sampled` is DGC's (arXiv 1712.01887, section 3): the threshold of a
/// sample of max(share n, 160 n / k) elements (see sample_rule), lowered while fewer than 0.8 k
/// pass, at most 10 times; from 0.8 k to 1.3 k are sent; if there are more, or too few even then,
/// exactly k.
struct SelectionRule {
  bool sampled = false;
  double sample_share = 0.001;
};

/// The selected entries by ascending index, in the scratch of the call.
struct Selected {
  std::uint32_t threshold = 0;  ///< magnitude bits that all of them reach; 0 for none
  std::size_t ties = 0;         ///< how many of them have just that magnitude
  std::span<const std::uint32_t> indices = {};
  std::span<const float> values = {};
};

/// The most entries that a rule selects for k <= n: k, or up to 1.3 k if it samples.
std::size_t most_selected(std::size_t n, std::size_t k, SelectionRule rule = {});

/// How many elements the threshold is estimated from: the sample of `sampled`, or of an exact
/// selection's first guess.
std::size_t selection_sample_size(std::size_t n, std::size_t k, SelectionRule rule);

/// Bytes of scratch for the calls below (aligned to 8): 16 bytes for each of about 2 k entries, the
/// sample, and little else.
std::size_t selection_scratch_size(std::size_t n, std::size_t k, SelectionRule rule = {});

/// The k <= n elements of largest magnitude. Reads the tensor once, unless a sample misleads.
/// Throws CodecError, in the name of `codec`, on NaN or Inf, and where n exceeds 2^32 - 1.
Selected select_largest(std::string_view codec, const TensorView& tensor, std::size_t k,
                        std::span<std::byte> scratch, ThreadTeam* team = nullptr,
                        SelectionRule rule = {});

/// A velocity's step, velocity[n] <- momentum velocity + factor gradient, in three roundings.
struct VelocityStep {
  std::span<const float> gradient;
  std::span<float> velocity;
  float momentum = 0;
  float factor = 1;     ///< in [0, 1]
  bool finite = false;  ///< all of the gradient is known to be

  float at(std::size_t e) const { return momentum * velocity[e] + factor * gradient[e]; }
  void take(std::size_t begin, std::size_t end) const;
};

/// As select_largest of job.tensor + residual: residual[n] += tensor, and 0 where selected. Where
/// the job keeps its state the tensor is read once before, so that NaN or Inf in it leaves the
/// residual as it was. Where a sum of two finite values overflows, the residual may hold the sum of
/// some elements: discard it then. With a step, the tensor is its velocity, which advances block by
/// block as it is read, and the gradient is the one that is looked at.
Selected select_largest_of_sum(std::string_view codec, const EncodeJob& job,
                               std::span<float> residual, std::size_t k,
                               std::span<std::byte> scratch, SelectionRule rule = {},
                               const VelocityStep* step = nullptr);

/// Implemented by sparse codecs that can add a velocity to the residual while it advances, in one
/// pass over memory.
class SelectsVelocities {
 public:
  virtual ~SelectsVelocities() = default;
  /// As step.take(0, n) and encode_with_residual of job.tensor = step.velocity.
  virtual std::size_t encode_velocity(EncodeJob& job, const VelocityStep& step,
                                      std::span<float> residual,
                                      std::span<std::byte> scratch) const = 0;
};

/// Implemented by codecs that can multiply a tensor as they read it.
class EncodesScaled {
 public:
  virtual ~EncodesScaled() = default;
  /// Whether this one can, with its options.
  virtual bool encodes_scaled() const = 0;
  /// As encode of factor job.tensor, bit for bit. Precondition: the tensor is finite, and the
  /// factor in [0, 1].
  virtual std::size_t encode_scaled(EncodeJob& job, float factor,
                                    std::span<std::byte> scratch) const = 0;
};

/// Implemented by sparse codecs that know from a payload alone which elements it names.
class NamesElements {
 public:
  virtual ~NamesElements() = default;
  /// values[i] = 0 for each element i that the payload carries, whatever its value. Same errors as
  /// decode.
  virtual void clear_sent(const DecodeJob& job, std::span<std::byte> scratch) const = 0;
};

}  // namespace gradwire::compressors
