#include <Eigen/Core>
#include <Eigen/QR>
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>

#include "base/thread_team.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/powersgd/kernel.h"
#include "compressors/codecs/powersgd/layout.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

/// PowerSGD: the tensor as a matrix M[a, b], a = its first dimension, b = the rest, is sent as P
/// Q':
///
///   P = orthonormal basis of M Q      Q: as sent last (warm start), or drawn
///   Q = M' P                          one step of subspace iteration
///
/// Bytes: P[a, r] f32, then Q[b, r] f32, row-major. Tensors of fewer than two dimensions, and those
/// whose factors would take as many bytes as they do, are sent as they are. Sums are in double and
/// in a fixed order; the orthogonalisation is Eigen's, so bytes depend on how it was compiled.
namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "powersgd";

/// Column-major, so that each column of P is in one piece; the bound on the columns keeps Eigen's
/// own work space out of the heap.
using Tall = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, Eigen::Dynamic,
                           static_cast<int>(kernels::kLargestRank)>;
using WorkRow = Eigen::Matrix<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1,
                              static_cast<int>(kernels::kLargestRank)>;

/// basis = orthonormal columns that span those of `p`, whatever their rank; p is overwritten.
void orthonormalise(const Factors& f, double* p, double* basis) {
  const auto rows = static_cast<Eigen::Index>(f.rows), rank = static_cast<Eigen::Index>(f.rank);
  Eigen::Map<Tall> input(p, rows, rank), output(basis, rows, rank);
  Eigen::Ref<Tall> in_place(input);
  const Eigen::HouseholderQR<Eigen::Ref<Tall>> qr(in_place);
  output.setIdentity();
  WorkRow work(rank);
  qr.householderQ().applyThisOnTheLeft(output, work);
}

float saturated(double value) {
  return static_cast<float>(std::clamp(value, -double{FLT_MAX}, double{FLT_MAX}));
}

class PowerSgdCodec final : public LaidOutCodec<PowerSgdCodec, PowerSgdLayout> {
 public:
  PowerSgdCodec(std::size_t rank, std::size_t iterations, bool warm_start)
      : LaidOutCodec(PowerSgdLayout(rank)),
        rank_(rank),
        iterations_(iterations),
        warm_start_(warm_start) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t scratch_size(const TensorSpec& tensor) const override {
    const Factors f = factors_of(extent_of(tensor), rank_);
    return sizeof(double) * f.rank * (2 * f.rows + f.columns);
  }
  /// Q as sent last, f32 [columns, rank].
  std::size_t state_size(const TensorSpec& tensor) const override {
    const Factors f = factors_of(extent_of(tensor), rank_);
    return warm_start_ ? padded_to_8(sizeof(float) * f.rank * f.columns) : 0;
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::span<const float> data = job.tensor.data;
    const Factors f = factors_of(extent_of(job.tensor), rank_);
    const std::size_t size = begin_encoding(job);
    require_finite(kName, job.tensor, kernels::max_magnitude_bits(data.data(), data.size()));
    if (f.rank == 0) {
      const auto bytes = std::as_bytes(data);
      std::copy(bytes.begin(), bytes.end(), job.payload.begin());
    } else {
      encode_factors(f, job, scratch);
    }
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte> scratch) const {
    if (output != kernels::Output::kAdd)
      return read_rows(job, scratch, kernels::combine_row,
                       [](float, float value) { return value; });
    read_rows(
        job, scratch,
        [factor](const double* p, const double* q, std::size_t columns, std::size_t rank,
                 float* values) { kernels::combine_row_add(p, q, columns, rank, factor, values); },
        [factor](float sum, float value) { return sum + factor * value; });
  }

 private:
  struct Work {
    double *product, *basis, *q;  ///< [rank, rows] twice, [rank, columns]
  };

  void encode_factors(const Factors& f, EncodeJob& job, std::span<std::byte> scratch) const {
    const auto words = view_as<double>(scratch, f.rank * (2 * f.rows + f.columns));
    const Work work{words.data(), words.data() + f.rank * f.rows,
                    words.data() + 2 * f.rank * f.rows};
    start(f, job, work.q);
    for (std::size_t i = 0; i < iterations_; ++i) iterate(f, job, work);
    for (std::size_t i = 0; i < f.rows; ++i)
      for (std::size_t k = 0; k < f.rank; ++k)
        store_field(job.payload, sizeof(float) * (i * f.rank + k),
                    static_cast<float>(work.basis[k * f.rows + i]));
    const auto q_bytes = job.payload.subspan(sizeof(float) * f.rows * f.rank);
    for (std::size_t j = 0; j < f.columns; ++j)
      for (std::size_t k = 0; k < f.rank; ++k)
        store_field(q_bytes, sizeof(float) * (j * f.rank + k),
                    saturated(work.q[k * f.columns + j]));
    if (warm_start_)
      std::copy_n(q_bytes.begin(), sizeof(float) * f.columns * f.rank, job.state.begin());
  }

  void start(const Factors& f, const EncodeJob& job, double* q) const {
    const std::size_t count = f.columns * f.rank;
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    GRADWIRE_ASSERT(!warm_start_ || job.state.size() >= sizeof(float) * count);
    const bool warm = warm_start_ && !std::all_of(job.state.begin(), job.state.end(), is_zero);
    if (!warm) require_draws(kName, job.tensor, job.draws);
    for (std::size_t j = 0; j < f.columns; ++j)
      for (std::size_t k = 0; k < f.rank; ++k) {
        const std::size_t e = j * f.rank + k;
        const float value =
            warm ? load_field<float>(job.state, sizeof(float) * e) : drawn(job.draws, e) - 0.5f;
        q[k * f.columns + j] = static_cast<double>(value);
      }
  }

  static float drawn(const Draws& draws, std::size_t e) {
    return draws.injected.empty() ? uniform(draws.stream, draws.first_element + e)
                                  : draws.injected[e];
  }

  static void iterate(const Factors& f, const EncodeJob& job, const Work& work) {
    const float* m = job.tensor.data.data();
    for_ranges(job.team, f.rows, 1, kRangeElements / f.columns + 1,
               [&](std::size_t begin, std::size_t end) {
                 kernels::multiply_rows(m, f.rows, f.columns, begin, end, work.q, f.rank,
                                        work.product);
               });
    orthonormalise(f, work.product, work.basis);
    for_ranges(job.team, f.columns, 16, kRangeElements / f.rows + 1,
               [&](std::size_t begin, std::size_t end) {
                 kernels::multiply_columns(m, f.rows, f.columns, begin, end, work.basis, f.rank,
                                           work.q);
               });
  }

  template <class Combine, class Put>
  void read_rows(const DecodeJob& job, std::span<std::byte> scratch, Combine&& combine,
                 Put&& put) const {
    const Factors f = factors_of(extent_of(job.spec()), rank_);
    const std::span<const std::byte> payload = job.payload;
    if (f.rank == 0) {
      for (std::size_t e = 0; e < job.values.size(); ++e)
        job.values[e] = put(job.values[e], load_field<float>(payload, sizeof(float) * e));
      return;
    }
    const auto q = view_as<double>(scratch, f.rank * f.columns);
    const auto q_bytes = payload.subspan(sizeof(float) * f.rows * f.rank);
    for (std::size_t j = 0; j < f.columns; ++j)
      for (std::size_t k = 0; k < f.rank; ++k)
        q[k * f.columns + j] = load_field<float>(q_bytes, sizeof(float) * (j * f.rank + k));
    for_ranges(job.team, f.rows, 1, (std::size_t{1} << 16) / f.columns + 1,
               [&](std::size_t begin, std::size_t end) {
                 for (std::size_t i = begin; i < end; ++i) {
                   double p[kernels::kLargestRank];
                   for (std::size_t k = 0; k < f.rank; ++k)
                     p[k] = load_field<float>(payload, sizeof(float) * (i * f.rank + k));
                   combine(p, q.data(), f.columns, f.rank, job.values.data() + i * f.columns);
                 }
               });
  }

  std::size_t rank_, iterations_;
  bool warm_start_;
};

OptionTable powersgd_options() {
  return {
      {.name = "rank",
       .type = OptionType::kInteger,
       .default_text = "4",
       .help = "columns of the factors: (a + b) rank floats for an a by b matrix (the paper: 2 "
               "for ResNet-18, 4 for an LSTM)",
       .min = 1,
       .max = static_cast<double>(kernels::kLargestRank)},
      {.name = "iterations",
       .type = OptionType::kInteger,
       .default_text = "1",
       .help = "steps of subspace iteration for each tensor (the paper: 1, with a warm start)",
       .min = 1,
       .max = 16},
      {.name = "warm_start",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "begin with the Q that was sent last instead of a random one (the paper: true)"}};
}

}  // namespace

CodecRow powersgd_row() {
  return {{.name = std::string(kName),
           .summary = "low-rank factors of the tensor as a matrix; vectors as they are",
           .source = "Vogels, Karimireddy, Jaggi, PowerSGD, arXiv 1905.13727",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = powersgd_options(),
           .needs_shape = true},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<PowerSgdCodec>(
                static_cast<std::size_t>(options.integer("rank")),
                static_cast<std::size_t>(options.integer("iterations")),
                options.boolean("warm_start"));
          }};
}

}  // namespace gradwire::compressors
