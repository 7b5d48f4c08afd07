#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "compressors/codecs/level_coding.h"
#include "compressors/codecs/qsgd/kernel.h"
#include "compressors/codecs/qsgd/layout.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

/// What the formats of qsgd share.
namespace gradwire::compressors {

inline constexpr std::string_view kQsgd = "qsgd";

struct QsgdOptions {
  std::uint32_t levels;  ///< s
  std::size_t bucket;
  bool max_norm;
};

/// Norms, one a bucket.
class QsgdNorms {
 public:
  explicit QsgdNorms(const QsgdOptions& options) : options_(options) {}

  /// The norm of the bucket that begins at `begin`; 0, and `finite` lowered, if a value is not.
  float norm_of(const EncodeJob& job, std::size_t begin, std::atomic<bool>& finite) const {
    const float* values = job.tensor.data.data() + begin;
    const std::size_t n = std::min(options_.bucket, job.tensor.data.size() - begin);
    float norm;
    if (options_.max_norm) {
      norm = float_of(kernels::max_magnitude_bits(values, n));
    } else {
      const double squares = kernels::sum_of_squares(values, n);
      norm = std::isfinite(squares) ? norm_from_squares(squares)
                                    : std::numeric_limits<float>::infinity();
    }
    if (std::isfinite(norm)) return norm;
    finite = false;
    return 0.0f;
  }

  NormGrid grid_of(float norm) const { return norm_grid(norm, options_.levels); }

 protected:
  QsgdOptions options_;
};

/// Codes of fixed width.
CodecPtr make_qsgd_fixed(const QsgdOptions& options);
/// Elias omega codes of all levels, or of those that are not 0 and their distances.
CodecPtr make_qsgd_elias(const QsgdOptions& options, bool sparse);

}  // namespace gradwire::compressors
