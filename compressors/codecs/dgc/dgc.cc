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
constexpr DgcLayout kLayout;
constexpr DgcEntries kEntries;
constexpr std::uint64_t kCovered = kRunCovered;

class DgcCodec final : public WalkedCodec<DgcCodec>, public SelectsVelocities {
 public:
  DgcCodec(SparseCount count, SelectionRule rule) : count_(count), rule_(rule) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return DgcLayout::most(tensor.n, most_selected(tensor.n, count_.of(tensor.n), rule_)).size({});
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
    const std::byte* entries = entries_of(job.payload);
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t run = kEntries.load<DgcLayout::kRun>(entries, i);
      const float value = kEntries.load<DgcLayout::kValue>(entries, i);
      if (!is_run_filler(run, bits_of(value))) visit(next + run, value);
      next += std::uint64_t{run} + 1;
    }
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    std::vector<float> values(tensor.n);
    const std::size_t count = checked_entries({.payload = payload, .side = side, .values = values});
    return described(payload, DgcLayout(count), extent_of(tensor));
  }

 private:
  std::size_t encode_sum(EncodeJob& job, std::span<float> residual, std::span<std::byte> scratch,
                         const VelocityStep* step) const {
    const std::size_t k = checked_count(job);
    return job.written = write(
               job.payload, select_largest_of_sum(kName, job, residual, k, scratch, rule_, step));
  }

  static const std::byte* entries_of(std::span<const std::byte> payload) {
    return payload.data() + kLayout.at<DgcLayout::kEntries>({});
  }

  std::size_t checked_count(const EncodeJob& job) const {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(n));
    return count_.of(n);
  }

  static std::size_t write(std::span<std::byte> payload, const Selected& selected) {
    std::uint64_t entries = 0;
    const auto put = [&](std::uint16_t run, float value) {
      kEntries.store(
          payload.data() + kLayout.entry_at<DgcLayout::kEntries, DgcLayout::kRun>(entries++), run,
          value);
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
    kLayout.store<DgcLayout::kCount>(payload, entries);
    return DgcLayout(entries).size({});
  }

  /// Returns the count.
  static std::size_t checked_entries(const DecodeJob& job) {
    require_head(kName, job.payload, kLayout, {});
    const std::size_t count = kLayout.load<DgcLayout::kCount>(job.payload.data());
    require_size(kName, job.payload, DgcLayout(count).size({}));
    const std::byte* entries = entries_of(job.payload);
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      next += std::uint64_t{kEntries.load<DgcLayout::kRun>(entries, i)} + 1;
      const bool beyond = next > job.values.size();
      if (!beyond && std::isfinite(kEntries.load<DgcLayout::kValue>(entries, i))) continue;
      refuse_entry(kName, job.payload, kLayout.entry_at<DgcLayout::kEntries, DgcLayout::kRun>(i),
                   beyond ? "a run beyond the tensor" : kNoFiniteValue);
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
