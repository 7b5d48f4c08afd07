#include "compressors/coding/huffman.h"

#include <algorithm>

#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr int kLengthBits = 8;  // of a HuffmanCode

std::uint64_t bits_of_code(HuffmanCode code) {
  return code >> kLengthBits;
}
int length_of_code(HuffmanCode code) {
  return static_cast<int>(code & 0xFF);
}

/// first[l] = the first code of length l, for lengths 1 to 31.
void first_codes(std::span<const std::uint8_t> lengths, std::uint32_t (&first)[33]) {
  std::uint32_t of_length[33] = {};
  for (const std::uint8_t length : lengths)
    if (length != kHuffmanAbsent) ++of_length[std::min<std::uint8_t>(length, 32)];
  std::uint32_t code = 0;
  for (std::size_t l = 1; l < 33; ++l) {
    code = (code + (l == 1 ? 0 : of_length[l - 1])) << 1;
    first[l] = code;
  }
}

/// Two codes as one: the chain from symbol to symbol gets half as long.
struct TwoCodes {
  TwoCodes(HuffmanCode a, HuffmanCode b)
      : bits(bits_of_code(a) << length_of_code(b) | bits_of_code(b)),
        length(length_of_code(a) + length_of_code(b)) {}
  std::uint64_t bits;
  int length;
};

}  // namespace

void huffman_codes(std::span<const std::uint8_t> lengths, std::span<HuffmanCode> codes) {
  GRADWIRE_ASSERT(lengths.size() == codes.size());
  std::uint32_t next[33];
  first_codes(lengths, next);
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const std::uint8_t length = lengths[s];
    const bool has_bits = length != kHuffmanAbsent && length != 0;
    codes[s] = has_bits ? next[length]++ << kLengthBits | length : 0;
  }
}

void huffman_encode(std::span<const std::uint16_t> symbols, std::span<const HuffmanCode> codes,
                    int longest, BitWriter& out) {
  GRADWIRE_ASSERT(longest <= kHuffmanLong);
  BitWriter writer = out;
  const HuffmanCode* code = codes.data();
  const std::uint16_t* symbol = symbols.data();
  std::size_t i = 0;
  if (longest <= BitWriter::kLargest / 4) {
    for (; i + 4 <= symbols.size(); i += 4) {
      const TwoCodes a(code[symbol[i]], code[symbol[i + 1]]);
      const TwoCodes b(code[symbol[i + 2]], code[symbol[i + 3]]);
      writer.append(a.bits << b.length | b.bits, a.length + b.length);
      writer.flush();
    }
  }
  for (; i + 2 <= symbols.size(); i += 2) {
    const TwoCodes a(code[symbol[i]], code[symbol[i + 1]]);
    writer.put(a.bits, a.length);
  }
  for (; i < symbols.size(); ++i)
    writer.put(bits_of_code(code[symbol[i]]), length_of_code(code[symbol[i]]));
  out = writer;
}

bool huffman_is_complete(std::span<const std::uint8_t> lengths) {
  std::uint64_t kraft = 0;  // in units of 2^-32
  std::size_t present = 0, empty = 0;
  for (const std::uint8_t length : lengths) {
    if (length == kHuffmanAbsent) continue;
    ++present;
    if (length == 0) ++empty;
    if (length > 32) return false;
    kraft += std::uint64_t{1} << (32 - length);
  }
  if (empty > 0) return present == 1;
  return present > 1 && kraft == std::uint64_t{1} << 32;
}

void HuffmanDecoder::build(std::span<const std::uint8_t> lengths, std::span<std::byte> table) {
  longest_ = 1;
  for (const std::uint8_t length : lengths)
    if (length != kHuffmanAbsent) longest_ = std::max(longest_, int{length});
  GRADWIRE_ASSERT(longest_ <= kHuffmanLong && lengths.size() <= kHuffmanAlphabet);
  table_ = view_as<Entry>(table, std::size_t{1} << longest_);
  fill_single(lengths);
  // An entry keeps its first symbol as others are joined to it, so this works in place.
  for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = joined(i);
}

void HuffmanDecoder::fill_single(std::span<const std::uint8_t> lengths) {
  std::uint32_t next[33];
  first_codes(lengths, next);
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const int length = lengths[s];
    if (length == kHuffmanAbsent) continue;
    const Entry entry = Entry{s} << kSymbolsAt | static_cast<Entry>(length) << kFirstAt |
                        Entry{1} << kCountAt | static_cast<Entry>(length);
    const std::size_t run = std::size_t{1} << (longest_ - length);
    const std::size_t first = length == 0 ? 0 : next[length]++ * run;
    GRADWIRE_ASSERT(first + run <= table_.size());
    std::fill_n(table_.begin() + static_cast<std::ptrdiff_t>(first), run, entry);
  }
}

HuffmanDecoder::Entry HuffmanDecoder::joined(std::size_t index) const {
  Entry symbols = 0;
  int total = 0, count = 0;
  std::size_t rest = index;
  for (; count < 3; ++count) {
    const Entry next = table_[rest];
    if (total + first_of(next) > longest_) break;
    symbols |= symbol_of(next) << (kSymbolsAt + 16 * count);
    total += first_of(next);
    rest = index << total & (table_.size() - 1);
  }
  return symbols | static_cast<Entry>(first_of(table_[index])) << kFirstAt |
         static_cast<Entry>(count) << kCountAt | static_cast<Entry>(total);
}

// Returns how many symbols were decoded: as many as leave no lookup that could go too far.
template <int kLookups>
std::size_t HuffmanDecoder::decode_fast(BitReader& in, std::size_t count,
                                        std::uint16_t* symbols) const {
  BitReader reader = in;
  const Entry* table = table_.data();
  const int shift = 64 - longest_;
  std::size_t done = 0;
  while (done + 3 * kLookups <= count) {
    reader.refill();
    for (int i = 0; i < kLookups; ++i) {
      const Entry entry = table[reader.window() >> shift];
      reader.skip(total_of(entry));
      const Entry found = entry >> kSymbolsAt;
      std::memcpy(symbols + done, &found, 8);
      done += count_of(entry);
    }
  }
  in = reader;
  return done;
}

void HuffmanDecoder::decode(BitReader& in, std::size_t count, std::uint16_t* symbols) const {
  std::size_t done = longest_ <= BitReader::kLargest / 4 ? decode_fast<4>(in, count, symbols)
                                                         : decode_fast<3>(in, count, symbols);
  for (; done < count; ++done) {
    in.refill();
    const Entry entry = table_[in.window() >> (64 - longest_)];
    in.skip(first_of(entry));
    symbols[done] = static_cast<std::uint16_t>(symbol_of(entry));
  }
}

}  // namespace gradwire::compressors
