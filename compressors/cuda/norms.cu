#include "compressors/arithmetic/natural.h"
#include "compressors/arithmetic/norm_levels.h"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Levels that are fractions of a norm: qsgd (fixed width) and dither.
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

__global__ void check_norms_kernel(const float* norms, std::uint64_t buckets, CudaReport* report) {
  for (std::uint64_t b = first_item(); b < buckets; b += stride())
    if (!is_scale(norms[b])) refuse(report, 4 * b);
}

struct DitherFinish {
  DitherFormat format;
  RandomStream draws;
  std::uint64_t first_element;
  std::byte* payload;
  DitherRule* rule;
  __device__ void operator()(std::uint64_t, const SquaresPart& part) const {
    const float norm =
        format.euclidean ? norm_from_squares(part.sum_squares) : float_of(part.largest);
    *rule = dither_rule(norm, format.levels);
    if (!format.natural_norm) return store_bytes(payload, bits_of(norm), 4);
    RandomStream stream = draws;
    stream.worker ^= kNormWorkerBit;
    store_bytes(payload, natural_code9(norm, philox_word(stream, first_element)), 2);
  }
};

struct DitherEncoder {
  static constexpr bool kChecks = false;
  const DitherRule* found;
  int bits;
  DitherRule rule = {};

  __device__ void start() { rule = *found; }
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t word) const {
    return dither_code(value, word, rule, bits);
  }
};

__device__ float dither_norm(const std::byte* payload, bool natural) {
  return natural ? natural_value9(load_bytes(payload, 2)) : load_float(payload);
}

struct DitherDecoder {
  const std::byte* payload;
  DitherFormat format;
  float norm = 0;

  __device__ void start() { norm = dither_norm(payload, format.natural_norm); }
  __device__ bool good(std::uint32_t code) const {
    return (code & ((1u << (format.bits - 1)) - 1)) <= static_cast<std::uint32_t>(format.levels);
  }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return dither_value(code, norm, format.levels, format.bits);
  }
};

__global__ void check_dither_kernel(const std::byte* payload, bool natural, CudaReport* report) {
  const bool good = natural ? load_bytes(payload, 2) <= 254 : is_scale(load_float(payload));
  if (!good) refuse(report, 0);
}

PackedCodes dither_codes(const DitherFormat& format) {
  return {.bits = format.bits, .at = format.natural_norm ? 2u : 4u};
}

}  // namespace

std::size_t qsgd_scratch(std::uint64_t n, std::uint64_t bucket) {
  const Segments buckets = segments_of(n, bucket);
  return reduce_scratch<SquaresPart>(buckets) + aligned(buckets.count * sizeof(NormGrid));
}

void qsgd_encode(const Source& from, const QsgdFormat& format, std::byte* payload,
                 std::byte* scratch) {
  const Segments buckets = segments_of(from.n, format.bucket);
  auto* grids = reinterpret_cast<NormGrid*>(scratch + reduce_scratch<SquaresPart>(buckets));
  reduce<SquaresPart>(
      from, buckets, scratch,
      QsgdFinish{format.max_norm, format.levels, reinterpret_cast<float*>(payload), grids});
  encode_packed(QsgdEncoder{grids, format.bucket, format.bits}, from,
                {.bits = format.bits, .at = format.codes_at}, payload);
}

void qsgd_decode(const std::byte* payload, const QsgdFormat& format, const Sink& to) {
  const auto* norms = reinterpret_cast<const float*>(payload);
  const std::uint64_t buckets = format.codes_at / 4;
  if (!to.trusted) {
    check_norms_kernel<<<grid_of(buckets), kThreads, 0, stream_of(to.stream)>>>(norms, buckets,
                                                                                to.report);
    check_launch("check norms");
  }
  decode_packed(QsgdDecoder{norms, format.bucket, format.levels, format.bits},
                {.bits = format.bits, .at = format.codes_at}, payload, to);
}

std::size_t dither_scratch(std::uint64_t n) {
  return reduce_scratch<SquaresPart>(whole_tensor(n)) + aligned(sizeof(DitherRule));
}

void dither_encode(const Source& from, const DitherFormat& format, std::byte* payload,
                   std::byte* scratch) {
  const Segments whole = whole_tensor(from.n);
  auto* rule = reinterpret_cast<DitherRule*>(scratch + reduce_scratch<SquaresPart>(whole));
  reduce<SquaresPart>(from, whole, scratch,
                      DitherFinish{format, from.draws, from.first_element, payload, rule});
  encode_packed(DitherEncoder{rule, format.bits}, from, dither_codes(format), payload);
}

void dither_decode(const std::byte* payload, const DitherFormat& format, const Sink& to) {
  if (!to.trusted) {
    check_dither_kernel<<<1, 1, 0, stream_of(to.stream)>>>(payload, format.natural_norm, to.report);
    check_launch("check a norm");
  }
  decode_packed(DitherDecoder{payload, format}, dither_codes(format), payload, to);
}

}  // namespace gradwire::compressors::cuda
