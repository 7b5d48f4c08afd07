#include "compressors/arithmetic/bfloat.h"
#include "compressors/arithmetic/half.h"
#include "compressors/cuda/batch.cuh"

namespace gradwire::compressors::cuda {
namespace {

struct BeginReport {
  static constexpr unsigned kBlockThreads = 32;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x == 0) *report = CudaReport{0, kNothingBad};
  }
};

struct FinishReport {
  static constexpr unsigned kBlockThreads = 32;
  ReportEnd end;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x != 0) return;
    if (refused(end.report))
      end.report->written = 0;
    else if (end.written != kWrittenByKernel)
      end.report->written = end.written;
  }
};

struct CheckSums {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  const float* addend;

  std::uint64_t units() const { return units_of(from.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, from.n, [&](std::uint64_t i) {
      if (!is_finite(from.values[i] + addend[i])) refuse(from.report, i);
    });
  }
};

struct AddValues {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  float* out;

  std::uint64_t units() const { return units_of(from.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    if (refused(from.report)) return;
    for_each_of(unit, from.n, [&](std::uint64_t i) { out[i] = from.values[i] + out[i]; });
  }
};

struct FloatFormat {
  using Word = float;
  __device__ static float from_float(float value, bool) { return value; }
  __device__ static float to_float(float word) { return word; }
};
struct HalfFormat {
  using Word = std::uint16_t;
  __device__ static std::uint16_t from_float(float value, bool saturate) {
    return half_from_float(value, saturate);
  }
  __device__ static float to_float(std::uint16_t word) { return float_from_half(word); }
};
struct BfloatFormat {
  using Word = std::uint16_t;
  __device__ static std::uint16_t from_float(float value, bool saturate) {
    return bfloat_from_float(value, saturate);
  }
  __device__ static float to_float(std::uint16_t word) { return float_from_bfloat(word); }
};

template <class Format>
struct EncodeWords {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  bool saturate;
  typename Format::Word* words;

  std::uint64_t units() const { return units_of(from.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, from.n, [&](std::uint64_t i) {
      const float value = from.values[i];
      if (!is_finite(value)) refuse(from.report, i);
      words[i] = Format::from_float(value, saturate);
    });
  }
};

template <class Format, bool kAdd>
struct DecodeWords {
  static constexpr unsigned kBlockThreads = kThreads;
  const typename Format::Word* words;
  Sink to;

  std::uint64_t units() const { return units_of(to.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    if (refused(to.report)) return;
    for_each_of(unit, to.n, [&](std::uint64_t i) {
      const float value = Format::to_float(words[i]);
      to.values[i] = kAdd ? to.values[i] + to.factor * value : value;
    });
  }
};

template <class Format>
void encode(Encodes from, bool saturate) {
  launch_items(from.size(), common_stream(from), "encode tensors", [&](std::size_t i) {
    auto* words = reinterpret_cast<typename Format::Word*>(from[i].payload);
    return EncodeWords<Format>{from[i].source, saturate, words};
  });
}

template <class Format, bool kAdd>
void decode_words(Decodes to) {
  launch_items(to.size(), common_stream(to), "decode tensors", [&](std::size_t i) {
    const auto* words = reinterpret_cast<const typename Format::Word*>(to[i].payload);
    return DecodeWords<Format, kAdd>{words, to[i].sink};
  });
}

template <class Format>
void decode(Decodes to) {
  if (to[0].sink.add)
    decode_words<Format, true>(to);
  else
    decode_words<Format, false>(to);
}

}  // namespace

void begin_reports(std::span<const ReportEnd> reports, void* stream) {
  launch_items(reports.size(), stream, "begin reports",
               [&](std::size_t i) { return BeginReport{reports[i].report}; });
}

void finish_reports(std::span<const ReportEnd> reports, void* stream) {
  launch_items(reports.size(), stream, "finish reports",
               [&](std::size_t i) { return FinishReport{reports[i]}; });
}

void add_to_residuals(Encodes from, std::span<float* const> residuals) {
  launch_items(from.size(), common_stream(from), "check sums", [&](std::size_t i) {
    return CheckSums{from[i].source, residuals[i]};
  });
  launch_items(from.size(), common_stream(from), "add values", [&](std::size_t i) {
    return AddValues{from[i].source, residuals[i]};
  });
}

void float_encode(Encodes from) {
  encode<FloatFormat>(from, false);
}
void float_decode(Decodes to) {
  decode<FloatFormat>(to);
}
void half_encode(Encodes from, bool saturate) {
  encode<HalfFormat>(from, saturate);
}
void half_decode(Decodes to) {
  decode<HalfFormat>(to);
}
void bfloat_encode(Encodes from, bool saturate) {
  encode<BfloatFormat>(from, saturate);
}
void bfloat_decode(Decodes to) {
  decode<BfloatFormat>(to);
}

void zero(const Sink& to) {
  check_cuda(cudaMemsetAsync(to.values, 0, to.n * sizeof(float), stream_of(to.stream)),
             "clear values");
}

}  // namespace gradwire::compressors::cuda
