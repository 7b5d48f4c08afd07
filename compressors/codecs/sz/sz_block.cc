#include "compressors/codecs/sz/sz_block.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compressors/coding/huffman.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::uint8_t kExactBit = 0x40, kRunsBit = 0x80;

std::uint32_t load_count(std::span<const std::byte> payload, std::size_t at) {
  return load_field<std::uint32_t>(payload, at);
}

void require_bytes(std::span<const std::byte> payload, std::size_t end, const char* what) {
  if (payload.size() < end)
    refuse_sz(payload, payload.size(), std::string("ends the payload before ") + what);
}

void read_form(SzBlock& block, std::span<const std::byte> payload) {
  const auto form = load_field<std::uint8_t>(payload, 8);
  block.predictor = form & 3;
  block.has_exact = (form & kExactBit) != 0;
  block.zero_runs = (form & kRunsBit) != 0;
  if ((form & 0x3C) != 0 || (block.raw() && form != kSzRaw))
    refuse_sz(payload, 8, "holds a form that does not exist");
}

void read_dims(SzBlock& block, std::span<const std::byte> payload) {
  block.dimensions = load_field<std::uint8_t>(payload, 9);
  require_bytes(payload, block.body_at(), "its dimensions do");
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < block.dimensions; ++i) {
    product *= load_count(payload, block.dims_at() + 4 * i);
    product = std::min(product, std::uint64_t{1} << 32);  // a dimension of 0 may still follow
  }
  if (block.dimensions == 0 || product != block.n)
    refuse_sz(payload, 9, "begins dimensions whose product is not the number of elements");
  block.columns = load_count(payload, block.body_at() - 4);
  if (block.dimensions < 2) block.columns = block.n;
}

void read_counts(SzBlock& block, std::span<const std::byte> payload) {
  require_bytes(payload, block.table_at(), "its radius and number of symbols do");
  block.radius = load_field<std::uint16_t>(payload, block.body_at());
  block.symbols = load_field<std::uint16_t>(payload, block.body_at() + 2);
  if (block.radius < 1 || block.radius > kSzLargestRadius)
    refuse_sz(payload, block.body_at(), "begins a radius that is not 1 to 4096");
  if (block.symbols < 1 || block.symbols > sz_alphabet(block.radius, block.zero_runs))
    refuse_sz(payload, block.body_at() + 2, "begins a number of symbols that cannot be");
  require_bytes(payload, block.stream_at(), "its counts do");
  std::size_t at = block.counts_at();
  const auto next = [&] { return load_count(payload, std::exchange(at, at + 4)); };
  block.bits = next();
  block.outliers = next();
  block.tokens = block.zero_runs ? next() : block.n;
  block.run_bits = block.zero_runs ? next() : 0;
  block.exact = block.has_exact ? next() : 0;
  if (block.outliers > block.n || block.exact > block.n || block.tokens > block.n ||
      block.tokens < 1)
    refuse_sz(payload, block.counts_at(), "begins counts that exceed the number of elements");
}

}  // namespace

void refuse_sz(std::span<const std::byte> payload, std::size_t byte, const std::string& reason) {
  refuse_payload(kSzName, payload.size(), "byte " + std::to_string(byte) + " " + reason);
}

int sz_longest_code(std::size_t count) {
  int longest = 0;
  for (std::size_t a = 1, b = 2; b <= count && longest < kHuffmanLong; ++longest)
    b = std::exchange(a, b) + b;
  return std::max(longest, 1);
}

void write_sz_head(const SzBlock& block, const TensorView& tensor, std::span<std::byte> payload) {
  const int form =
      block.predictor | (block.has_exact ? kExactBit : 0) | (block.zero_runs ? kRunsBit : 0);
  store_field(payload, 0, block.n);
  store_field(payload, 4, block.error_bound);
  store_field(payload, 8, static_cast<std::uint8_t>(form));
  store_field(payload, 9, static_cast<std::uint8_t>(block.dimensions));
  store_field(payload, block.dims_at(), block.n);
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    store_field(payload, block.dims_at() + 4 * i, static_cast<std::uint32_t>(tensor.shape[i]));
  if (block.raw()) return;
  store_field(payload, block.body_at(), static_cast<std::uint16_t>(block.radius));
  store_field(payload, block.body_at() + 2, static_cast<std::uint16_t>(block.symbols));
  std::size_t at = block.counts_at();
  const auto put = [&](std::uint32_t value) {
    store_field(payload, std::exchange(at, at + 4), value);
  };
  put(block.bits);
  put(block.outliers);
  if (block.zero_runs) put(block.tokens), put(block.run_bits);
  if (block.has_exact) put(block.exact);
}

void write_sz_table(const SzBlock& block, std::span<const std::uint8_t> lengths,
                    std::span<std::byte> payload) {
  std::size_t at = block.table_at();
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] == kHuffmanAbsent) continue;
    const int symbol = static_cast<int>(s) - static_cast<int>(block.radius);
    store_field(payload, at, static_cast<std::int16_t>(symbol));
    store_field(payload, at + 2, lengths[s]);
    at += 3;
  }
  GRADWIRE_ASSERT(at == block.counts_at());
}

SzBlock read_sz_head(std::span<const std::byte> payload, std::size_t n) {
  SzBlock block;
  require_bytes(payload, block.body_at(), "its head does");
  block.n = load_count(payload, 0);
  block.error_bound = load_field<float>(payload, 4);
  if (block.n != n)
    refuse_sz(
        payload, 0,
        "begins a count of " + std::to_string(block.n) + " for " + std::to_string(n) + " elements");
  read_form(block, payload);
  read_dims(block, payload);
  if (!std::isfinite(block.error_bound) || block.error_bound < 0 ||
      (!block.raw() && block.error_bound == 0))
    refuse_sz(payload, 4, "begins an error bound that is not finite and positive");
  if (!block.raw()) read_counts(block, payload);
  require_size(kSzName, payload, block.size());
  return block;
}

void read_sz_table(const SzBlock& block, std::span<const std::byte> payload,
                   std::span<std::uint8_t> lengths) {
  std::fill(lengths.begin(), lengths.end(), kHuffmanAbsent);
  const int radius = static_cast<int>(block.radius), longest = sz_longest_code(block.tokens);
  int last = -radius - 1;
  for (std::size_t i = 0; i < block.symbols; ++i) {
    const std::size_t at = block.table_at() + 3 * i;
    const int symbol = load_field<std::int16_t>(payload, at);
    const auto length = load_field<std::uint8_t>(payload, at + 2);
    if (symbol <= last || symbol + radius >= static_cast<int>(lengths.size()))
      refuse_sz(payload, at, "begins a symbol out of order or out of range");
    if (length > longest)
      refuse_sz(payload, at + 2, "holds a code length that so few symbols cannot have");
    lengths[static_cast<std::size_t>(symbol + radius)] = length;
    last = symbol;
  }
  if (!huffman_is_complete(lengths))
    refuse_sz(payload, block.table_at(), "begins code lengths that make no complete code");
}

}  // namespace gradwire::compressors
