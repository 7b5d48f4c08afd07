#include <algorithm>
#include <cmath>

#include "compressors/codecs/sz/lorenzo.h"
#include "compressors/codecs/sz/sz_encoder.h"
#include "compressors/coding/huffman.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kLargestAlphabet = 2 * std::size_t{kSzLargestRadius} + kSzRunClasses;

/// The symbols of chunk after chunk.
class SymbolReader {
 public:
  SymbolReader(const SzBlock& block, const SzLayout& layout, std::span<const std::byte> payload,
               std::span<std::byte> table, std::span<const std::uint8_t> lengths)
      : block_(block),
        layout_(layout),
        payload_(payload),
        in_(payload.subspan(layout.at<SzLayout::kStream>({}),
                            layout.section<SzLayout::kStream>().size)),
        runs_(payload.subspan(layout.at<SzLayout::kRuns>({}),
                              layout.section<SzLayout::kRuns>().size)),
        tokens_left_(block.zero_runs ? block.tokens : 0) {
    decoder_.build(lengths, table);
  }

  /// symbols has room for count + kSlack; count <= kSzChunk.
  void read(std::size_t count, std::uint16_t* symbols) {
    if (!block_.zero_runs)
      decoder_.decode(in_, count, symbols);
    else
      for (std::size_t done = 0; done < count;) done += read_token(count - done, symbols + done);
  }

  /// What was read is what the block promised.
  void finish() const {
    if (in_.bit_position() != block_.bits)
      refuse_sz(payload_, layout_.at<SzLayout::kBits>({}),
                "begins a number of bits that the symbols do not have");
    if (next_ != held_ || tokens_left_ != 0)
      refuse_sz(payload_, layout_.at<SzLayout::kTokens>({}),
                "begins more tokens than the elements need");
    if (runs_.bit_position() != block_.run_bits)
      refuse_sz(payload_, layout_.at<SzLayout::kRunBits>({}),
                "begins a number of bits that the runs do not have");
  }

 private:
  std::size_t read_token(std::size_t room, std::uint16_t* symbols) {
    if (next_ == held_) refill();
    const std::uint16_t token = tokens_[next_++];
    if (token < 2 * block_.radius) {
      *symbols = token;
      return 1;
    }
    const auto c = static_cast<int>(token - 2 * block_.radius + 1);
    const std::size_t run = (std::size_t{1} << c) + runs_.read(c);
    if (run > room)
      refuse_sz(payload_, layout_.at<SzLayout::kRuns>({}) + runs_.bit_position() / 8,
                "ends a run of zeros that goes beyond its chunk");
    std::fill_n(symbols, run, static_cast<std::uint16_t>(block_.radius));
    return run;
  }

  void refill() {
    if (tokens_left_ == 0)
      refuse_sz(payload_, layout_.at<SzLayout::kTokens>({}),
                "begins fewer tokens than the elements need");
    held_ = std::min<std::size_t>(kSzChunk, tokens_left_);
    decoder_.decode(in_, held_, tokens_);
    tokens_left_ -= static_cast<std::uint32_t>(held_);
    next_ = 0;
  }

  const SzBlock& block_;
  const SzLayout& layout_;
  std::span<const std::byte> payload_;
  BitReader in_, runs_;
  HuffmanDecoder decoder_;
  std::uint32_t tokens_left_;
  std::size_t next_ = 0, held_ = 0;
  std::uint16_t tokens_[kSzChunk + HuffmanDecoder::kSlack];
};

/// From symbols to codes p, in order: escapes take theirs from the list of outliers.
class CodeBuilder {
 public:
  CodeBuilder(const SzBlock& block, const SzLayout& layout, std::span<const std::byte> payload,
              std::int32_t* codes)
      : block_(block), layout_(layout), payload_(payload), codes_(codes) {}

  void build(std::size_t begin, std::size_t count, const std::uint16_t* symbols) {
    if (block_.predictor == 0)
      for (std::size_t i = 0; i < count; ++i) set(begin + i, symbols[i], 0);
    else if (block_.predictor == 1)
      build_row(begin, count, symbols, begin == 0 ? 0 : word(begin - 1), nullptr);
    else
      build_plane(begin, count, symbols);
  }

  void finish() const {
    if (outlier_ != block_.outliers) refuse_outliers("more");
  }

 private:
  std::uint32_t word(std::size_t e) const { return static_cast<std::uint32_t>(codes_[e]); }

  std::uint32_t set(std::size_t e, std::uint16_t symbol, std::uint32_t prediction) {
    const std::uint32_t code = symbol == 0 ? next_outlier(e) : prediction + symbol - block_.radius;
    codes_[e] = static_cast<std::int32_t>(code);
    return code;
  }

  // `sum` = the last element less the one above it; above = null: none is above.
  void build_row(std::size_t begin, std::size_t count, const std::uint16_t* symbols,
                 std::uint32_t sum, const std::int32_t* above) {
    if (above == nullptr) {
      for (std::size_t i = 0; i < count; ++i) sum = set(begin + i, symbols[i], sum);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto over = static_cast<std::uint32_t>(above[i]);
      sum = set(begin + i, symbols[i], sum + over) - over;
    }
  }

  void build_plane(std::size_t begin, std::size_t count, const std::uint16_t* symbols) {
    const std::size_t columns = block_.columns, end = begin + count;
    for (std::size_t at = begin; at < end;) {
      const std::size_t column = at % columns;
      const std::size_t part = std::min(columns - column, end - at);
      const std::int32_t* above = at < columns ? nullptr : codes_ + at - columns;
      std::uint32_t sum = column == 0 ? 0 : word(at - 1);
      if (column != 0 && above != nullptr) sum -= word(at - 1 - columns);
      build_row(at, part, symbols + (at - begin), sum, above);
      at += part;
    }
  }

  std::uint32_t next_outlier(std::size_t e) {
    if (outlier_ >= block_.outliers) refuse_outliers("fewer");
    const std::byte* outliers = payload_.data() + layout_.at<SzLayout::kOutliers>({});
    if (SzOutliers().load<SzLayout::kIndex>(outliers, outlier_) != e)
      refuse_sz(payload_, layout_.entry_at<SzLayout::kOutliers, SzLayout::kIndex>(outlier_),
                "begins an outlier for another element than the escape's, " + std::to_string(e));
    return static_cast<std::uint32_t>(SzOutliers().load<SzLayout::kValue>(outliers, outlier_++));
  }

  [[noreturn]] void refuse_outliers(const char* how_many) const {
    refuse_sz(payload_, layout_.at<SzLayout::kOutlierCount>({}),
              std::string("begins ") + how_many + " outliers than there are escapes");
  }

  const SzBlock& block_;
  const SzLayout& layout_;
  std::span<const std::byte> payload_;
  std::int32_t* codes_;
  std::size_t outlier_ = 0;
};

class Decoder {
 public:
  Decoder(const DecodeJob& job, std::optional<float> factor)
      : job_(job),
        factor_(factor),
        block_(read_sz_head(job.payload, job.values.size())),
        layout_(block_) {}

  void decode(std::span<std::byte> scratch) {
    if (block_.raw()) return decode_raw();
    const std::size_t n = block_.n;
    const auto codes = view_as<std::int32_t>(scratch, n);
    const auto table = scratch.subspan(padded_to_8(4 * n));
    std::uint8_t room[kLargestAlphabet];
    const std::span lengths(room, sz_alphabet(block_.radius, block_.zero_runs));
    read_sz_table(block_, layout_, job_.payload, lengths);
    SymbolReader reader(block_, layout_, job_.payload, table, lengths);
    CodeBuilder builder(block_, layout_, job_.payload, codes.data());
    for (std::size_t begin = 0; begin < n; begin += kSzChunk) {
      std::uint16_t symbols[kSzChunk + HuffmanDecoder::kSlack];
      const std::size_t count = std::min(kSzChunk, n - begin);
      reader.read(count, symbols);
      builder.build(begin, count, symbols);
      put_codes(codes.data() + begin, begin, count);
    }
    reader.finish();
    builder.finish();
    put_exact();
  }

 private:
  void put_codes(const std::int32_t* codes, std::size_t begin, std::size_t count) {
    const DualGrid grid = dual_grid(block_.error_bound);
    float* values = job_.values.data() + begin;
    if (factor_)
      kernels::dual_values_add(codes, count, grid, *factor_, values);
    else
      kernels::dual_values(codes, count, grid, values);
  }

  void put(std::size_t e, std::size_t at) {
    put_value(e, checked_number<float>(kSzName, job_.payload, at, SentValues().check));
  }
  void put_value(std::size_t e, float value) {
    job_.values[e] = factor_ ? job_.values[e] + *factor_ * value : value;
  }

  void decode_raw() {
    const std::byte* values = job_.payload.data() + layout_.at<SzLayout::kValues>({});
    for (std::size_t e = 0; e < block_.n; ++e)
      put_value(e, number_at<float>(values + SentValues().at(e)));
  }

  void put_exact() {
    std::uint64_t first = 0;  // index that may come next
    for (std::size_t i = 0; i < block_.exact; ++i) {
      const std::size_t at = layout_.entry_at<SzLayout::kExact, SzLayout::kIndex>(i);
      const std::uint32_t index = number_at<std::uint32_t>(job_.payload.data() + at);
      if (index < first || index >= block_.n)
        refuse_sz(job_.payload, at, "begins an index out of order or beyond the tensor");
      put(index, layout_.entry_at<SzLayout::kExact, SzLayout::kValue>(i));
      first = std::uint64_t{index} + 1;
    }
  }

  const DecodeJob& job_;
  std::optional<float> factor_;
  SzBlock block_;
  SzLayout layout_;
};

}  // namespace

std::size_t sz_decode_scratch(std::size_t n) {
  return padded_to_8(4 * n) + HuffmanDecoder::table_size(sz_longest_code(n));
}

void decode_sz(const DecodeJob& job, std::optional<float> factor, std::span<std::byte> scratch) {
  Decoder(job, factor).decode(scratch);
}

}  // namespace gradwire::compressors
