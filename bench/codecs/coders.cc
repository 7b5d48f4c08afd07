#include "bench/codecs/coders.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/philox.h"
#include "bench/rows/timing.h"
#include "compressors/coding/elias.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/coding/golomb_walk.h"
#include "compressors/coding/huffman.h"

namespace gradwire::bench {
namespace {

using namespace compressors;

constexpr double kLasting = 0.05;  // s a coder
constexpr RandomStream kStream = {
    .seed = 1, .step = 0, .worker = 0, .tensor = kFirstReservedTensor + 0x200};

/// Encoder and decoder of one coder, in turns.
void measure(const char* coder, std::size_t symbols, int repetitions, std::function<void()> encode,
             std::function<void()> decode, std::vector<CoderPoint>& points) {
  Rounds rounds;
  rounds.add(std::move(encode));
  rounds.add(std::move(decode));
  rounds.run(repetitions, kLasting);
  const char* const names[] = {".encode", ".decode"};
  for (std::size_t i = 0; i < 2; ++i)
    points.push_back(
        {coder + std::string(names[i]), 1e-6 * static_cast<double>(symbols) / rounds.seconds(i)});
}

/// One index in a hundred with a sign, as sparse ternary compression writes them.
void measure_golomb(int repetitions, std::vector<CoderPoint>& points) {
  constexpr std::size_t n = 1 << 20;
  std::vector<GolombEntry> entries;
  for (std::uint32_t e = 0; e < n; ++e)
    if (uniform(kStream, e) < 0.01f) entries.push_back({e, e / 7 & 1});
  const GolombRule rule{golomb_parameter(n, entries.size()), 1};
  std::vector<std::byte> bytes(golomb_max_bits(n, entries.size(), rule) / 8 + 8);
  std::vector<GolombEntry> decoded(entries.size());
  std::size_t written = 0;
  // Bytes written might change a vector's members, for all that the compiler knows.
  const GolombEntry* const from = entries.data();
  GolombEntry* const to = decoded.data();
  const auto encode = [&] {
    BitWriter out(bytes);
    golomb_write(out, rule, entries.size(), [from](std::size_t i) { return from[i]; });
    written = out.finish();
  };
  encode();
  const auto decode = [&] {
    golomb_walk(BitReader({bytes.data(), written}), rule, entries.size(), n,
                [to](std::size_t i, std::uint32_t index, std::uint32_t sign) {
                  to[i] = {index, sign};
                });
  };
  measure("golomb_rice", entries.size(), repetitions, encode, decode, points);
}

/// Numbers k >= 1, each half as frequent as the one before it, as small levels are.
void measure_elias(int repetitions, std::vector<CoderPoint>& points) {
  std::vector<std::uint32_t> numbers(1 << 14), decoded(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto u = static_cast<std::uint32_t>(uniform(kStream, i) * 0x1p24f);
    numbers[i] = static_cast<std::uint32_t>(std::countl_zero(u << 8 | 0xFFu)) + 1;
  }
  std::vector<std::byte> bytes(numbers.size() * kLongestElias / 8 + 16);
  std::size_t written = 0;
  const auto encode = [&] {
    BitWriter out(bytes);
    for (const std::uint32_t number : numbers) {
      const EliasCode code = elias_code(number);
      out.put(code.bits, code.width);
    }
    written = out.finish();
  };
  encode();
  const auto decode = [&] {
    BitReader in({bytes.data(), written});
    for (std::uint32_t& number : decoded) {
      in.refill();
      number = static_cast<std::uint32_t>(take_elias(in));
    }
  };
  measure("elias", numbers.size(), repetitions, encode, decode, points);
}

/// Quantised residuals around the middle of 1,024 symbols, standard deviation 3: 3.6 bits a symbol.
std::vector<std::uint16_t> residuals(std::size_t count) {
  std::vector<std::uint16_t> symbols(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - double{uniform(kStream, 2 * i)}));
    const double normal =
        radius * std::cos(2.0 * std::numbers::pi * double{uniform(kStream, 2 * i + 1)});
    symbols[i] = static_cast<std::uint16_t>(std::lround(512.0 + 3.0 * normal));
  }
  return symbols;
}

void measure_huffman(int repetitions, std::vector<CoderPoint>& points) {
  constexpr std::size_t kAlphabet = 1024;
  const std::vector<std::uint16_t> symbols = residuals(1 << 14);
  std::vector<std::uint32_t> counts(kAlphabet);
  for (const std::uint16_t symbol : symbols) ++counts[symbol];
  std::vector<std::uint8_t> lengths(kAlphabet);
  std::vector<std::uint64_t> scratch(huffman_scratch_size(kAlphabet) / 8 + 1);
  const int longest = huffman_lengths(counts, lengths, std::as_writable_bytes(std::span(scratch)));
  std::vector<HuffmanCode> codes(kAlphabet);
  huffman_codes(lengths, codes);
  std::vector<std::byte> bytes(4 * symbols.size());
  std::vector<std::uint64_t> table(HuffmanDecoder::table_size(longest) / 8);
  std::vector<std::uint16_t> decoded(symbols.size() + HuffmanDecoder::kSlack);
  HuffmanDecoder decoder;
  decoder.build(lengths, std::as_writable_bytes(std::span(table)));
  std::size_t written = 0;
  const auto encode = [&] {
    BitWriter out(bytes);
    huffman_encode(symbols, codes, longest, out);
    written = out.finish();
  };
  encode();
  const auto decode = [&] {
    BitReader in({bytes.data(), written});
    decoder.decode(in, symbols.size(), decoded.data());
  };
  measure("huffman", symbols.size(), repetitions, encode, decode, points);
}

}  // namespace

std::vector<CoderPoint> bench_coders(int repetitions) {
  std::vector<CoderPoint> points;
  measure_golomb(repetitions, points);
  measure_huffman(repetitions, points);
  measure_elias(repetitions, points);
  return points;
}

}  // namespace gradwire::bench
