#include <algorithm>
#include <cmath>
#include <functional>
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
constexpr std::size_t kBins = 2048;
constexpr std::size_t kSample = 4096;
constexpr std::size_t kKeySlack = 16;  // collect_keys may write one vector beyond

/// The k-th largest magnitude, and how many values of exactly that magnitude are among the k.
struct Threshold {
  std::uint32_t magnitude = 0;
  std::size_t ties = 0;
};

/// What encode keeps in scratch, in words: histogram, sample, candidates.
struct Workspace {
  std::span<std::uint32_t> bins, sample, keys;
};

std::size_t workspace_words(std::size_t n) {
  return kBins + kSample + n + kKeySlack;
}

Workspace workspace_in(std::span<std::byte> scratch, std::size_t n) {
  const auto words = view_as<std::uint32_t>(scratch, workspace_words(n));
  return {words.first(kBins), words.subspan(kBins, kSample), words.subspan(kBins + kSample)};
}

/// A magnitude that about 1.5 k values reach, judged by a sample: whatever it is, the selection is
/// exact, only its speed differs. 0 = take all.
std::uint32_t guess_lowest(std::span<const float> data, std::size_t k,
                           std::span<std::uint32_t> sample) {
  if (data.size() < 4 * kSample) return 0;
  const double share = static_cast<double>(k) / static_cast<double>(data.size());
  const auto rank = static_cast<std::size_t>(1.5 * share * static_cast<double>(kSample)) + 16;
  if (rank >= kSample) return 0;
  const std::size_t step = data.size() / kSample;
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = magnitude_bits(data[i * step]);
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), at, sample.end(), std::greater<>());
  return *at;
}

/// The magnitude bits of all values that can be among the k largest, and perhaps some more.
std::span<const std::uint32_t> collect_candidates(const TensorView& tensor, std::size_t k,
                                                  const Workspace& work) {
  const std::span<const float> data = tensor.data;
  const std::uint32_t lowest = guess_lowest(data, k, work.sample);
  auto found = kernels::collect_keys(data.data(), data.size(), lowest, work.keys.data());
  require_finite(kName, tensor, found.max_magnitude);
  if (found.count < k)  // the sample was misleading
    found = kernels::collect_keys(data.data(), data.size(), 0, work.keys.data());
  return work.keys.first(found.count);
}

/// One digit of the magnitude bits, counted among keys whose higher bits equal the prefix.
struct Digit {
  int shift;
  int bits;
};
constexpr Digit kDigits[] = {{20, 11}, {10, 10}, {0, 10}};

void count_digit(std::span<const std::uint32_t> keys, Digit digit, std::uint32_t prefix,
                 std::span<std::uint32_t> bins) {
  std::fill(bins.begin(), bins.end(), 0u);
  const std::uint32_t mask = (1u << digit.bits) - 1u;
  const int high = digit.shift + digit.bits;
  for (const std::uint32_t key : keys)
    if (key >> high == prefix) ++bins[key >> digit.shift & mask];
}

/// Radix selection from the top digit down: each pass finds the bin that holds the k-th largest.
Threshold select_threshold(std::span<const std::uint32_t> keys, std::size_t k,
                           std::span<std::uint32_t> bins) {
  Threshold found{0, k};
  for (const Digit digit : kDigits) {
    count_digit(keys, digit, found.magnitude, bins);
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
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kCountBytes + kEntryBytes * topk_count(tensor.n, ratio_);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return workspace_words(tensor.n) * sizeof(std::uint32_t);
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
      const Workspace work = workspace_in(scratch, data.size());
      const auto candidates = collect_candidates(job.tensor, k, work);
      const Threshold threshold = select_threshold(candidates, k, work.bins);
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
