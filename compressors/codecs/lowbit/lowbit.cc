#include "compressors/codecs/lowbit/projection.h"

#include <cmath>
#include <limits>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/lowbit/kernel.h"
#include "compressors/codecs/lowbit/lowbit_record.h"
#include "compressors/codecs/node_rows.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/ordered_sum.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "lowbit";
constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

/// Decoded values of all codes: factor * (alpha * entry). Unused codes give 0; they are refused.
struct ValueTable {
  float values[8] = {};
  ValueTable(const LowbitTable& table, float alpha, float factor) {
    for (int c = 0; c < table.count; ++c) values[c] = factor * (alpha * table.entries[c]);
  }
};

class LowbitCodec final : public Codec {
 public:
  LowbitCodec(int table, LowbitTie tie, int iterations)
      : table_(table), tie_(tie), iterations_(iterations) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  bool wants_shared_scale() const override { return tie_ == LowbitTie::kModel; }
  float local_scale(const TensorView& tensor) const override {
    return checked(tensor, lowbit_project(tensor.data, entries(), iterations_)).alpha;
  }

  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return record_of(tensor).size();
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    if (tie_ == LowbitTie::kModel) return 0;
    if (tie_ == LowbitTie::kNode) return record_of(tensor).groups() * sizeof(double);
    return sum_blocks(tensor.n) * sizeof(LowbitProducts);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const LowbitRecord record = record_of(job.tensor);
    if (record.rows > kMost || record.columns > kMost)
      refuse_tensor(kName, job.tensor.name, "rows and columns are counted in 32 bits");
    GRADWIRE_ASSERT(job.payload.size() >= record.size());
    constexpr LowbitHead kHead;
    kHead.store<LowbitHead::kRows>(job.payload, record.rows);
    kHead.store<LowbitHead::kColumns>(job.payload, record.columns);
    kHead.store<LowbitHead::kTable>(job.payload, table_);
    kHead.store<LowbitHead::kBits>(job.payload, record.bits());
    kHead.store<LowbitHead::kTie>(job.payload, tie_);
    kHead.store<LowbitHead::kReserved>(job.payload, 0);
    if (tie_ == LowbitTie::kNode)
      write_nodes(job, record, view_as<double>(scratch, record.rows));
    else
      write_group(job, record, scratch);
    return job.written = record.size();
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, 1.0f, kernels::output_of(job.values.size_bytes()));
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, factor, kernels::Output::kAdd);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    std::vector<float> values(tensor.n);
    read({.payload = payload, .values = values}, 1.0f, kernels::Output::kStore);
    const LowbitRecord record = load_lowbit_record(payload, tensor.n);
    std::vector<PayloadField> fields = described(payload, LowbitHead(), extent_of(tensor));
    record.body().describe({payload, record.scales(), extent_of(tensor)}, fields);
    return fields;
  }

 private:
  const LowbitTable& entries() const { return kLowbitTables[table_]; }
  LowbitRecord record_of(const TensorSpec& tensor) const {
    const NodeRows nodes = node_rows(tensor);
    return {nodes.rows, nodes.columns, table_, tie_};
  }
  static LowbitScale checked(const TensorView& tensor, const LowbitScale& scale) {
    if (!scale.finite) require_finite(kName, tensor, kInfinityBits);
    return scale;
  }

  LowbitScale shared_scale(const EncodeJob& job) const {
    const float alpha = job.side.shared_scale + 0.0f;  // no -0
    if (alpha < 0 || !std::isfinite(alpha * entries().top))
      refuse_tensor(kName, job.tensor.name,
                    "tensors tied over the model need the model's scale as shared scale");
    return {double{alpha}, alpha};
  }

  void write_group(EncodeJob& job, const LowbitRecord& record, std::span<std::byte> scratch) const {
    const std::span<const float> data = job.tensor.data;
    const LowbitScale scale =
        tie_ == LowbitTie::kModel
            ? shared_scale(job)
            : checked(job.tensor,
                      lowbit_project(data, entries(), iterations_, job.team,
                                     view_as<LowbitProducts>(scratch, sum_blocks(data.size()))));
    store_field(job.payload, LowbitRecord::scales(), scale.alpha);
    const LowbitThresholds limits = lowbit_thresholds(entries(), scale.quantiser);
    const std::uint32_t largest =
        write_packed(job.team, data.size(), record.bits(), job.payload.subspan(record.codes()),
                     [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                       return kernels::lowbit_codes(data.data() + at, count, limits,
                                                    lowbit_middle(entries()), codes);
                     });
    require_finite(kName, job.tensor, largest);
  }

  void write_nodes(EncodeJob& job, const LowbitRecord& record, std::span<double> quantisers) const {
    const std::span<const float> data = job.tensor.data;
    const std::size_t columns = record.columns;
    const std::size_t rows_a_range = std::max<std::size_t>(1, kRangeElements / (columns + 1));
    for_ranges(job.team, record.rows, 1, rows_a_range, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = first; r < last; ++r) {
        const LowbitScale scale = checked(
            job.tensor, lowbit_project(data.subspan(r * columns, columns), entries(), iterations_));
        store_field(job.payload, LowbitRecord::scales() + 4 * r, scale.alpha);
        quantisers[r] = scale.quantiser;
      }
    });
    write_packed(job.team, data.size(), record.bits(), job.payload.subspan(record.codes()),
                 [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                   LevelChunk{at, count}.for_buckets(columns, [&](std::size_t e, std::size_t m) {
                     kernels::lowbit_codes(data.data() + e, m,
                                           lowbit_thresholds(entries(), quantisers[e / columns]),
                                           lowbit_middle(entries()), codes + (e - at));
                   });
                   return 0u;
                 });
  }

  static void read(const DecodeJob& job, float factor, kernels::Output output) {
    const LowbitRecord record = load_lowbit_record(job.payload, job.values.size());
    const auto packed = job.payload.subspan(record.codes());
    const std::uint32_t seen =
        record.tie == LowbitTie::kNode
            ? read_nodes(job, record, factor, output)
            : read_packed(job.team, packed, record.bits(), table_of(job, record, 0, factor).values,
                          output, job.values);
    const LowbitBody body = record.body();
    if (const auto& codes = body.section<LowbitBody::kCodes>(); !codes.check.good(seen))
      codes.refuse_code(kName, job.payload, record.codes());
  }

  static ValueTable table_of(const DecodeJob& job, const LowbitRecord& record, std::size_t group,
                             float factor) {
    return {record.entries(), load_field<float>(job.payload, LowbitRecord::scales() + 4 * group),
            factor};
  }

  static std::uint32_t read_nodes(const DecodeJob& job, const LowbitRecord& record, float factor,
                                  kernels::Output output) {
    const kernels::PackedCodes all{job.payload.data() + record.codes(), record.bits()};
    SharedMaximum largest;
    for_coded_buckets(
        job.team, job.values.size(), std::max<std::size_t>(record.columns, 1), all,
        [&](std::size_t e, std::size_t n, const kernels::PackedCodes& codes) {
          const ValueTable table = table_of(job, record, e / record.columns, factor);
          largest.raise(kernels::table_values(codes, n, table.values, 1 << record.bits(), output,
                                              job.values.data() + e));
        });
    return largest.get();
  }

  int table_;
  LowbitTie tie_;
  int iterations_;
};

CodecPtr make(const OptionValues& options) {
  const auto index_of = [&](const char* option, std::span<const char* const> names) {
    return static_cast<int>(std::find(names.begin(), names.end(), options.text(option)) -
                            names.begin());
  };
  return std::make_shared<LowbitCodec>(index_of("table", kLowbitTableNames),
                                       static_cast<LowbitTie>(index_of("tie", kLowbitTieNames)),
                                       static_cast<int>(options.integer("iterations")));
}

}  // namespace

CodecRow lowbit_row() {
  const OptionSpec table = {
      .name = "table",
      .type = OptionType::kChoice,
      .default_text = "ternary",
      .help =
          "multiples of the scale: binary = +-1 (1 bit); ternary = 0, +-1 (2 bits); pm012 = 0, "
          "+-1, +-2 (3 bits); pm0124 = 0, +-1, +-2, +-4 (3 bits)",
      .choices = {std::begin(kLowbitTableNames), std::end(kLowbitTableNames)}};
  const OptionSpec tie = {
      .name = "tie",
      .type = OptionType::kChoice,
      .default_text = "layer",
      .help =
          "what shares a scale: model = all tensors (the shared scale must be given); layer = "
          "the tensor; node = a row (the first dimension)",
      .choices = {std::begin(kLowbitTieNames), std::end(kLowbitTieNames)}};
  const OptionSpec iterations = {
      .name = "iterations",
      .type = OptionType::kInteger,
      .default_text = std::to_string(kLowbitIterations),
      .help = "how often the projection chooses codes and then their scale; fewer if it settles",
      .min = 1,
      .max = 1000};
  return {{.name = std::string(kName),
           .summary = "a scale times entries of a small table, of least squared error by "
                      "alternating projection",
           .source = "Xu et al., Low-bit quantization of RNN language models using ADMM, arXiv "
                     "2111.14836",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {table, tie, iterations},
           .family = CodecFamily::kWeights},
          make};
}

}  // namespace gradwire::compressors
