#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "compressors/codec.h"

/// Owns the buffers of one encode or decode call, each exactly as large as the contract asks for.
namespace gradwire::compressors::testing {

struct CallOptions {
  float shared_scale = -1.0f;
  RandomStream stream = {.seed = 7, .step = 1, .worker = 2, .tensor = 3};
  std::uint64_t first_element = 0;
  std::vector<float> injected = {};
  std::span<std::byte> state = {};
};

inline TensorView view_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape,
                          std::string_view name = "layer") {
  return {.name = name, .shape = shape, .data = values};
}

inline std::vector<std::byte> encode(const Codec& codec, const std::vector<float>& values,
                                     const CallOptions& options = {}) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.size())};
  std::vector<std::byte> payload(codec.max_encoded_size(values.size()), std::byte{0xAA});
  std::vector<std::byte> scratch(codec.scratch_size(values.size()));
  EncodeJob job{.tensor = view_of(values, shape),
                .side = {.shared_scale = options.shared_scale, .mask = {}},
                .draws = {options.stream, options.first_element, options.injected},
                .state = options.state,
                .payload = payload};
  payload.resize(codec.encode(job, scratch));
  return payload;
}

inline std::vector<float> decode(const Codec& codec, const std::vector<std::byte>& payload,
                                 std::size_t n) {
  std::vector<float> values(n, std::numeric_limits<float>::quiet_NaN());
  std::vector<std::byte> scratch(codec.scratch_size(n));
  codec.decode({.payload = payload, .side = {}, .values = values}, scratch);
  return values;
}

inline void decode_add(const Codec& codec, const std::vector<std::byte>& payload, float factor,
                       std::vector<float>& values) {
  std::vector<std::byte> scratch(codec.scratch_size(values.size()));
  codec.decode_accumulate({.payload = payload, .side = {}, .values = values}, factor, scratch);
}

inline std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const char* digits = "0123456789abcdef";
    text += digits[std::to_integer<int>(byte >> 4)];
    text += digits[std::to_integer<int>(byte & std::byte{15})];
  }
  return text;
}

inline std::vector<std::byte> from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
  return bytes;
}

/// Values of many magnitudes and both signs, from the same generator as the codecs' draws.
inline std::vector<float> random_values(std::size_t n, std::uint32_t step = 0) {
  std::vector<float> values(n);
  const RandomStream stream{.seed = 99, .step = step, .worker = 0, .tensor = kFirstReservedTensor};
  for (std::size_t e = 0; e < n; ++e) {
    const float u = uniform(stream, 2 * e) - 0.5f, v = uniform(stream, 2 * e + 1);
    values[e] = u * v * v * v;
  }
  return values;
}

/// Codecs whose levels are the same for every tensor: they keep neither scale nor zero.
inline bool has_fixed_levels(const Codec& codec) {
  return codec.name().starts_with("binary") || codec.name().starts_with("kbit");
}

/// Every codec of the catalogue with its default options, and each with error feedback.
inline std::vector<CodecPtr> all_codecs(bool with_feedback) {
  std::vector<CodecPtr> codecs;
  for (const CodecInfo& info : codec_catalogue()) {
    codecs.push_back(make_codec(info.name));
    if (with_feedback) codecs.push_back(with_error_feedback(codecs.back()));
  }
  return codecs;
}

}  // namespace gradwire::compressors::testing
