#include "compressors/codecs/sz/sz_encoder.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "compressors/codecs/sz/lorenzo.h"
#include "compressors/codecs/sz/symbol_counts.h"
#include "compressors/codecs/sz/sz_symbols.h"
#include "compressors/coding/huffman.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

/// Hands out the scratch piece by piece, each aligned to 8.
class Scratch {
 public:
  explicit Scratch(std::span<std::byte> bytes) : left_(bytes) {}
  template <class T>
  std::span<T> take(std::size_t count) {
    const auto piece = view_as<T>(left_, count);
    left_ = left_.subspan(padded_to_8(count * sizeof(T)));
    return piece;
  }
  std::span<std::byte> rest() const { return left_; }

 private:
  std::span<std::byte> left_;
};

/// A way to code the tensor: its block's fields, and the lengths of its codes.
struct Plan {
  SzBlock block;
  std::span<std::uint8_t> lengths;  ///< [alphabet]
  int longest = 0;
  bool possible = false;
};

kernels::MagnitudeRange range_of(std::span<const float> data, ThreadTeam* team) {
  kernels::MagnitudeRange all{data[0], data[0], 0};
  std::mutex joining;
  for_ranges(team, data.size(), 16, kRangeElements, [&](std::size_t begin, std::size_t end) {
    const auto part = kernels::value_range(data.data() + begin, end - begin);
    const std::lock_guard lock(joining);
    all.smallest = std::min(all.smallest, part.smallest);
    all.largest = std::max(all.largest, part.largest);
    all.max_magnitude = std::max(all.max_magnitude, part.max_magnitude);
  });
  return all;
}

std::size_t size_of(const SzBlock& block) {
  return static_cast<std::size_t>(SzLayout(block).size({}));
}

/// Half the value of a constant tensor, which has no range: it makes one code of it, exactly.
float constant_bound(float magnitude) {
  if (magnitude == 0.0f) return 1.0f;
  const float half = 0.5f * magnitude;
  return half + half == magnitude ? half : 0.0f;  // not so for odd denormals
}

/// 0 = lossless.
float error_bound_of(const SzOptions& options, const kernels::MagnitudeRange& range) {
  double bound = options.bound;
  if (options.relative && bound > 0.0 && range.smallest == range.largest)
    return constant_bound(float_of(range.max_magnitude));
  if (options.relative)
    bound *= static_cast<double>(range.largest) - static_cast<double>(range.smallest);
  return static_cast<float>(std::min(bound, kLargestFloat));
}

class Encoder {
 public:
  Encoder(const SzOptions& options, EncodeJob& job, std::span<std::byte> scratch)
      : options_(options), job_(job), data_(job.tensor.data), scratch_(scratch) {
    const std::size_t alphabet = sz_alphabet(options.radius, true);
    codes_ = scratch_.take<std::int32_t>(data_.size());
    counts_.symbols = scratch_.take<std::uint32_t>(2 * options.radius);
    run_counts_ = scratch_.take<std::uint32_t>(alphabet);
    huffman_ = scratch_.take<HuffmanCode>(alphabet);
    best_.lengths = scratch_.take<std::uint8_t>(alphabet);
    trial_.lengths = scratch_.take<std::uint8_t>(alphabet);
  }

  std::size_t encode() {
    SzBlock raw;
    raw.n = static_cast<std::uint32_t>(data_.size());
    raw.dimensions = std::max<std::size_t>(job_.tensor.shape.size(), 1);
    if (data_.empty()) return write_raw(raw);
    const auto range = range_of(data_, job_.team);
    require_finite(kSzName, job_.tensor, range.max_magnitude);
    raw.error_bound = error_bound_of(options_, range);
    if (raw.error_bound == 0.0f) return write_raw(raw);
    quantise(raw, range);
    choose(raw);
    if (!best_.possible || size_of(best_.block) > size_of(raw) + kSzOverhead) return write_raw(raw);
    return write_coded();
  }

 private:
  std::size_t write_raw(const SzBlock& block) {
    const SzLayout layout(block);
    write_sz_head(block, layout, job_.tensor, job_.payload);
    const auto bytes = std::as_bytes(data_);
    std::copy(bytes.begin(), bytes.end(),
              job_.payload.begin() + static_cast<std::ptrdiff_t>(layout.at<SzLayout::kValues>({})));
    return static_cast<std::size_t>(layout.size({}));
  }

  void quantise(const SzBlock& block, const kernels::MagnitudeRange& range) {
    grid_ = dual_grid(block.error_bound);
    for_ranges(
        job_.team, data_.size(), 16, kRangeElements, [&](std::size_t begin, std::size_t end) {
          kernels::dual_codes(data_.data() + begin, end - begin, grid_, codes_.data() + begin);
        });
    if (dual_has_code(float_of(range.max_magnitude), grid_)) return;
    for (const float value : data_) exact_ += dual_has_code(value, grid_) ? 0 : 1;
  }

  SzCodes codes_with(int predictor) const {
    const TensorSpec spec = job_.tensor;
    return {codes_.data(), data_.size(), spec.columns(), options_.radius, predictor};
  }

  /// The smallest block; of equal ones the one with the lower predictor, without runs.
  void choose(const SzBlock& head) {
    const TensorSpec spec = job_.tensor;
    const bool matrix = spec.columns() > 1 && spec.columns() < data_.size();
    for (int predictor = 0; predictor < 3; ++predictor) {
      if (options_.predictor ? predictor != *options_.predictor : predictor == 2 && !matrix)
        continue;
      count_sz_symbols(codes_with(predictor), job_.team, counts_);
      trial_.block = head;
      trial_.block.predictor = static_cast<std::uint8_t>(predictor);
      trial_.block.radius = options_.radius;
      trial_.block.outliers = counts_.symbols[0];
      trial_.block.has_exact = exact_ > 0;
      trial_.block.exact = exact_;
      try_plain();
      if (options_.zero_runs && counts_.symbols[options_.radius] > 0) try_runs();
    }
  }

  void try_plain() {
    trial_.block.zero_runs = false;
    trial_.block.tokens = trial_.block.n;
    trial_.block.run_bits = 0;
    try_code(counts_.symbols, 0);
  }

  void try_runs() {
    const std::size_t zero = options_.radius, first_run = 2 * zero - 1;  // of class 1, less 1
    std::copy(counts_.symbols.begin(), counts_.symbols.end(), run_counts_.begin());
    run_counts_[zero] = counts_.runs[0];
    std::uint64_t tokens = trial_.block.n - counts_.symbols[zero] + counts_.runs[0], bits = 0;
    for (std::size_t c = 1; c <= kSzRunClasses; ++c) {
      run_counts_[first_run + c] = counts_.runs[c];
      tokens += counts_.runs[c];
      bits += std::uint64_t{counts_.runs[c]} * c;
    }
    trial_.block.zero_runs = true;
    trial_.block.tokens = static_cast<std::uint32_t>(tokens);
    trial_.block.run_bits = static_cast<std::uint32_t>(bits);
    try_code(run_counts_, bits);
  }

  void try_code(std::span<const std::uint32_t> counts, std::uint64_t run_bits) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const auto lengths = trial_.lengths.first(counts.size());
    trial_.longest = huffman_lengths(counts, lengths, scratch_.rest());
    const std::uint64_t bits = huffman_bits(counts, lengths);
    if (bits > kMost || run_bits > kMost) return;
    trial_.block.bits = static_cast<std::uint32_t>(bits);
    trial_.block.symbols = static_cast<std::uint32_t>(
        lengths.size() -
        static_cast<std::size_t>(std::count(lengths.begin(), lengths.end(), kHuffmanAbsent)));
    if (best_.possible && size_of(trial_.block) >= size_of(best_.block)) return;
    std::swap(best_.lengths, trial_.lengths);
    best_.block = trial_.block;
    best_.longest = trial_.longest;
    best_.possible = true;
  }

  std::size_t write_coded() {
    const SzBlock& block = best_.block;
    const auto lengths = best_.lengths.first(sz_alphabet(block.radius, block.zero_runs));
    huffman_codes(lengths, huffman_.first(lengths.size()));
    const SzLayout layout(block);
    write_sz_head(block, layout, job_.tensor, job_.payload);
    write_sz_table(block, layout, lengths, job_.payload);
    write_streams(layout);
    if (block.has_exact) write_exact(layout);
    return static_cast<std::size_t>(layout.size({}));
  }

  void write_streams(const SzLayout& layout) {
    const SzBlock& block = best_.block;
    BitWriter out(job_.payload.subspan(layout.at<SzLayout::kStream>({}),
                                       layout.section<SzLayout::kStream>().size));
    BitWriter runs(job_.payload.subspan(layout.at<SzLayout::kRuns>({}),
                                        layout.section<SzLayout::kRuns>().size));
    const SzCodes codes = codes_with(block.predictor);
    std::byte* const outliers = job_.payload.data() + layout.at<SzLayout::kOutliers>({});
    std::size_t written = 0;
    for (std::size_t begin = 0; begin < data_.size(); begin += kSzChunk) {
      std::uint16_t symbols[kSzChunk];
      const std::span<std::uint16_t> chunk(symbols, std::min(kSzChunk, data_.size() - begin));
      sz_symbols(codes, begin, chunk.size(), symbols);
      if (block.outliers > 0) written = write_outliers(chunk, begin, outliers, written);
      if (block.zero_runs)
        write_tokens(chunk, out, runs);
      else
        huffman_encode(chunk, huffman_, best_.longest, out);
    }
    GRADWIRE_ASSERT(out.bit_position() == block.bits && runs.bit_position() == block.run_bits);
    GRADWIRE_ASSERT(written == block.outliers);
    out.finish();
    runs.finish();
  }

  struct TokenWriter {
    const std::uint16_t* from;
    std::uint16_t* to;
    BitWriter& runs;
    std::size_t radius;
    void symbols(std::size_t begin, std::size_t count) {
      to = std::copy_n(from + begin, count, to);
    }
    void zeros(std::size_t run) {
      const std::size_t c = run_class(run);
      *to++ = static_cast<std::uint16_t>(c == 0 ? radius : 2 * radius + c - 1);
      runs.put(run - (std::size_t{1} << c), static_cast<int>(c));
    }
  };

  void write_tokens(std::span<const std::uint16_t> chunk, BitWriter& out, BitWriter& runs) const {
    std::uint16_t tokens[kSzChunk];
    std::uint64_t mask[kSzChunk / 64];
    kernels::equal_mask(chunk.data(), chunk.size(), static_cast<std::uint16_t>(options_.radius),
                        mask);
    TokenWriter writer{chunk.data(), tokens, runs, options_.radius};
    for_each_run(mask, chunk.size(), writer);
    huffman_encode({tokens, writer.to}, huffman_, best_.longest, out);
  }

  std::size_t write_outliers(std::span<const std::uint16_t> chunk, std::size_t begin,
                             std::byte* outliers, std::size_t written) {
    std::uint64_t mask[kSzChunk / 64];
    kernels::equal_mask(chunk.data(), chunk.size(), 0, mask);
    for (std::size_t word = 0; word < (chunk.size() + 63) / 64; ++word) {
      for (std::uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
        const std::size_t e = begin + 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
        SzOutliers().store(outliers + SzOutliers().at<SzLayout::kIndex>(written++),
                           static_cast<std::uint32_t>(e), codes_[e]);
      }
    }
    return written;
  }

  void write_exact(const SzLayout& layout) {
    std::size_t written = 0;
    for (std::size_t e = 0; e < data_.size(); ++e) {
      if (dual_has_code(data_[e], grid_)) continue;
      SzExact().store(
          job_.payload.data() + layout.entry_at<SzLayout::kExact, SzLayout::kIndex>(written++),
          static_cast<std::uint32_t>(e), data_[e]);
    }
  }

  const SzOptions& options_;
  EncodeJob& job_;
  std::span<const float> data_;
  Scratch scratch_;
  std::span<std::int32_t> codes_;
  SzCounts counts_;
  std::span<std::uint32_t> run_counts_;
  std::span<HuffmanCode> huffman_;
  Plan best_, trial_;
  DualGrid grid_{};
  std::uint32_t exact_ = 0;
};

}  // namespace

std::size_t sz_encode_scratch(std::size_t n, std::uint32_t radius) {
  const std::size_t alphabet = sz_alphabet(radius, true);
  return padded_to_8(4 * n) + padded_to_8(8 * radius) + 2 * padded_to_8(4 * alphabet) +
         2 * padded_to_8(alphabet) + huffman_scratch_size(alphabet);
}

std::size_t encode_sz(const SzOptions& options, EncodeJob& job, std::span<std::byte> scratch) {
  return Encoder(options, job, scratch).encode();
}

}  // namespace gradwire::compressors
