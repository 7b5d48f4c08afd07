#include "compressors/codecs/sz/sz_block.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compressors/coding/huffman.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

void read_dims(SzBlock& block, std::span<const std::byte> payload, const SzLayout& layout) {
  std::uint64_t product = 1;
  std::uint32_t dimension = 0;
  for (std::size_t i = 0; i < block.dimensions; ++i) {
    dimension = number_at<std::uint32_t>(payload.data() + layout.at<SzLayout::kShape>({}) +
                                         layout.section<SzLayout::kShape>().at(i));
    product *= dimension;
    product = std::min(product, std::uint64_t{1} << 32);  // a dimension of 0 may still follow
  }
  if (block.dimensions == 0 || product != block.n)
    refuse_sz(payload, layout.at<SzLayout::kDimensions>({}),
              "begins dimensions whose product is not the number of elements");
  block.columns = block.dimensions < 2 ? block.n : dimension;
}

}  // namespace

bool SzBound::good(float bound, const std::byte* at, const Extent&) const {
  const auto form = number_at<std::uint8_t>(at + sizeof bound);
  return is_scale(bound) && (bound > 0 || form == kSzRaw);
}

std::string SzForm::text(std::uint8_t form) const {
  static const char* const predictors[] = {"no prediction", "1D Lorenzo", "2D Lorenzo", "raw"};
  return std::string(predictors[form & 3]) + ((form & kSzRunsBit) != 0 ? ", zero runs" : "") +
         ((form & kSzExactBit) != 0 ? ", exact values" : "");
}

SzLayout::SzLayout(const SzBlock& block, Known known)
    : Layout({}, {}, {}, {}, {.count = {known >= Known::kShape ? block.dimensions : 0}},
             {.count = {known == Known::kAll && block.raw() ? block.n : 0}},
             {.present = known >= Known::kRadius && !block.raw()},
             {known >= Known::kRadius && !block.raw(), {{block.zero_runs}}},
             SzCodeLengths(known >= Known::kCounts ? block.symbols : 0),
             {.present = known >= Known::kCounts && !block.raw()},
             {.present = known >= Known::kCounts && !block.raw()},
             {.present = known >= Known::kCounts && block.zero_runs},
             {.present = known >= Known::kCounts && block.zero_runs},
             {.present = known >= Known::kCounts && block.has_exact},
             {(std::uint64_t{block.bits} + 7) / 8, {"canonical Huffman", block.bits}},
             {(std::uint64_t{block.run_bits} + 7) / 8, {"bits", block.run_bits}},
             SzOutliers(block.outliers), SzExact(block.exact)) {}

void refuse_sz(std::span<const std::byte> payload, std::size_t byte, const std::string& reason) {
  refuse_payload(kSzName, payload.size(), "byte " + std::to_string(byte) + " " + reason);
}

int sz_longest_code(std::size_t count) {
  int longest = 0;
  for (std::size_t a = 1, b = 2; b <= count && longest < kHuffmanLong; ++longest)
    b = std::exchange(a, b) + b;
  return std::max(longest, 1);
}

void write_sz_head(const SzBlock& block, const SzLayout& layout, const TensorView& tensor,
                   std::span<std::byte> payload) {
  layout.store<SzLayout::kCount>(payload, block.n);
  layout.store<SzLayout::kBound>(payload, block.error_bound);
  layout.store<SzLayout::kForm>(payload, block.form());
  layout.store<SzLayout::kDimensions>(payload, block.dimensions);
  const auto& shape = layout.section<SzLayout::kShape>();
  const auto dims = payload.subspan(layout.at<SzLayout::kShape>({}));
  store_field(dims, 0, block.n);
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    store_field(dims, shape.at(i), static_cast<std::uint32_t>(tensor.shape[i]));
  if (block.raw()) return;
  layout.store<SzLayout::kRadius>(payload, block.radius);
  layout.store<SzLayout::kSymbols>(payload, block.symbols);
  layout.store<SzLayout::kBits>(payload, block.bits);
  layout.store<SzLayout::kOutlierCount>(payload, block.outliers);
  if (block.zero_runs) layout.store<SzLayout::kTokens>(payload, block.tokens);
  if (block.zero_runs) layout.store<SzLayout::kRunBits>(payload, block.run_bits);
  if (block.has_exact) layout.store<SzLayout::kExactCount>(payload, block.exact);
}

void write_sz_table(const SzBlock& block, const SzLayout& layout,
                    std::span<const std::uint8_t> lengths, std::span<std::byte> payload) {
  std::size_t i = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] == kHuffmanAbsent) continue;
    const int symbol = static_cast<int>(s) - static_cast<int>(block.radius);
    SzCodeLengths().store(
        payload.data() + layout.entry_at<SzLayout::kCodeLengths, SzLayout::kIndex>(i++),
        static_cast<std::int16_t>(symbol), lengths[s]);
  }
  GRADWIRE_ASSERT(i == block.symbols);
}

SzBlock read_sz_head(std::span<const std::byte> payload, std::size_t n) {
  SzBlock block;
  const std::byte* bytes = payload.data();
  // What is read says what comes next, and where.
  const auto known = [&](SzLayout::Known part) {
    const SzLayout layout(block, part);
    require_head(kSzName, payload, layout, {.n = n});
    return layout;
  };
  const SzLayout head = known(SzLayout::Known::kForm);
  const auto form = head.load<SzLayout::kForm>(bytes);
  block.n = head.load<SzLayout::kCount>(bytes);
  block.error_bound = head.load<SzLayout::kBound>(bytes);
  block.predictor = form & 3;
  block.has_exact = (form & kSzExactBit) != 0;
  block.zero_runs = (form & kSzRunsBit) != 0;
  block.dimensions = head.load<SzLayout::kDimensions>(bytes);
  read_dims(block, payload, known(SzLayout::Known::kShape));
  if (!block.raw()) {
    const SzLayout alphabet = known(SzLayout::Known::kRadius);
    block.radius = alphabet.load<SzLayout::kRadius>(bytes);
    block.symbols = alphabet.load<SzLayout::kSymbols>(bytes);
    const SzLayout counts = known(SzLayout::Known::kCounts);
    block.bits = counts.load<SzLayout::kBits>(bytes);
    block.outliers = counts.load<SzLayout::kOutlierCount>(bytes);
    block.tokens = block.zero_runs ? counts.load<SzLayout::kTokens>(bytes) : block.n;
    block.run_bits = block.zero_runs ? counts.load<SzLayout::kRunBits>(bytes) : 0;
    block.exact = block.has_exact ? counts.load<SzLayout::kExactCount>(bytes) : 0;
  }
  require_layout(kSzName, payload, SzLayout(block), {.n = n});
  return block;
}

void read_sz_table(const SzBlock& block, const SzLayout& layout, std::span<const std::byte> payload,
                   std::span<std::uint8_t> lengths) {
  std::fill(lengths.begin(), lengths.end(), kHuffmanAbsent);
  const int radius = static_cast<int>(block.radius), longest = sz_longest_code(block.tokens);
  const std::size_t table_at = layout.at<SzLayout::kCodeLengths>({});
  int last = -radius - 1;
  for (std::size_t i = 0; i < block.symbols; ++i) {
    const std::byte* table = payload.data() + table_at;
    const int symbol = SzCodeLengths().load<SzLayout::kIndex>(table, i);
    const std::uint8_t length = SzCodeLengths().load<SzLayout::kValue>(table, i);
    if (symbol <= last || symbol + radius >= static_cast<int>(lengths.size()))
      refuse_sz(payload, table_at + SzCodeLengths().at<SzLayout::kIndex>(i),
                "begins a symbol out of order or out of range");
    if (length > longest)
      refuse_sz(payload, table_at + SzCodeLengths().at<SzLayout::kValue>(i),
                "holds a code length that so few symbols cannot have");
    lengths[static_cast<std::size_t>(symbol + radius)] = length;
    last = symbol;
  }
  if (!huffman_is_complete(lengths))
    refuse_sz(payload, table_at, "begins code lengths that make no complete code");
}

}  // namespace gradwire::compressors
