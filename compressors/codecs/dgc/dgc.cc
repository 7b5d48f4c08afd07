#include <cmath>
#include <limits>

#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/dgc/layout.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "dgc";
constexpr DgcHead kHead;
constexpr std::size_t kCountBytes = kHead.bytes();
constexpr std::size_t kEntryBytes = DgcHead::kEntryBytes;
constexpr std::uint64_t kCovered = kRunCovered;

class DgcCodec final : public WalkedCodec<DgcCodec>, public SelectsVelocities {
 public:
  DgcCodec(SparseCount count, SelectionRule rule) : count_(count), rule_(rule) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kHead.most_bytes(tensor.n, most_selected(tensor.n, count_.of(tensor.n), rule_));
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return selection_scratch_size(tensor.n, count_.of(tensor.n), rule_);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t k = checked_count(job);
    return job.written =
               write(job.payload, select_largest(kName, job.tensor, k, scratch, job.team, rule_));
  }
  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    return encode_sum(job, residual, scratch, nullptr);
  }
  std::size_t encode_velocity(EncodeJob& job, const VelocityStep& step, std::span<float> residual,
                              std::span<std::byte> scratch) const override {
    return encode_sum(job, residual, scratch, &step);
  }

  // All entries are checked before any value is touched.
  std::size_t open(const DecodeJob& job, std::span<std::byte>) const {
    return checked_entries(job);
  }
  /// Entries that are not fillers.
  template <class Visit>
  void walk(const DecodeJob& job, std::size_t count, Visit&& visit) const {
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t run = run_of(job.payload, i);
      const float value = value_of(job.payload, i);
      if (!is_run_filler(run, bits_of(value))) visit(next + run, value);
      next += std::uint64_t{run} + 1;
    }
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    std::vector<float> values(tensor.n);
    const std::size_t count = checked_entries({.payload = payload, .side = side, .values = values});
    std::string few;
    for (std::size_t i = 0; i < count && i < 4; ++i) {
      few.append(i == 0 ? "+" : ", +").append(std::to_string(run_of(payload, i)));
      few.append(": ").append(float_text(value_of(payload, i)));
    }
    const std::string number = std::to_string(count);
    std::vector<PayloadField> fields = described(payload, kHead, extent_of(tensor));
    fields.push_back({kCountBytes, kEntryBytes * count, "entries",
                      "{u16 run, f32 value}[" + number + "]", count > 4 ? few + ", ..." : few});
    return fields;
  }

 private:
  std::size_t encode_sum(EncodeJob& job, std::span<float> residual, std::span<std::byte> scratch,
                         const VelocityStep* step) const {
    const std::size_t k = checked_count(job);
    return job.written = write(
               job.payload, select_largest_of_sum(kName, job, residual, k, scratch, rule_, step));
  }

  static std::uint16_t run_of(std::span<const std::byte> payload, std::size_t i) {
    return load_field<std::uint16_t>(payload, kCountBytes + kEntryBytes * i);
  }
  static float value_of(std::span<const std::byte> payload, std::size_t i) {
    return load_field<float>(payload, kCountBytes + kEntryBytes * i + 2);
  }

  std::size_t checked_count(const EncodeJob& job) const {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(n));
    return count_.of(n);
  }

  static std::size_t write(std::span<std::byte> payload, const Selected& selected) {
    std::size_t at = kCountBytes;
    const auto put = [&](std::uint16_t run, float value) {
      store_field(payload, at, run);
      store_field(payload, at + 2, value);
      at += kEntryBytes;
    };
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < selected.indices.size(); ++i) {
      for (auto left = run_fillers(selected.indices[i] - next); left > 0; --left) {
        put(kCovered - 1, 0.0f);
        next += kCovered;
      }
      put(static_cast<std::uint16_t>(selected.indices[i] - next), selected.values[i]);
      next = std::uint64_t{selected.indices[i]} + 1;
    }
    kHead.store<DgcHead::kCount>(payload, (at - kCountBytes) / kEntryBytes);
    return at;
  }

  /// Returns the count.
  static std::size_t checked_entries(const DecodeJob& job) {
    const std::size_t size = job.payload.size();
    require_head(kName, job.payload, kHead, {});
    const std::size_t count = kHead.load<DgcHead::kCount>(job.payload.data());
    require_size(kName, job.payload, kHead.entries_bytes(count));
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      next += std::uint64_t{run_of(job.payload, i)} + 1;
      const bool beyond = next > job.values.size();
      if (!beyond && std::isfinite(value_of(job.payload, i))) continue;
      refuse_payload(kName, size,
                     "byte " + std::to_string(kCountBytes + kEntryBytes * i) +
                         (beyond ? " begins a run beyond the tensor"
                                 : " begins an entry with no finite value"));
    }
    return count;
  }

  SparseCount count_;
  SelectionRule rule_;
};

OptionTable options() {
  OptionTable table = {
      ratio_option("0.001",
                   "share of the elements that is sent: k = max(1, ceil(ratio n)); 0.1 % in "
                   "arXiv 1712.01887"),
      k_option()};
  for (OptionSpec& option : selection_options("sampled")) table.push_back(std::move(option));
  return table;
}

}  // namespace

CodecRow dgc_row() {
  return {{.name = std::string(kName),
           .summary = "the largest values, by a sampled threshold, with 16-bit zero-run lengths",
           .source = "Lin and others, Deep Gradient Compression, arXiv 1712.01887",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = options(),
           .family = CodecFamily::kSparse},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<DgcCodec>(sparse_count(options), selection_rule(options));
          }};
}

}  // namespace gradwire::compressors
