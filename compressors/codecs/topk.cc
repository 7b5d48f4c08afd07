#include <algorithm>
#include <cmath>
#include <limits>

#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/codecs.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "topk";
constexpr std::size_t kCountBytes = 4;
constexpr std::size_t kEntryBytes = 8;
constexpr std::size_t kHistogramBins = 2048;
constexpr std::size_t kHistograms = 4;  // side by side, so that equal bins in a row do not wait

/// The k-th largest magnitude, and how many values of exactly that magnitude are among the k.
struct Threshold {
  std::uint32_t magnitude = 0;
  std::size_t ties = 0;
};

/// One digit of the magnitude bits, counted among values whose higher bits equal `prefix`.
struct Digit {
  int shift;
  int bits;
};
constexpr Digit kDigits[] = {{20, 11}, {10, 10}, {0, 10}};

void count_digit(std::span<const float> data, Digit digit, std::uint32_t prefix,
                 std::span<std::uint32_t> bins) {
  std::fill(bins.begin(), bins.end(), 0u);
  const std::uint32_t mask = (1u << digit.bits) - 1u;
  const int high = digit.shift + digit.bits;
  const bool all = high >= 31;
  for (std::size_t e = 0; e < data.size(); ++e) {
    const std::uint32_t key = magnitude_bits(data[e]);
    if (all || key >> high == prefix)
      ++bins[e % kHistograms * kHistogramBins + (key >> digit.shift & mask)];
  }
  for (std::size_t h = 1; h < kHistograms; ++h)
    for (std::size_t b = 0; b < kHistogramBins; ++b) bins[b] += bins[h * kHistogramBins + b];
}

/// Radix selection from the top digit down: each pass finds the bin that holds the k-th largest.
Threshold select_threshold(const TensorView& tensor, std::size_t k, std::span<std::uint32_t> bins) {
  Threshold found{0, k};
  for (const Digit digit : kDigits) {
    count_digit(tensor.data, digit, found.magnitude, bins);
    if (digit.shift == kDigits[0].shift) {
      const auto infinite = bins.subspan(kInfinityBits >> digit.shift, 8);
      if (std::any_of(infinite.begin(), infinite.end(), [](std::uint32_t c) { return c > 0; }))
        require_finite(kName, tensor, kInfinityBits);
    }
    std::size_t bin = std::size_t{1} << digit.bits;
    while (bins[--bin] < found.ties) found.ties -= bins[bin];
    found.magnitude = found.magnitude << digit.bits | static_cast<std::uint32_t>(bin);
  }
  return found;
}

/// u32 k, then k entries {u32 index, f32 value}, indices ascending: 4 + 8 k bytes.
class TopkCodec final : public Codec {
 public:
  explicit TopkCodec(double ratio) : ratio_(ratio) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(std::size_t n) const override {
    return kCountBytes + kEntryBytes * topk_count(n, ratio_);
  }
  std::size_t scratch_size(std::size_t) const override {
    return kHistograms * kHistogramBins * sizeof(std::uint32_t);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = max_encoded_size(data.size());
    GRADWIRE_ASSERT(job.payload.size() >= size);
    if (data.size() > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(kName, job.tensor.name, "it has more elements than a 32-bit index can name");
    const std::size_t k = topk_count(data.size(), ratio_);
    store_field(job.payload, 0, static_cast<std::uint32_t>(k));
    if (k > 0) {
      const auto bins = view_as<std::uint32_t>(scratch, kHistograms * kHistogramBins);
      const Threshold threshold = select_threshold(job.tensor, k, bins);
      const std::size_t written =
          kernels::select_entries(data.data(), data.size(), threshold.magnitude, threshold.ties,
                                  job.payload.data() + kCountBytes);
      GRADWIRE_ASSERT(written == k);
    }
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    const std::size_t k = checked_entries(job);
    std::fill(job.values.begin(), job.values.end(), 0.0f);
    for (std::size_t i = 0; i < k; ++i) job.values[index_of(job, i)] = value_of(job, i);
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    const std::size_t k = checked_entries(job);
    for (std::size_t i = 0; i < k; ++i) job.values[index_of(job, i)] += factor * value_of(job, i);
  }

 private:
  static std::uint32_t index_of(const DecodeJob& job, std::size_t i) {
    return load_field<std::uint32_t>(job.payload, kCountBytes + kEntryBytes * i);
  }
  static float value_of(const DecodeJob& job, std::size_t i) {
    return load_field<float>(job.payload, kCountBytes + kEntryBytes * i + 4);
  }

  // Returns k. All entries are checked before any value is touched.
  static std::size_t checked_entries(const DecodeJob& job) {
    const std::size_t size = job.payload.size();
    if (size < kCountBytes) refuse_payload(kName, size, "it ends before the count");
    const auto k = load_field<std::uint32_t>(job.payload, 0);
    if (k > job.values.size())
      refuse_payload(kName, size,
                     "byte 0 begins a count of " + std::to_string(k) + " for " +
                         std::to_string(job.values.size()) + " elements");
    require_size(kName, job.payload, kCountBytes + kEntryBytes * k);
    for (std::size_t i = 0; i < k; ++i) require_entry(job, i);
    return k;
  }

  static void require_entry(const DecodeJob& job, std::size_t i) {
    const std::uint32_t index = index_of(job, i);
    const char* reason = nullptr;
    if (index >= job.values.size())
      reason = " begins an index beyond the tensor";
    else if (i > 0 && index <= index_of(job, i - 1))
      reason = " begins an index out of order";
    else if (!std::isfinite(value_of(job, i)))
      reason = " begins an entry with no finite value";
    if (reason == nullptr) return;
    const std::size_t byte = kCountBytes + kEntryBytes * i;
    refuse_payload(kName, job.payload.size(), "byte " + std::to_string(byte) + reason);
  }

  double ratio_;
};

}  // namespace

std::size_t topk_count(std::size_t n, double ratio) {
  if (n == 0) return 0;
  const double wanted = std::ceil(ratio * static_cast<double>(n) * (1.0 - 1e-12));
  return std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, n);
}

CodecRow topk_row() {
  const OptionSpec ratio = {
      .name = "ratio",
      .type = OptionType::kNumber,
      .default_text = "0.01",
      .help =
          "share of the elements that is sent: k = max(1, ceil(ratio n)); 1 % as in "
          "arXiv 2205.05632",
      .min = 0,
      .max = 1,
      .min_exclusive = true};
  return {
      {.name = std::string(kName),
       .summary = "the k values of largest magnitude with their indices; ties to the lower index",
       .source = "Aji and Heafield, arXiv 1704.05021; Li et al., COMP-AMS, arXiv 2205.05632",
       .policy = AggregatePolicy::kGather,
       .unbiased = false,
       .options = {ratio}},
      [](const OptionValues& options) -> CodecPtr {
        return std::make_shared<TopkCodec>(options.number("ratio"));
      }};
}

}  // namespace gradwire::compressors
