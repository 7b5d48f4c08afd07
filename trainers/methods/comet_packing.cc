#include "trainers/methods/comet_packing.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

namespace gradwire::methods {
namespace {

/// Elements of a block, about: what it is coded from stays in a core's cache, and what is said once
/// a block (a table of codes) weighs little.
constexpr std::int64_t kBlock = std::int64_t{1} << 18;
constexpr std::size_t kLengthBytes = 4;

/// What calls of one thread share.
struct Workspace {
  std::vector<std::uint64_t> words;  ///< codecs' scratch is aligned to 8
  std::vector<std::byte> blocks;

  std::span<std::byte> scratch(std::size_t bytes) {
    if (8 * words.size() < bytes) words.resize(bytes / 8 + 1);
    return std::as_writable_bytes(std::span(words));
  }
};

Workspace& workspace() {
  thread_local Workspace own;
  return own;
}

/// The elements of a tensor's blocks, but the last one.
std::int64_t block_elements(std::int64_t columns) {
  return std::max<std::int64_t>(1, kBlock / columns) * columns;
}

using Shape = std::array<std::int64_t, 2>;

Shape shape_of(std::size_t elements, std::int64_t columns) {
  return {static_cast<std::int64_t>(elements) / columns, columns};
}

/// A byte's bits as 1 or 0.
using Eight = std::array<float, 8>;

std::array<Eight, 256> all_eights() {
  std::array<Eight, 256> all{};
  for (unsigned byte = 0; byte < all.size(); ++byte)
    for (unsigned i = 0; i < 8; ++i) all[byte][i] = static_cast<float>(byte >> i & 1);
  return all;
}

}  // namespace

void pack_passed(std::span<const float> values, std::span<std::byte> bits) {
  GRADWIRE_ASSERT(bits.size() == (values.size() + 7) / 8);
  const std::size_t whole = values.size() / 8;
  for (std::size_t b = 0; b < whole; ++b) {
    const float* const v = values.data() + 8 * b;
    unsigned byte = 0;
    for (unsigned i = 0; i < 8; ++i) byte |= static_cast<unsigned>(!(v[i] <= 0)) << i;
    bits[b] = static_cast<std::byte>(byte);
  }
  if (whole == bits.size()) return;
  unsigned byte = 0;
  for (std::size_t e = 8 * whole; e < values.size(); ++e)
    byte |= static_cast<unsigned>(!(values[e] <= 0)) << (e % 8);
  bits[whole] = static_cast<std::byte>(byte);
}

void unpack_passed(std::span<const std::byte> bits, std::span<float> values) {
  GRADWIRE_ASSERT(bits.size() == (values.size() + 7) / 8);
  static const std::array<Eight, 256> kEights = all_eights();
  const std::size_t whole = values.size() / 8;
  for (std::size_t b = 0; b < whole; ++b)
    std::memcpy(values.data() + 8 * b, &kEights[static_cast<std::size_t>(bits[b])], sizeof(Eight));
  for (std::size_t e = 8 * whole; e < values.size(); ++e)
    values[e] = static_cast<float>(static_cast<unsigned>(bits[whole]) >> (e % 8) & 1);
}

void pack_places(Pooling pooling, std::span<const std::int64_t> indices,
                 std::span<std::byte> bits) {
  GRADWIRE_ASSERT(bits.size() == (indices.size() + 3) / 4);
  std::ranges::fill(bits, std::byte{0});
  std::size_t e = 0;
  while (e < indices.size())
    for (std::int64_t row = 0; row < pooling.rows / 2; ++row)
      for (std::int64_t column = 0; column < pooling.columns / 2; ++column, ++e) {
        std::int64_t place = indices[e] - 2 * (row * pooling.columns + column);
        if (place >= pooling.columns) place += 2 - pooling.columns;
        GRADWIRE_ASSERT(place >= 0 && place < 4);
        bits[e / 4] |= static_cast<std::byte>(place << (2 * (e % 4)));
      }
}

void unpack_places(Pooling pooling, std::span<const std::byte> bits,
                   std::span<std::int64_t> indices) {
  GRADWIRE_ASSERT(bits.size() == (indices.size() + 3) / 4);
  std::size_t e = 0;
  while (e < indices.size())
    for (std::int64_t row = 0; row < pooling.rows / 2; ++row)
      for (std::int64_t column = 0; column < pooling.columns / 2; ++column, ++e) {
        const unsigned place = static_cast<unsigned>(bits[e / 4]) >> (2 * (e % 4));
        indices[e] =
            2 * (row * pooling.columns + column) + (place & 1) + (place & 2 ? pooling.columns : 0);
      }
}

std::span<const std::byte> pack_blocks(const compressors::Codec& codec,
                                       std::span<const float> values, std::int64_t columns) {
  std::vector<std::byte>& blocks = workspace().blocks;
  std::size_t used = 0;
  const auto most = static_cast<std::size_t>(block_elements(columns));
  for (std::size_t begin = 0; begin < values.size(); begin += most) {
    const std::span<const float> part =
        values.subspan(begin, std::min(most, values.size() - begin));
    const Shape shape = shape_of(part.size(), columns);
    const compressors::TensorView view{"activations", shape, part};
    const std::size_t room = used + kLengthBytes + codec.max_encoded_size(view);
    if (blocks.size() < room) blocks.resize(room);
    compressors::EncodeJob job{.tensor = view,
                               .payload = std::span(blocks).subspan(used + kLengthBytes)};
    const auto length = static_cast<std::uint32_t>(
        codec.encode(job, workspace().scratch(codec.scratch_size(view))));
    std::memcpy(blocks.data() + used, &length, kLengthBytes);
    used += kLengthBytes + length;
  }
  return std::span(blocks).first(used);
}

void unpack_blocks(const compressors::Codec& codec, std::span<const std::byte> blocks,
                   std::int64_t columns, std::span<float> values) {
  const auto most = static_cast<std::size_t>(block_elements(columns));
  for (std::size_t begin = 0; begin < values.size(); begin += most) {
    const std::span<float> part = values.subspan(begin, std::min(most, values.size() - begin));
    const Shape shape = shape_of(part.size(), columns);
    std::uint32_t length = 0;
    GRADWIRE_ASSERT(blocks.size() >= kLengthBytes);
    std::memcpy(&length, blocks.data(), kLengthBytes);
    const compressors::DecodeJob job{
        .payload = blocks.subspan(kLengthBytes, length), .values = part, .shape = shape};
    codec.decode(job, workspace().scratch(codec.scratch_size(job.spec())));
    blocks = blocks.subspan(kLengthBytes + length);
  }
}

}  // namespace gradwire::methods
