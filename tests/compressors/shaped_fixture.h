#pragma once
#include "base/thread_team.h"
#include "codec_fixture.h"

/// Calls with a shape, a team and draws that begin at element 5.
namespace gradwire::compressors::testing {

inline Draws shaped_draws() {
  return {CallOptions{}.stream, 5, {}};
}

inline std::vector<std::byte> encode_shaped(const Codec& codec, const std::vector<float>& values,
                                            const std::vector<std::int64_t>& shape,
                                            ThreadTeam* team) {
  const TensorSpec spec(values.size(), "w", shape);
  std::vector<std::byte> payload(codec.max_encoded_size(spec), std::byte{0xAA});
  std::vector<std::uint64_t> scratch(codec.scratch_size(spec) / 8 + 1);
  EncodeJob job{.tensor = view_of(values, shape, "w"),
                .draws = shaped_draws(),
                .payload = payload,
                .team = team};
  payload.resize(codec.encode(job, std::as_writable_bytes(std::span(scratch))));
  return payload;
}

/// With a factor: 1 + factor * decoded.
inline std::vector<float> decode_shaped(const Codec& codec, const std::vector<std::byte>& payload,
                                        const std::vector<std::int64_t>& shape, ThreadTeam* team,
                                        float factor = 0.0f) {
  std::size_t n = 1;
  for (const std::int64_t size : shape) n *= static_cast<std::size_t>(size);
  std::vector<float> values(n, 1.0f);
  const DecodeJob job{.payload = payload, .values = values, .shape = shape, .team = team};
  if (factor == 0)
    codec.decode(job, {});
  else
    codec.decode_accumulate(job, factor, {});
  return values;
}

}  // namespace gradwire::compressors::testing
