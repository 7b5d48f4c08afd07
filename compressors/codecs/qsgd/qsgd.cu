#include "compressors/codecs/qsgd/arithmetic.h"
#include "compressors/codecs/qsgd/cuda.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Levels that are fractions of a norm, in codes of fixed width.
namespace gradwire::compressors::cuda {
namespace {

using SquaresPart = MomentsPart<false>;

struct QsgdFinish {
  bool max_norm;
  std::uint32_t levels;
  float* norms;
  NormGrid* grids;
  __device__ void operator()(std::uint64_t b, const SquaresPart& part) const {
    const float norm = max_norm ? float_of(part.largest) : norm_from_squares(part.sum_squares);
    norms[b] = norm;
    grids[b] = norm_grid(norm, levels);
  }
};

struct QsgdEncoder {
  static constexpr bool kChecks = false;
  const NormGrid* grids;
  std::uint64_t bucket;
  int bits;
  NormGrid grid = {};
  std::uint64_t end = 0;  ///< of the bucket whose grid that is

  __device__ void start() {}
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t e, float value, std::uint32_t word) {
    if (e >= end) {
      const std::uint64_t b = e / bucket;
      grid = grids[b];
      end = (b + 1) * bucket;
    }
    return norm_code(value, grid, word >> 8, bits);
  }
};

struct QsgdDecoder {
  const float* norms;
  std::uint64_t bucket;
  std::uint32_t levels;
  int bits;
  NormGrid grid = {};
  std::uint64_t end = 0;

  __device__ void start() {}
  __device__ bool good(std::uint32_t code) const {
    return (code & ((1u << (bits - 1)) - 1)) <= levels;
  }
  __device__ float value(std::uint64_t e, std::uint32_t code) {
    if (e >= end) {
      const std::uint64_t b = e / bucket;
      grid = norm_grid(norms[b], levels);
      end = (b + 1) * bucket;
    }
    return norm_code_value(code, grid, bits);
  }
};

Segments buckets_of(const EncodeTensor& tensor, const QsgdFormat& format) {
  return segments_of(tensor.source.n, format.layout.bucket());
}

NormGrid* grids_of(const EncodeTensor& tensor, const QsgdFormat& format) {
  return reinterpret_cast<NormGrid*>(tensor.scratch +
                                     reduce_scratch<SquaresPart>(buckets_of(tensor, format)));
}

PackedCodes qsgd_codes(const QsgdFormat& format, std::uint64_t n) {
  return {.bits = format.layout.bits(), .at = format.layout.at<QsgdLayout::kCodes>({.n = n})};
}

}  // namespace

std::size_t qsgd_scratch(std::uint64_t n, std::uint64_t bucket) {
  const Segments buckets = segments_of(n, bucket);
  return reduce_scratch<SquaresPart>(buckets) + aligned(buckets.count * sizeof(NormGrid));
}

void qsgd_encode(Encodes from, const QsgdFormat& format) {
  const auto buckets = [&](const EncodeTensor& tensor) { return buckets_of(tensor, format); };
  reduce<SquaresPart>(from, buckets, [&](const EncodeTensor& tensor) {
    return QsgdFinish{format.max_norm, format.layout.levels(),
                      reinterpret_cast<float*>(tensor.payload), grids_of(tensor, format)};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(
        QsgdEncoder{grids_of(tensor, format), format.layout.bucket(), format.layout.bits()},
        qsgd_codes(format, tensor.source.n));
  });
}

void qsgd_decode(Decodes to, const QsgdFormat& format) {
  const auto norms = [](const DecodeTensor& tensor) {
    return reinterpret_cast<const float*>(tensor.payload);
  };
  check_fields(to, format.layout);
  decode_packed(to, [&](const DecodeTensor& tensor) {
    return std::pair(QsgdDecoder{norms(tensor), format.layout.bucket(), format.layout.levels(),
                                 format.layout.bits()},
                     qsgd_codes(format, tensor.sink.n));
  });
}

}  // namespace gradwire::compressors::cuda
