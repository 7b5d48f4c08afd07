#include "compressors/cuda/eight.cuh"

/// Reports, and what every codec does to a tensor as a whole.
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

  std::uint64_t units() const { return units_of(from.n, kTile); }
  __device__ void run(std::uint64_t unit) const {
    const std::uint64_t first = first_of_eight(unit);
    if (first >= from.n) return;
    float values[kEight], addends[kEight];
    load_eight(from.values, first, from.n, values);
    load_eight(addend, first, from.n, addends);
#pragma unroll
    for (unsigned j = 0; j < kEight; ++j)
      if (!is_finite(values[j] + addends[j])) refuse(from.report, first + j);
  }
};

struct AddValues {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  float* out;

  std::uint64_t units() const { return units_of(from.n, kTile); }
  __device__ void run(std::uint64_t unit) const {
    const std::uint64_t first = first_of_eight(unit);
    if (first >= from.n || refused(from.report)) return;
    float values[kEight], sums[kEight];
    load_eight(from.values, first, from.n, values);
    load_eight<float>(out, first, from.n, sums);
#pragma unroll
    for (unsigned j = 0; j < kEight; ++j) sums[j] = values[j] + sums[j];
    store_eight(sums, first, from.n, out);
  }
};

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

void zero(const Sink& to) {
  check_cuda(cudaMemsetAsync(to.values, 0, to.n * sizeof(float), stream_of(to.stream)),
             "clear values");
}

}  // namespace gradwire::compressors::cuda
