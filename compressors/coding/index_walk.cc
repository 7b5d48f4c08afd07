#include "compressors/coding/index_walk.h"

#include <string>

#include "compressors/payload.h"

namespace gradwire::compressors {

std::size_t decode_indices(IndexFormat format, const IndexSection& section,
                           std::span<std::uint32_t> indices) {
  GRADWIRE_ASSERT(indices.size() >= section.k);
  return walk_indices(format, section,
                      [&](std::size_t i, std::uint32_t index) { indices[i] = index; });
}

namespace index_detail {

void refuse_short(const IndexSection& section, std::size_t i) {
  refuse_payload(section.codec, section.payload.size(),
                 "it ends within index " + std::to_string(i) + " of " + std::to_string(section.k));
}

void refuse_index(const IndexSection& section, std::uint64_t bit, const char* why) {
  refuse_payload(section.codec, section.payload.size(),
                 "byte " + std::to_string(section.offset + bit / 8) + " begins " + why);
}

void refuse_bits(const IndexSection& section, std::uint64_t bits) {
  refuse_payload(
      section.codec, section.payload.size(),
      "byte " + std::to_string(section.offset) + " begins a bitmap of " +
          (bits > section.k ? "more than " + std::to_string(section.k) : std::to_string(bits)) +
          " bits where " + std::to_string(section.k) + " are expected");
}

int stored_parameter(const IndexSection& section) {
  if (section.bytes().empty()) refuse_short(section, 0);
  const int b = std::to_integer<int>(section.bytes()[0]);
  if (b > kLargestGolombParameter)
    refuse_payload(section.codec, section.payload.size(),
                   "byte " + std::to_string(section.offset) + " is a Golomb parameter above 31");
  return b;
}

}  // namespace index_detail
}  // namespace gradwire::compressors
