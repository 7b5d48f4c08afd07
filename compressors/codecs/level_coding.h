#pragma once
#include <algorithm>
#include <numeric>
#include <string>

#include "compressors/codec.h"
#include "compressors/kernels/levels.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

/// What the codecs with packed levels share: chunks, options, fields of explanations.
namespace gradwire::compressors {

constexpr std::size_t buckets(std::size_t n, std::size_t bucket) {
  return n / bucket + (n % bucket != 0 ? 1 : 0);
}

/// Elements [begin, begin + count), count <= kLevelChunk; begin is a multiple of 8, so that the
/// codes begin on a byte at every width.
struct LevelChunk {
  std::size_t begin, count;

  /// body(first, length) for the part of each bucket inside.
  template <class Body>
  void for_buckets(std::size_t bucket, Body&& body) const {
    const std::size_t end = begin + count;
    for (std::size_t at = begin; at < end;) {
      const std::size_t start = at / bucket * bucket;
      const std::size_t stop = std::min(end - start, bucket) + start;
      body(at, stop - at);
      at = stop;
    }
  }
};

/// The longest chunk of whole buckets that begins on a byte at every width; 0 if there is none.
constexpr std::size_t whole_bucket_chunk(std::size_t bucket) {
  if (bucket > kernels::kLevelChunk) return 0;
  return kernels::kLevelChunk / std::lcm(bucket, std::size_t{8}) * std::lcm(bucket, std::size_t{8});
}

/// body(chunk) for chunk after chunk of `length` elements, on the team's threads.
template <class Body>
void for_chunks(ThreadTeam* team, std::size_t n, std::size_t length, Body&& body) {
  for_ranges(team, n, length, kRangeElements, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += length) body(LevelChunk{begin, std::min(length, end - begin)});
  });
}

/// Where the codes of a chunk go: to the payload, or first into bytes where buckets may begin
/// within one.
class ChunkCodes {
 public:
  ChunkCodes(const kernels::CodeOutput& all, const LevelChunk& chunk, std::size_t bucket,
             LevelRounding rounding)
      : all_(all), chunk_(chunk), direct_(bucket % 8 == 0 && rounding != LevelRounding::kDrawn) {}

  /// The codes of a bucket, or a part of it, that begins at `element` of the tensor.
  kernels::CodeOutput at(std::size_t element) {
    return direct_ ? all_.from(element) : kernels::byte_codes(codes_ + (element - chunk_.begin));
  }
  void finish() const {
    if (!direct_)
      kernels::pack_codes(codes_, chunk_.count, all_.bits, all_.order,
                          all_.from(chunk_.begin).bytes);
  }

 private:
  kernels::CodeOutput all_;
  LevelChunk chunk_;
  bool direct_;
  std::uint8_t codes_[kernels::kLevelChunk];
};

/// body(begin, count, codes) for part after part of each bucket, on the team's threads; `codes`
/// begin with that of element `begin`. Packed codes go to the decoder as they are, unless a bucket
/// may begin within a byte.
template <class Body>
void for_coded_buckets(ThreadTeam* team, std::size_t n, std::size_t bucket,
                       const kernels::PackedCodes& all, Body&& body) {
  if (n == 0) return;
  const bool on_bytes = bucket % 8 == 0;
  const std::size_t whole = whole_bucket_chunk(bucket);
  const std::size_t length = whole == 0 ? kernels::kLevelChunk : whole;
  for_chunks(team, n, length, [&](const LevelChunk& chunk) {
    std::uint8_t unpacked[kernels::kLevelChunk];
    if (!on_bytes)
      kernels::unpack_codes(all.from(chunk.begin).bytes, chunk.count, all.bits, all.order,
                            unpacked);
    chunk.for_buckets(bucket, [&](std::size_t begin, std::size_t count) {
      const auto* bytes = reinterpret_cast<const std::byte*>(unpacked) + (begin - chunk.begin);
      kernels::PackedCodes codes = all.from(begin);
      codes.beyond += all.bytes_of(n - begin) - all.bytes_of(count);
      body(begin, count, on_bytes ? codes : kernels::PackedCodes{bytes, 8});
    });
  });
}

OptionSpec bits_option(std::string default_text, int smallest, int largest, std::string help);
OptionSpec bucket_option(std::string default_text, std::string help);
OptionSpec rounding_option(std::string help);

}  // namespace gradwire::compressors
